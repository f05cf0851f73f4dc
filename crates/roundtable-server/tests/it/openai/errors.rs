//! Errors in OpenAI's format.

use roundtable::models::scripted::Fails;
use roundtable::prelude::*;
use roundtable_server::{Quota, Quotas, Settings, Table};
use serde_json::{Value, json};

use super::{answer, completion, say, with};
use crate::client::{Answer, get, post, request};
use crate::kit::{self, ANN};

/// The status, type, parameter and code of an error.
fn error(answer: &Answer) -> (u16, String, Value, String) {
    let error = &answer.json()["error"];
    let fields = error.as_object().expect("an error in OpenAI's format");
    let names: Vec<&str> = fields.keys().map(String::as_str).collect();
    assert_eq!(names, ["code", "message", "param", "type"], "{answer:?}");
    assert!(error["message"].as_str().is_some_and(|it| it.len() > 15), "{answer:?}");
    let text = |name: &str| error[name].as_str().unwrap_or_default().to_owned();
    (answer.status, text("type"), error["param"].clone(), text("code"))
}

fn is(status: u16, kind: &str, param: Value, code: &str) -> (u16, String, Value, String) {
    (status, kind.to_owned(), param, code.to_owned())
}

const INVALID: &str = "invalid_request_error";

#[tokio::test]
async fn every_refusal_below_v1_has_the_format() {
    let running = kit::tenants(Script::default()).await;
    let address = running.address;
    let raw = |body: &str| {
        let post = request(address, "POST", "/v1/chat/completions");
        post.header("content-type", "application/json").body(body).token(ANN)
    };
    let unknown = with(say("Hi"), json!({ "model": "gpt-9" }));
    let unknown = post(address, "/v1/chat/completions", &unknown).token(ANN);
    let plain = request(address, "POST", "/v1/chat/completions").token(ANN).body("model=chat");
    let strange = get(address, "/v1/models").host("evil.example").token(ANN);
    let no_key = is(401, INVALID, Value::Null, "invalid_api_key");
    let no_model = is(404, INVALID, json!("model"), "model_not_found");
    let long = format!("\"{}\"", "x".repeat(1024 * 1024));
    for (sent, expected) in [
        (post(address, "/v1/chat/completions", &say("Hi")), no_key.clone()),
        (get(address, "/v1/models").token("token-of-nobody-1"), no_key),
        (unknown, no_model.clone()),
        (get(address, "/v1/models/gpt-9").token(ANN), no_model),
        (raw("{\"model\": "), is(400, INVALID, Value::Null, "json")),
        (raw("[]"), is(400, INVALID, Value::Null, "invalid")),
        (
            raw("{\"model\": \"chat\"}"),
            is(400, INVALID, json!("messages"), "missing_required_parameter"),
        ),
        (raw(&long), is(413, INVALID, Value::Null, "too_long")),
        (plain, is(415, INVALID, Value::Null, "content_type")),
        (get(address, "/v1/embeddings").token(ANN), is(404, INVALID, Value::Null, "not_found")),
        (get(address, "/v1/chat/completions").token(ANN), is(405, INVALID, Value::Null, "method")),
        (strange, is(403, "permission_error", Value::Null, "host")),
    ] {
        assert_eq!(error(&sent.send().await), expected);
    }
    // Elsewhere problems look as they always did.
    let elsewhere = get(address, "/api/sessions").send().await;
    assert_eq!(elsewhere.problem(), (401, "unauthenticated".to_owned()));
    assert_eq!(running.model.count(), 0);
    running.stop().await;
}

#[tokio::test]
async fn a_limit_that_is_reached_is_a_rate_limit() {
    let quotas = Quotas::default();
    let quota = Quota { sessions: Some(1), ..Quota::default() };
    quotas.replace(Table::default().caller(None, "local", quota));
    let settings = Settings { quotas, ..Settings::default() };
    let running = kit::start(Script::default(), settings).await;
    answer(&running, &say("Hi")).await;
    let refused = completion(&running, &say("Hi again")).send().await;
    let expected = is(429, "rate_limit_error", Value::Null, "rate_limit_exceeded");
    assert_eq!(error(&refused), expected);
    assert!(refused.headers.contains("retry-after: "), "{refused:?}");
    running.stop().await;
}

#[tokio::test]
async fn a_model_that_fails_is_an_error_before_and_within_a_stream() {
    let script = Script::default().voice("supervisor", [Reply::fails(Fails::Refused)]);
    let running = kit::local(script).await;
    let failed = completion(&running, &say("Hi")).send().await;
    assert_eq!(error(&failed), is(502, "server_error", Value::Null, "model_failed"));
    let streamed = completion(&running, &with(say("Hi"), json!({ "stream": true }))).send().await;
    assert_eq!(streamed.status, 200);
    let data: Vec<&str> =
        streamed.body.lines().filter_map(|line| line.strip_prefix("data: ")).collect();
    let last: Value = serde_json::from_str(data[data.len() - 1]).expect("JSON");
    assert_eq!(last["error"]["code"], "model_failed", "{streamed:?}");
    running.stop().await;
}
