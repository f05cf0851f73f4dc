//! Replies that are data, over a real connection.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::StreamExt as _;
use roundtable_core::event::StopReason;
use roundtable_models::{Caps, Retry, RetryPolicy, Timeouts};
use roundtable_ports::{Chunk, Listener, Model, ModelError, ModelRequest, OutputSchema};
use roundtable_testing::provider::{Answer, Server};
use serde_json::json;

use crate::asked::request;

fn asked() -> ModelRequest {
    let schema = json!({
        "type": "object",
        "properties": {"score": {"type": "integer"}},
        "required": ["score"],
        "additionalProperties": false,
    });
    let output = OutputSchema::new("verdict", schema);
    ModelRequest { output: Some(output), ..request("ann", 1, 1) }
}

/// An answer in words.
fn says(text: &str) -> Answer {
    let event = json!({"choices": [{"delta": {"content": text}, "finish_reason": "stop"}]});
    Answer::events(&format!("data: {event}\n\ndata: [DONE]\n\n"))
}

/// The reply's text and reason to stop.
async fn reply(model: &dyn Model) -> Result<(String, StopReason), ModelError> {
    let chunks: Vec<_> = model.stream(&asked()).await?.collect().await;
    match chunks.into_iter().collect::<Result<Vec<_>, _>>()?.as_slice() {
        [Chunk::Text(text), Chunk::Done(record)] => Ok((text.clone(), record.stop)),
        other => panic!("one text and an end, not {other:?}"),
    }
}

fn retried(server: &Server, model: &str) -> Retry {
    let model = server.model(model, Timeouts::default(), Caps::default());
    let first_wait = Duration::from_millis(1);
    Retry::new(Arc::new(model), RetryPolicy { first_wait, ..RetryPolicy::default() })
}

#[tokio::test]
async fn an_answer_that_does_not_fit_is_asked_for_again_and_a_mended_one_is_the_reply() {
    let fenced = "Sure!\n```json\n{\"score\": 7,}\n```";
    let server = Server::start(vec![says("seven"), says("{\"score\":\"7\"}"), says(fenced)]).await;
    let reply = reply(&retried(&server, "deepseek/x")).await;
    assert_eq!(reply, Ok(("{\"score\":7}".to_owned(), StopReason::End)));
    assert_eq!(server.received().len(), 3);
}

#[tokio::test]
async fn a_reply_through_a_forced_tool_is_text_like_any_other() {
    let call = json!({"index": 0, "id": "c", "function": {"name": "verdict", "arguments": "{\"score\":7}"}});
    let event =
        json!({"choices": [{"delta": {"tool_calls": [call]}, "finish_reason": "tool_calls"}]});
    let server = Server::start(vec![Answer::events(&format!("data: {event}\n\n"))]).await;
    let reply = reply(&retried(&server, "groq/x")).await;
    assert_eq!(reply, Ok(("{\"score\":7}".to_owned(), StopReason::End)));
    let sent = &server.received()[0].body;
    assert_eq!(sent["tool_choice"]["function"]["name"], "verdict");
}

#[tokio::test]
async fn who_listens_hears_the_first_attempt_while_it_is_held_back_and_no_other() {
    let server = Server::start(vec![says("seven"), says("{\"score\":7}")]).await;
    let heard = Arc::new(Mutex::new(Vec::new()));
    let hearing = heard.clone();
    let listener = Listener::new(move |text| hearing.lock().unwrap().push(text.to_owned()));
    let model = retried(&server, "deepseek/x");
    let stream = model.stream(&ModelRequest { listener, ..asked() }).await.unwrap();
    let chunks: Vec<_> = stream.map(Result::unwrap).collect().await;
    assert!(matches!(&chunks[..], [Chunk::Text(text), Chunk::Done(_)] if text == "{\"score\":7}"));
    assert_eq!(*heard.lock().unwrap(), ["seven"]);
}
