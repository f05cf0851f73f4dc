//! The table of operations: whoever adds a row is tested here without doing anything for it.

use std::collections::BTreeSet;

use roundtable::prelude::*;
use roundtable_server::{Does, Server, Transport};
use serde_json::{Value, json};

use crate::client::{Answer, Request, post};
use crate::kit::{self, ANN, BOB, Running};

const CANARY: &str = "canary-topic-of-ann";

fn tool(running: &Running, name: &str, arguments: &Value) -> Request {
    let params = json!({ "name": name, "arguments": arguments });
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
    post(running.address, "/mcp", &body)
        .header("accept", "application/json, text/event-stream")
        .header("mcp-protocol-version", "2025-11-25")
}

/// The names of all tools, and whether each is about a session.
fn tools() -> Vec<(&'static str, bool)> {
    let rows = Server::operations().into_iter();
    let named = rows.flat_map(|row| row.names.into_iter().map(move |name| (name, row.on_session)));
    let of_mcp = named.filter(|((transport, _), _)| *transport == Transport::Mcp);
    of_mcp.map(|((_, name), on_session)| (name, on_session)).collect()
}

fn result(answer: &Answer) -> Value {
    answer.json()["result"].clone()
}

#[tokio::test]
async fn s01_no_tool_answers_someone_without_a_token_or_with_a_wrong_one() {
    let running = kit::tenants(Script::default()).await;
    let session = kit::session(&running.engine, Some("of-ann"), CANARY).await;
    for (name, _) in tools() {
        let request = tool(&running, name, &json!({ "sessionId": session.id() }));
        for sent in [request.clone(), request.clone().token("token-of-nobody-1")] {
            let answer = sent.send().await;
            assert_eq!(answer.problem(), (401, "unauthenticated".to_owned()), "{name}");
        }
    }
    running.stop().await;
}

#[tokio::test]
async fn s01_s29_to_another_tenant_a_session_looks_to_every_tool_as_if_it_were_not_there() {
    let running = kit::tenants(Script::default()).await;
    let session = kit::session(&running.engine, Some("of-ann"), CANARY).await;
    let before = session.log().await.expect("a log");
    for (name, on_session) in tools() {
        // The session is looked up before anything else is read, so nothing else needs to be valid.
        let call = |id: &str| tool(&running, name, &json!({ "sessionId": id })).token(BOB);
        let answer = call(session.id().as_str()).send().await;
        assert!(!answer.body.contains(CANARY), "{name}: {answer:?}");
        assert_eq!(result(&answer)["isError"], true, "{name}: {answer:?}");
        if on_session {
            let nobodys = call("ses_nobody").send().await;
            let text = nobodys.body.replace("ses_nobody", session.id().as_str());
            assert_eq!(answer.body, text, "{name}");
            assert!(answer.body.contains("not found"), "{name}: {answer:?}");
        }
    }
    assert_eq!(session.log().await.expect("a log"), before);
    let shown = tool(&running, "list_sessions", &json!({})).token(ANN).send().await;
    assert!(result(&shown)["structuredContent"]["sessions"].is_array(), "{shown:?}");
    running.stop().await;
}

#[test]
fn every_operation_has_a_name_of_its_own_on_each_transport() {
    let mut seen = BTreeSet::new();
    for row in Server::operations() {
        assert!(seen.insert(format!("name {}", row.name)), "{}", row.name);
        for (transport, name) in row.names {
            assert!(seen.insert(format!("{transport:?} {name}")), "{name}");
        }
        if let Some((method, path)) = row.http {
            assert!(seen.insert(format!("{method} {path}")), "{path}");
            assert!(row.does == Does::Reads || method != "GET", "{path}");
            assert_eq!(path.contains("{sessionId}"), row.on_session, "{path}");
        }
    }
}

#[tokio::test]
async fn a_tool_that_does_not_exist_is_refused() {
    let running = kit::local(Script::default()).await;
    let answer = tool(&running, "get_everything", &json!({})).send().await;
    assert_eq!(answer.json()["error"]["message"], "Unknown tool: get_everything", "{answer:?}");
    running.stop().await;
}
