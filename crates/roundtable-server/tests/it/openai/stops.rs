//! A client that disconnects stops its round.

use roundtable::core::event::{Body, IterationEvent, RoundEvent, RoundOutcome};
use roundtable::prelude::*;
use serde_json::json;

use super::{completion, say, session, with};
use crate::kit::{self, Running};

/// Waits until the round of a session was cut off, and says what was kept of its text.
pub(super) async fn stopped(session: &Session) -> String {
    let mut events = session.events(Since::Start).await.expect("a log");
    let mut kept = String::new();
    while let Some(event) = events.next().await {
        match &event.expect("an event").body {
            Body::Iteration(IterationEvent::ModelCallCancelled { partial, .. }) => {
                kept.clone_from(partial);
            }
            Body::Round(RoundEvent::RoundClosed { outcome, .. }) => {
                assert_eq!(*outcome, RoundOutcome::Incomplete);
                return kept;
            }
            _ => {}
        }
    }
    panic!("the round was not closed");
}

async fn slow() -> Running {
    let reply = Reply::text("Hello there.").in_pieces(6, 0).with_middle_gate("never");
    kit::local(Script::default().voice("supervisor", [reply])).await
}

#[tokio::test]
async fn hanging_up_in_a_stream_stops_the_round_and_keeps_what_was_streamed() {
    let running = slow().await;
    let streamed = with(say("Hi"), json!({ "stream": true }));
    let mut events = completion(&running, &streamed).stream().await;
    let first = events.next().await.expect("a chunk").data;
    let second = events.next().await.expect("a chunk").data;
    assert_eq!(second["choices"][0]["delta"]["content"], "Hello ");
    drop(events);
    assert_eq!(stopped(&session(&running, &first["id"])).await, "Hello ");
    running.stop().await;
}

#[tokio::test]
async fn hanging_up_while_waiting_for_the_whole_answer_stops_the_round() {
    let running = slow().await;
    let begun = async {
        while running.model.count() == 0 {
            tokio::task::yield_now().await;
        }
    };
    let said = completion(&running, &say("Hi")).hang_up_after(begun).await;
    assert_eq!(said, "");
    let id = running.model.received().remove(0).session;
    stopped(&running.engine.session(&id)).await;
    running.stop().await;
}

#[tokio::test]
async fn hanging_up_after_the_calls_of_tools_leaves_the_turn_waiting() {
    let call = Call::new("weather", json!({}));
    let script =
        Script::default().voice("supervisor", [Reply::calls([call]), Reply::text("Done.")]);
    let running = kit::local(script).await;
    let tool = json!({ "type": "function", "function": { "name": "weather" } });
    let request = with(say("Hi"), json!({ "tools": [tool] }));
    let answer = super::answer(&running, &request).await;
    let state = session(&running, &answer["id"]).state().await.expect("a state");
    assert!(state.round.is_some() && state.requests.len() == 1, "{state:?}");
    running.stop().await;
}
