//! Stopping, interrupting, answering requests, and conversations that are deleted.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use futures_util::{StreamExt as _, stream};
use roundtable::ports::{Chunk, Model, ModelError, ModelRequest, ModelStream};
use roundtable::prelude::*;
use roundtable_server::Settings;
use roundtable_testing::until;
use serde_json::json;

use super::{message, of_type};
use crate::kit::{self, Serving};
use crate::socket::{connect, ends};

/// A provider that says a letter and then nothing more, whatever is asked of it.
#[derive(Clone, Default)]
struct Silent(Arc<AtomicUsize>);

#[async_trait::async_trait]
impl Model for Silent {
    async fn stream(&self, _: &ModelRequest) -> Result<ModelStream, ModelError> {
        self.0.fetch_add(1, Ordering::SeqCst);
        let first = stream::iter([Ok(Chunk::Text("a".to_owned()))]);
        Ok(first.chain(stream::pending()).boxed())
    }
}

/// A server with such a provider.
async fn stuck() -> (Serving, Silent) {
    let model = Silent::default();
    let engine = Engine::builder().custom_model("scripted", model.clone()).build().await;
    (kit::serve(engine.expect("an engine"), Settings::default()).await, model)
}

#[tokio::test]
async fn stop_ends_a_round_whatever_the_provider_does_and_keeps_what_was_said() {
    let (running, _) = stuck().await;
    let mut socket = connect(running.address).await;
    let mut frames = socket.ask_collecting(message("abc", "m1")).await;
    frames.extend(socket.until(|it| it["type"] == "stream_chunk").await);
    let stopped = socket.ask_collecting(json!({ "type": "stop", "conversationId": "abc" })).await;
    frames.extend(stopped);
    // Nothing else ends this round: its model is silent for weeks.
    if !frames.iter().any(|frame| ends(frame, "m1")) {
        frames.extend(socket.until(|frame| ends(frame, "m1")).await);
    }
    let end = of_type(&frames, "stream_end")[0];
    assert_eq!((&end["finish"], &end["content"]), (&json!("stopped"), &json!("a")));
    assert_eq!(of_type(&frames, "round_ended")[0]["outcome"], "incomplete");
    let again = socket.ask(json!({ "type": "stop", "conversationId": "abc" })).await;
    assert!(again["type"] == "ack" || again["type"] == "error", "{again}");
    running.end().await;
}

#[tokio::test]
async fn on_busy_queues_refuses_or_interrupts_and_a_queued_message_can_be_changed() {
    let (running, _) = stuck().await;
    let mut socket = connect(running.address).await;
    socket.ask(message("abc", "m1")).await;
    let with = |id: &str, on_busy: &str| {
        let mut message = message("abc", id);
        message["onBusy"] = json!(on_busy);
        message
    };
    assert_eq!(socket.ask(with("m2", "queue")).await["type"], "ack");
    assert_eq!(socket.ask(with("m3", "reject")).await["reason"], "busy");
    let edit = json!({
        "type": "edit-message", "conversationId": "abc", "messageId": "m2", "content": "Two.",
    });
    let frames = socket.ask_collecting(edit).await;
    assert_eq!(frames.last().expect("an answer")["type"], "ack");
    let withdraw =
        json!({ "type": "withdraw-message", "conversationId": "abc", "messageId": "m2" });
    let mut frames = socket.ask_collecting(withdraw).await;
    if of_type(&frames, "message_dropped").is_empty() {
        frames.extend(socket.until(|it| it["type"] == "message_dropped").await);
    }
    let dropped = of_type(&frames, "message_dropped")[0];
    assert_eq!((&dropped["messageId"], &dropped["withdrawn"]), (&json!("m2"), &json!(true)));
    let mut frames = socket.ask_collecting(with("m4", "interrupt")).await;
    if !frames.iter().any(|frame| ends(frame, "m1")) {
        frames.extend(socket.until(|frame| ends(frame, "m1")).await);
    }
    assert_eq!(of_type(&frames, "round_ended")[0]["outcome"], "incomplete");
    running.end().await;
}

#[tokio::test]
async fn a_request_to_the_person_is_answered_from_another_tab_and_once() {
    let ask = Call::new("ask", json!({ "question": "Which color?" }));
    let script =
        Script::default().voice("supervisor", [Reply::calls([ask]), Reply::text("Painted.")]);
    let running = kit::local(script).await;
    let (mut one, mut two) = (connect(running.address).await, connect(running.address).await);
    one.ask(message("abc", "m1")).await;
    let asked = one.until(|it| it["type"] == "interaction_requested").await;
    let asked = asked.last().expect("a request");
    assert_eq!(
        (&asked["messageId"], &asked["request"]["query"]),
        (&json!("m1"), &json!("Which color?"))
    );
    let answer = |color: &str| {
        json!({
            "type": "interaction-response", "conversationId": "abc",
            "requestId": asked["requestId"], "result": color,
        })
    };
    let first = two.ask(answer("Red")).await;
    assert_eq!(first["type"], "ack", "{first}");
    let second = two.ask(answer("Blue")).await;
    assert!(
        second["warnings"][0]
            .as_str()
            .is_some_and(|it| it.contains("already has a different answer")),
        "{second}"
    );
    let frames = one.until(|frame| ends(frame, "m1")).await;
    let resolved = of_type(&frames, "interaction_resolved")[0];
    assert_eq!((&resolved["status"], &resolved["messageId"]), (&json!("answered"), &json!("m1")));
    assert_eq!(of_type(&frames, "tool_execution_finished")[0]["message"], "Red");
    running.stop().await;
}

#[tokio::test]
async fn a_reload_in_mid_answer_gets_the_text_so_far() {
    let (running, _) = stuck().await;
    let mut first = connect(running.address).await;
    first.ask(message("abc", "m1")).await;
    first.until(|it| it["type"] == "stream_chunk").await;
    drop(first);
    let mut reloaded = connect(running.address).await;
    let active =
        reloaded.ask(json!({ "type": "get-active-stream", "conversationId": "abc" })).await;
    assert_eq!(active["streams"][0]["content"], "a", "{active}");
    reloaded.ask(json!({ "type": "subscribe", "conversationId": "abc" })).await;
    let resumed = reloaded.next().await;
    assert_eq!((&resumed["type"], &resumed["content"]), (&json!("stream_resume"), &json!("a")));
    assert_eq!(resumed["streamId"], active["streams"][0]["streamId"]);
    assert_eq!((&resumed["messageId"], &resumed["turnId"]), (&json!("m1"), &json!("m1")));
    running.end().await;
}

#[tokio::test]
async fn f38_those_who_follow_a_conversation_that_is_deleted_are_told() {
    let (running, model) = stuck().await;
    let (mut one, mut two) = (connect(running.address).await, connect(running.address).await);
    one.ask(message("abc", "m1")).await;
    until("the model is asked", || model.0.load(Ordering::SeqCst) == 1).await;
    let deleted = two.ask(json!({ "type": "delete", "conversationId": "abc" })).await;
    assert_eq!((&deleted["type"], &deleted["deleted"]), (&json!("ack"), &json!(true)));
    let frames = one.until(|it| it["type"] == "subscription_ended").await;
    assert_eq!(frames.last().expect("an end")["reason"], "deleted");
    let gone = two.ask(json!({ "type": "subscribe", "conversationId": "abc" })).await;
    assert_eq!(gone["reason"], "not_found");
    running.end().await;
}
