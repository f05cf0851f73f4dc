//! Requirements on the context of messages that only a client can see.

use roundtable_testing::until;
use serde_json::{Value, json};

use super::{delegating, message, of_type};
use crate::kit;
use crate::socket::{connect, ends};

#[tokio::test]
async fn r001_8_a_worker_keeps_the_ids_that_it_was_started_with() {
    let running = kit::local(delegating()).await;
    let mut socket = connect(running.address).await;
    let model = &running.model;
    let asked = |count: usize| until("the models are asked", move || model.count() >= count);
    let mut frames = socket.ask_collecting(message("abc", "m1")).await;
    running.model.gates().open("decide");
    // The supervisor, the worker, and the supervisor again, which waits at its gate.
    asked(3).await;
    frames.extend(socket.ask_collecting(message("abc", "m2")).await);
    running.model.gates().open("answer");
    frames.extend(socket.until(|frame| ends(frame, "m2")).await);
    let delegations = of_type(&frames, "delegation");
    assert_eq!(delegations.len(), 2, "one worker per message");
    for delegation in delegations {
        let ids = |frame: &Value| {
            ["conversationId", "messageId", "turnId"].map(|name| frame[name].clone())
        };
        let worker = &delegation["agentTurnId"];
        let own: Vec<_> = frames.iter().filter(|frame| frame["agentTurnId"] == *worker).collect();
        assert!(own.len() >= 3, "started, spoke, ended: {own:?}");
        assert!(own.iter().all(|frame| ids(frame) == ids(delegation)), "{own:?}");
    }
    running.stop().await;
}

#[tokio::test]
async fn r001_10_nothing_guesses_a_conversation_that_a_frame_does_not_name() {
    let running = kit::local(delegating()).await;
    running.model.gates().open("decide");
    running.model.gates().open("answer");
    let mut socket = connect(running.address).await;
    socket.ask(message("abc", "m1")).await;
    for kind in ["subscribe", "unsubscribe", "stop", "messages", "rename", "delete"] {
        let refused = socket.ask(json!({ "type": kind, "title": "x" })).await;
        assert_eq!(refused["type"], "error", "{kind}: {refused}");
        assert_eq!(refused["conversationId"], Value::Null, "{kind}: {refused}");
    }
    // A message without one is the first of a conversation of its own.
    let opened = socket.ask(json!({ "type": "message", "content": "Hello" })).await;
    let named = opened["conversationId"].as_str().expect("a conversation");
    assert!(named.starts_with("ses_"), "{opened}");
    let found = running.engine.sessions(10).await.expect("a list");
    assert_eq!(found.len(), 2);
    running.stop().await;
}

#[tokio::test]
async fn r001_11_a_client_that_drops_what_is_not_of_its_conversation_loses_nothing() {
    let running = kit::local(delegating()).await;
    running.model.gates().open("decide");
    running.model.gates().open("answer");
    let mut socket = connect(running.address).await;
    let mut frames = socket.ask_collecting(message("abc", "m-a")).await;
    frames.extend(socket.ask_collecting(message("xyz", "m-b")).await);
    let mut open = vec!["m-a", "m-b"];
    open.retain(|id| !frames.iter().any(|frame| ends(frame, id)));
    while !open.is_empty() {
        let frame = socket.next().await;
        open.retain(|id| !ends(&frame, id));
        frames.push(frame);
    }
    assert!(frames.iter().all(|frame| frame["conversationId"].is_string()), "none is missing");
    for conversation in ["abc", "xyz"] {
        let kept: Vec<&Value> =
            frames.iter().filter(|frame| frame["conversationId"] == conversation).collect();
        let seqs: Vec<u64> = kept.iter().filter_map(|frame| frame["seq"].as_u64()).collect();
        assert!(seqs.is_sorted(), "{seqs:?}");
        let answer = kept.iter().find(|it| it["type"] == "message" && it["role"] == "assistant");
        let text = answer.expect("an answer")["content"].as_str().expect("text").to_owned();
        assert!(text.contains(&format!("canary-{conversation}")), "{text}");
        let stream = kept.iter().rfind(|it| it["type"] == "stream_end").expect("an end");
        let chunks = kept.iter().filter(|it| it["type"] == "stream_chunk");
        let chunks = chunks.filter(|it| it["streamId"] == stream["streamId"]);
        let streamed: String = chunks.filter_map(|it| it["chunk"].as_str()).collect();
        assert!(text.starts_with(&streamed), "chunks are a preview: {streamed}");
    }
    running.stop().await;
}
