//! Idempotency keys, on every route that has something done; and refusals from another process.

use std::net::SocketAddr;

use roundtable::prelude::*;
use roundtable_server::{Does, Server};
use serde_json::{Value, json};

use crate::client::{Answer, get, post};
use crate::kit::{self, Running};

/// The routes that have something done: `/mcp`, and those of the table.
fn posts() -> Vec<&'static str> {
    let rows = Server::operations().into_iter().filter(|row| row.does != Does::Reads);
    let posts = rows.filter_map(|row| row.http).filter(|(method, _)| method == "POST");
    posts.map(|(_, path)| path).chain(["/mcp"]).collect()
}

/// A body of a route, and another one that is also valid; there is none for a route without fields.
fn bodies(path: &str, session: &str) -> (Value, Option<Value>) {
    const WITHOUT_FIELDS: [&str; 4] = ["stop", "pause", "resume", "regenerate"];
    let last = path.rsplit('/').next().unwrap_or_default();
    if WITHOUT_FIELDS.contains(&last) {
        return (json!({}), None);
    }
    let (body, other) = pair(path, session);
    (body, Some(other))
}

fn pair(path: &str, session: &str) -> (Value, Value) {
    let call = |action: &str| {
        let arguments = json!({ "sessionId": session, "action": action });
        let params = json!({ "name": "control_session", "arguments": arguments });
        json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params })
    };
    let answer = json!({ "requestId": "ctx_1", "success": false });
    match path {
        "/api/debates" => (topic("Shall we?"), topic("Or not?")),
        "/api/debates/{sessionId}/continue" => (json!({}), json!({ "focusQuestion": "And?" })),
        "/api/debates/{sessionId}/synthesis" => {
            (json!({}), json!({ "synthesizer": "agt_analyst" }))
        }
        "/api/debates/{sessionId}/control" => {
            (json!({ "action": "pause" }), json!({ "action": "stop" }))
        }
        "/api/sessions/{sessionId}/context-results" => {
            (json!({ "contextResults": [] }), json!({ "contextResults": [answer] }))
        }
        "/mcp" => (call("pause"), call("stop")),
        "/api/sessions/{sessionId}/messages" => {
            (json!({ "text": "And?" }), json!({ "text": "But?" }))
        }
        "/api/conversations" => (json!({ "title": "A" }), json!({ "title": "B" })),
        "/api/conversations/{conversationId}/messages" => {
            (json!({ "content": "And?" }), json!({ "content": "But?" }))
        }
        "/api/sessions/{sessionId}/continue" => (json!({}), json!({ "onBusy": "reject" })),
        "/api/sessions/{sessionId}/fork" => (json!({}), json!({ "afterRound": 1 })),
        "/api/sessions/{sessionId}/complete" => (json!({}), json!({ "reason": "enough" })),
        "/api/sessions/{sessionId}/select-take" => {
            (json!({ "roundNumber": 1, "take": 1 }), json!({ "roundNumber": 1, "take": 2 }))
        }
        "/api/sessions/{sessionId}/rewind" => {
            (json!({ "roundNumber": 1 }), json!({ "roundNumber": 2 }))
        }
        "/api/sessions/{sessionId}/rename" => (json!({ "title": "A" }), json!({ "title": "B" })),
        "/api/sessions/{sessionId}/archive" => (json!({}), json!({ "archived": false })),
        other => panic!("say how an idempotency key holds on POST {other}"),
    }
}

fn topic(topic: &str) -> Value {
    json!({ "topic": topic, "agentCount": 2, "rounds": 5 })
}

async fn send(address: SocketAddr, path: &str, body: &Value, key: &str) -> Answer {
    let sent = post(address, path, body).header("idempotency-key", key);
    let sent = sent.header("accept", "application/json, text/event-stream");
    sent.header("mcp-protocol-version", "2025-11-25").send().await
}

/// A debate whose first round is over.
async fn begun(running: &Running) -> String {
    let started = post(running.address, "/api/debates", &topic("Shall we?")).send().await;
    started.json()["sessionId"].as_str().expect("a session").to_owned()
}

/// Waits for the round that a request has run beside its answer.
async fn settle(running: &Running, path: &str, session: &str, answer: &Value) {
    let position = answer["position"].as_str();
    let runs = ["messages", "continue", "regenerate"].iter().any(|end| path.ends_with(end));
    let Some(position) = position.filter(|_| runs) else { return };
    let path = format!("/api/sessions/{session}/events?after={position}");
    let mut events = get(running.address, &path).stream().await;
    while events.next().await.expect("an event").data["kind"] != "round_closed" {}
}

async fn log(running: &Running, session: &str) -> usize {
    let session = running.engine.session(&session.parse().expect("an id"));
    session.log().await.expect("a log").len()
}

#[tokio::test]
async fn s31_a_key_returns_the_first_outcome_and_is_refused_with_another_body_on_every_post() {
    let running = kit::local(Script::default()).await;
    // Messages that wait for their rounds need a round that runs: the next test has those.
    for path in posts().into_iter().filter(|path| !path.contains("{messageId}")) {
        let session = begun(&running).await;
        let (body, other) = bodies(path, &session);
        let at = path.replace("{sessionId}", &session).replace("{conversationId}", &session);
        if path.ends_with("/resume") {
            let pause = at.replace("/resume", "/pause");
            assert_eq!(post(running.address, &pause, &json!({})).send().await.status, 200);
        }
        let first = send(running.address, &at, &body, "one").await;
        assert_eq!(first.status, 200, "{path}: {first:?}");
        settle(&running, path, &session, &first.json()).await;
        let events = log(&running, &session).await;
        let again = send(running.address, &at, &body, "one").await;
        assert_eq!((again.status, again.json()), (200, first.json()), "{path}");
        assert_eq!(log(&running, &session).await, events, "{path}: nothing is done twice");
        // Without fields, the same key for another operation stands for another body.
        let (at, other) = match other {
            Some(other) => (at, other),
            None => (format!("/api/sessions/{session}/archive"), json!({})),
        };
        let refused = send(running.address, &at, &other, "one").await;
        if path == "/mcp" {
            let result = refused.json()["result"].clone();
            assert_eq!(result["isError"], true, "{result}");
        } else {
            let reused = (422, "idempotency_key_reused".to_owned());
            assert_eq!(refused.problem(), reused, "{path}: {refused:?}");
        }
        assert_eq!(log(&running, &session).await, events, "{path}: nothing changed");
        let sessions = get(running.address, "/api/sessions?limit=200").send().await;
        assert!(
            sessions.json()["sessions"]
                .as_array()
                .is_some_and(|all| all.len() <= 2 * posts().len())
        );
    }
    running.stop().await;
}

#[tokio::test]
async fn s31_a_key_holds_for_changes_of_a_message_that_waits() {
    let script = Script::default().voice("supervisor", [Reply::text("Yes.").at_gate("go")]);
    let running = kit::local(script).await;
    for id in ["m1", "m2"] {
        let body = json!({ "content": "Well?", "messageId": id });
        let sent = post(running.address, "/api/conversations/abc/messages", &body).send().await;
        assert_eq!(sent.status, 200);
    }
    let edit = "/api/sessions/abc/messages/m2/edit";
    let withdraw = "/api/sessions/abc/messages/m2/withdraw";
    let changes = [(edit, json!({ "content": "A" }), "one"), (withdraw, json!({}), "two")];
    for (path, body, key) in changes {
        let first = send(running.address, path, &body, key).await;
        assert_eq!(first.status, 200, "{path}: {first:?}");
        let again = send(running.address, path, &body, key).await;
        assert_eq!((again.status, again.json()), (200, first.json()), "{path}");
        let other = send(running.address, edit, &json!({ "content": "B" }), key).await;
        assert_eq!(other.problem(), (422, "idempotency_key_reused".to_owned()), "{path}");
    }
    running.model.gates().open("go");
    running.stop().await;
}

#[tokio::test]
async fn s31_a_key_names_the_round_that_it_was_used_for_although_others_follow() {
    let running = kit::local(Script::default()).await;
    let session = begun(&running).await;
    let path = format!("/api/debates/{session}/continue");
    let second = send(running.address, &path, &json!({}), "two").await.json();
    assert_eq!(second["roundNumber"], 2);
    let third = post(running.address, &path, &json!({ "afterRound": 2 })).send().await.json();
    assert_eq!(third["roundNumber"], 3);
    let again = send(running.address, &path, &json!({}), "two").await.json();
    assert_eq!(again["roundNumber"], 2, "{again}");
    assert_eq!(again["agentResponses"], second["agentResponses"]);
    let control = format!("/api/debates/{session}/control");
    let other = send(running.address, &control, &json!({ "action": "pause" }), "two").await;
    assert_eq!(other.status, 422, "one key stands for one operation: {other:?}");
    running.stop().await;
}

#[tokio::test]
async fn s31_a_key_is_known_after_a_restart() {
    let directory = tempfile::tempdir().expect("a directory");
    let first = kit::on(directory.path(), Script::default()).await;
    let session = begun(&first).await;
    let path = format!("/api/debates/{session}/continue");
    let second = send(first.address, &path, &json!({}), "two").await.json();
    first.end().await;
    let later = kit::on(directory.path(), Script::default()).await;
    let again = send(later.address, &path, &json!({}), "two").await;
    assert_eq!(again.json()["roundNumber"], second["roundNumber"]);
    assert_eq!(again.json()["agentResponses"], second["agentResponses"]);
    later.stop().await;
}

#[tokio::test]
async fn a_refusal_that_comes_from_another_process_keeps_its_kind() {
    let directory = tempfile::tempdir().expect("a directory");
    let owner = kit::on(directory.path(), Script::default()).await;
    let other = kit::on(directory.path(), Script::default()).await;
    let session = begun(&owner).await;
    let paths = [
        ("control", json!({ "action": "resume" })),
        ("synthesis", json!({ "synthesizer": "agt_nobody" })),
        ("control", json!({ "action": "stop" })),
        ("control", json!({ "action": "stop" })),
        ("continue", json!({ "afterRound": 1 })),
    ];
    let mut kinds = Vec::new();
    for (path, body) in paths {
        let path = format!("/api/debates/{session}/{path}");
        let answer = post(other.address, &path, &body).send().await;
        let reason = answer.json()["reason"].as_str().unwrap_or_default().to_owned();
        kinds.push((answer.status, reason));
    }
    let expected =
        [(400, "invalid"), (404, "not_found"), (200, ""), (409, "not_active"), (409, "not_active")];
    assert_eq!(kinds, expected.map(|(status, reason)| (status, reason.to_owned())));
    other.stop().await;
    owner.stop().await;
}
