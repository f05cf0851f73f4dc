//! Rounds, end to end.

use roundtable_core::event::{Body, RoundEvent};
use roundtable_core::settings::Settings;
use roundtable_models::scripted::{Reply, Script};
use roundtable_testing::{Kit, agent, events_until, opening, say};

#[tokio::test(start_paused = true)]
async fn a_message_opens_a_round_and_every_agent_answers_once() {
    let kit = Kit::new(Script::default().voice("ann", [Reply::text("I am Ann.")]));
    let engine = kit.start().await;
    let session =
        engine.open(opening(vec![agent("Ann"), agent("Bob")], Settings::default())).await.unwrap();
    session.command(say(session.id(), "m1", "Who are you?"), None).await.unwrap();
    let events = events_until(&session, |event| {
        matches!(event.body, Body::Round(RoundEvent::RoundClosed { .. }))
    })
    .await;
    let kinds: Vec<String> = events.iter().map(|event| event.body.kind()).collect();
    assert_eq!(
        kinds,
        [
            "session_opened",
            "session_input_accepted",
            "round_opened",
            "turn_started",
            "iteration_opened",
            "model_call_started",
            "turn_started",
            "iteration_opened",
            "model_call_started",
            "model_call_finished",
            "iteration_closed",
            "turn_ended",
            "model_call_finished",
            "iteration_closed",
            "turn_ended",
            "round_closed",
        ]
    );
    assert_eq!(kit.model.count(), 2);
    engine.shutdown().await;
    assert_eq!(engine.loaded(), 0);
}
