//! The endpoint for clients of OpenAI.

mod answers;
mod errors;
mod idempotency;
mod sdk;
mod stops;
mod tools;

use roundtable::core::id::SessionId;
use roundtable::prelude::*;
use serde_json::{Value, json};

use crate::client::{Answer, Request, post};
use crate::kit::Running;

/// A request with these messages.
fn ask(model: &str, messages: Value) -> Value {
    let mut request = json!({ "model": model });
    request["messages"] = messages;
    request
}

/// A request with one message.
fn say(text: &str) -> Value {
    ask("chat", json!([{ "role": "user", "content": text }]))
}

/// The same with more fields.
fn with(mut request: Value, more: Value) -> Value {
    let Value::Object(more) = more else { panic!("not an object: {more}") };
    request.as_object_mut().expect("an object").extend(more);
    request
}

fn completion(running: &Running, request: &Value) -> Request {
    post(running.address, "/v1/chat/completions", request)
}

/// The answer to a request that is answered.
async fn answer(running: &Running, request: &Value) -> Value {
    let answer = completion(running, request).send().await;
    assert_eq!(answer.status, 200, "{answer:?}");
    answer.json()
}

/// The chunks of a streamed answer, up to `[DONE]`.
fn chunks(answer: &Answer) -> Vec<Value> {
    assert_eq!(answer.status, 200, "{answer:?}");
    let data = answer.body.lines().filter_map(|line| line.strip_prefix("data: "));
    let mut data: Vec<&str> = data.collect();
    assert_eq!(data.pop(), Some("[DONE]"), "{answer:?}");
    data.into_iter().map(|data| serde_json::from_str(data).expect("JSON")).collect()
}

/// The text of streamed chunks.
fn text_of(chunks: &[Value]) -> String {
    let texts = chunks.iter().filter_map(|it| it["choices"][0]["delta"]["content"].as_str());
    texts.collect()
}

/// The hidden session behind an answer.
fn session(running: &Running, id: &Value) -> Session {
    let suffix = id.as_str().expect("an id").strip_prefix("chatcmpl-").expect("a completion");
    let suffix = suffix.split('-').next().expect("a session");
    running.engine.session(&SessionId::new(suffix).expect("an id"))
}
