//! What a provider may send at its worst: a typed failure, no panic, nothing run (F29).

use futures_util::{FutureExt as _, StreamExt as _, stream};
use roundtable_core::event::{CallRecord, RoundOutcome, TurnOutcome};
use roundtable_models::scripted::Script;
use roundtable_ports::{Chunk, ModelError};
use roundtable_testing::{FnModel, FnTool, Kit};
use serde_json::{Value, json};

use crate::seen::{armed, count, one_round, replies, round_ends, turn_ends};

fn call(name: &str, arguments: Value) -> Chunk {
    Chunk::ToolCall { name: name.to_owned(), arguments, reference: None }
}

/// What a turn comes to whose model sends this, beside an agent whose model is well.
async fn turn_on(chunks: Vec<Chunk>) -> TurnOutcome {
    let model = FnModel::new(move |_| {
        let chunks = chunks.clone().into_iter().map(Ok::<_, ModelError>);
        async move { Ok(stream::iter(chunks).boxed()) }.boxed()
    });
    let act = FnTool::new("act", |_, _| panic!("it was called"));
    let mut ann = armed("Ann", [act.declare()]);
    ann.model = "wild".to_owned();
    let kit = Kit::new(Script::default()).model("wild", model).tool(act);
    let engine = kit.start().await;
    let (session, events) = one_round(&engine, vec![ann, armed("Bob", [])]).await;
    assert_eq!(count(&events, "tool_call_requested"), 0);
    assert_eq!(replies(&events), ["Bob has nothing to add."]);
    assert_eq!(round_ends(&events), [RoundOutcome::Completed]);
    assert!(session.state().await.unwrap().round.is_none());
    engine.shutdown().await;
    let ends = turn_ends(&events);
    ends.into_iter().find(|(agent, _)| agent.suffix() == "ann").unwrap().1
}

fn failed(error: &str) -> TurnOutcome {
    TurnOutcome::Failed { error: error.to_owned() }
}

#[tokio::test(start_paused = true)]
async fn f29_ten_thousand_tool_calls_in_one_reply_are_refused_unrun() {
    let mut chunks = vec![call("act", json!({})); 10_000];
    chunks.push(Chunk::Done(CallRecord::default()));
    let error = "the model requested 10000 tool calls at once; the limit is 64";
    assert_eq!(turn_on(chunks).await, failed(error));
}

#[tokio::test(start_paused = true)]
async fn f29_arguments_of_fifty_megabytes_are_refused_unrun() {
    let arguments = json!({ "text": "x".repeat(50 * 1024 * 1024) });
    let chunks = vec![call("act", arguments), Chunk::Done(CallRecord::default())];
    let error = "incomplete or malformed response: the response is larger than 1048576 bytes";
    assert_eq!(turn_on(chunks).await, failed(error));
}

#[tokio::test(start_paused = true)]
async fn f29_a_text_that_does_not_end_is_cut_off() {
    let chunks = vec![Chunk::Text("word ".repeat(1000)); 1000];
    let error = "incomplete or malformed response: the response is larger than 1048576 bytes";
    assert_eq!(turn_on(chunks).await, failed(error));
}

#[tokio::test(start_paused = true)]
async fn f29_an_empty_body_is_a_failure_and_not_an_empty_answer() {
    let error = "incomplete or malformed response: the response is incomplete";
    assert_eq!(turn_on(Vec::new()).await, failed(error));
}

#[tokio::test(start_paused = true)]
async fn f29_a_reply_that_breaks_off_after_its_text_is_never_an_answer() {
    let chunks = vec![Chunk::Text("The answer is".to_owned())];
    let error = "incomplete or malformed response: the response is incomplete";
    assert_eq!(turn_on(chunks).await, failed(error));
}
