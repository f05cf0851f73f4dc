//! The scripted model: pieces, gates, delays, failures, and the count of what it was asked.

use std::time::Duration;

use futures_util::StreamExt as _;
use roundtable_core::budget::Usage;
use roundtable_core::event::StopReason;
use roundtable_core::message::{Message, ToolAnswer};
use roundtable_models::scripted::{Call, Fails, Reply, Script, ScriptedModel};
use roundtable_ports::{Chunk, Model, ModelError, ModelRequest};
use serde_json::json;

use crate::asked::request;

fn model(reply: Reply) -> ScriptedModel {
    ScriptedModel::new(Script::default().voice("ann", [reply]))
}

async fn chunks(model: &ScriptedModel, request: ModelRequest) -> Vec<Chunk> {
    let stream = model.stream(&request).await.unwrap();
    stream.map(Result::unwrap).collect().await
}

/// The texts and calls of an answer, and its end.
async fn answer(reply: Reply) -> (Vec<String>, Vec<String>, StopReason) {
    let mut chunks = chunks(&model(reply), request("ann", 1, 1)).await;
    let Some(Chunk::Done(record)) = chunks.pop() else { panic!("an answer has an end") };
    assert_eq!(record.model, "scripted");
    let (mut texts, mut calls) = (Vec::new(), Vec::new());
    for chunk in chunks {
        match chunk {
            Chunk::Text(text) => texts.push(text),
            Chunk::ToolCall { name, arguments, .. } => calls.push(format!("{name} {arguments}")),
            other => panic!("a scripted answer has one end and only words and calls: {other:?}"),
        }
    }
    (texts, calls, record.stop)
}

#[tokio::test(start_paused = true)]
async fn a_text_comes_whole_or_in_pieces_of_whole_letters() {
    assert_eq!(answer(Reply::text("héllo")).await.0, ["héllo"]);
    assert_eq!(answer(Reply::text("héllo").in_pieces(2, 0)).await.0, ["hé", "ll", "o"]);
    assert_eq!(answer(Reply::text("")).await, (Vec::new(), Vec::new(), StopReason::End));
}

#[tokio::test(start_paused = true)]
async fn tool_calls_follow_the_text_and_are_the_reason_to_stop() {
    let mut reply = Reply::calls([Call::new("a", json!({ "x": 1 })), Call::new("b", json!(null))]);
    reply.text = "Let me see.".to_owned();
    let (texts, calls, stop) = answer(reply).await;
    assert_eq!((texts, stop), (vec!["Let me see.".to_owned()], StopReason::ToolCalls));
    assert_eq!(calls, ["a {\"x\":1}", "b null"]);
}

#[tokio::test(start_paused = true)]
async fn input_stands_for_what_was_asked_last_in_words() {
    let model = model(Reply::text("<{input}|{input}>"));
    let mut asked = request("ann", 1, 2);
    let tool = ToolAnswer {
        id: roundtable_core::id::ToolCallId::new("one").unwrap(),
        content: "a result".to_owned(),
        value: None,
        success: true,
    };
    asked.messages = vec![
        Message::user("first"),
        Message::user("second {input}"),
        Message::assistant("hm", Vec::new()),
        Message::tool_results(vec![tool]),
    ]
    .into();
    let chunks = chunks(&model, asked).await;
    // What was asked is data: it is not looked at again.
    assert_eq!(chunks[0], Chunk::Text("<second {input}|second {input}>".to_owned()));
    assert_eq!(model.received()[0].prompt, "first\nsecond {input}\nhm\na result\n");
}

#[tokio::test(start_paused = true)]
async fn a_gate_holds_a_reply_until_it_is_opened_for_those_who_wait_and_those_who_come_later() {
    let model = model(Reply::text("Through.").at_gate("go"));
    let asked = request("ann", 1, 1);
    let waits = model.stream(&asked);
    let waited = tokio::time::timeout(Duration::from_secs(3600), waits).await;
    assert!(waited.is_err(), "closed");
    assert_eq!(model.count(), 1, "it was asked, though it has not answered");
    model.gates().open("other");
    let waits = model.stream(&asked);
    assert!(tokio::time::timeout(Duration::from_secs(3600), waits).await.is_err(), "another gate");
    let (_, first) = tokio::join!(async { model.gates().open("go") }, model.stream(&asked));
    assert!(first.is_ok());
    assert_eq!(chunks(&model, request("ann", 1, 1)).await.len(), 2);
}

#[tokio::test(start_paused = true)]
async fn delays_pass_before_the_reply_and_before_each_piece() {
    #[expect(clippy::disallowed_methods, reason = "paused time is what is measured here")]
    let start = tokio::time::Instant::now();
    let model = model(Reply::text("abcd").after(1000).in_pieces(2, 100));
    chunks(&model, request("ann", 1, 1)).await;
    assert_eq!(start.elapsed(), Duration::from_millis(1200));
}

#[tokio::test(start_paused = true)]
async fn a_reply_fails_as_the_script_says() {
    let says = || "as the script says".to_owned();
    let failures = [
        (Fails::Auth, ModelError::Auth(says())),
        (Fails::RateLimited, ModelError::RateLimited { retry_after: None }),
        (Fails::Overloaded, ModelError::Overloaded(says())),
        (Fails::Refused, ModelError::Refused(says())),
        (Fails::Broken, ModelError::Broken(says())),
        (Fails::Timeout, ModelError::Timeout),
    ];
    for (fails, error) in failures {
        let model = model(Reply::fails(fails));
        assert_eq!(model.stream(&request("ann", 1, 1)).await.err(), Some(error));
        assert_eq!((model.count(), model.received()[0].usage), (1, None), "asked, and not billed");
    }
}

#[tokio::test(start_paused = true)]
async fn every_call_is_counted_and_billed_when_its_answer_is_complete() {
    let model = model(Reply::text("one two three").in_pieces(1, 10));
    let twin = model.clone();
    let mut stream = model.stream(&request("ann", 1, 1)).await.unwrap();
    stream.next().await;
    assert_eq!(twin.received()[0].usage, None, "an answer that is not complete is not billed");
    drop(stream);
    assert_eq!(twin.received()[0].usage, None, "nor one that was given up");
    let mut second = request("ann", 1, 1);
    second.attempt = 2;
    chunks(&model, second).await;
    let received = twin.received();
    assert_eq!((received.len(), twin.count()), (2, 2));
    let usage = Usage { input: 6, output: 3, ..Usage::default() };
    assert_eq!((received[1].attempt, received[1].usage), (2, Some(usage)));
    assert_eq!(received[0].key, received[1].key, "attempts share the key");
    assert_eq!(received[1].prompt, "Be brief.\nHow are you today?\n");
}

#[tokio::test(start_paused = true)]
async fn a_forgetful_model_answers_and_keeps_nothing() {
    let model = ScriptedModel::forgetful(Script::default());
    let chunks = chunks(&model, request("ann", 1, 1)).await;
    assert_eq!(chunks[0], Chunk::Text("ANN has nothing to add.".to_owned()));
    assert_eq!(model.count(), 0);
}
