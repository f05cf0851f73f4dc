//! Rounds, end to end.

use roundtable_core::agent::Agent;
use roundtable_core::event::{Body, RoundEvent};
use roundtable_core::prompt::OutputSchema;
use roundtable_core::settings::Settings;
use roundtable_models::scripted::{Reply, Script};
use roundtable_testing::{Kit, RecordingModel, agent, events_until, opening, rounds, say};

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
    let kinds: Vec<&str> = events.iter().map(|event| event.body.kind()).collect();
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

#[tokio::test(start_paused = true)]
async fn a_model_is_told_what_the_answer_has_to_look_like_and_what_is_shared() {
    let kit = Kit::new(Script::default());
    let model = RecordingModel::new(kit.model.clone());
    let kit = kit.model("recorded", model.clone());
    let engine = kit.start().await;
    let form = OutputSchema::new("verdict", serde_json::json!({}));
    let ann = Agent { model: "recorded".to_owned(), output: Some(form.clone()), ..agent("Ann") };
    let session = engine.open(opening(vec![ann], Settings::default())).await.unwrap();
    for number in 1..=2 {
        session.command(say(session.id(), &format!("m{number}"), "Go."), None).await.unwrap();
        rounds(&session, number).await;
    }
    let asked: Vec<_> = model.requests().into_iter().map(|r| (r.output, r.stable)).collect();
    assert_eq!(asked, [(Some(form.clone()), 0), (Some(form), 1)]);
    engine.shutdown().await;
}
