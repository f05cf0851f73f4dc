//! The refusals of HTTP and MCP, to the letter: a changed text shows in the difference.

use std::fmt::Write as _;

use roundtable::prelude::*;
use serde_json::{Value, json};

use crate::caller::Transport;
use crate::client::{Request, get, post};
use crate::kit;

#[tokio::test]
async fn the_refusals_of_the_http_api() {
    let running = kit::local(Script::default()).await;
    let address = running.address;
    let topic = json!({ "topic": "Shall we?", "agentCount": 2, "rounds": 1 });
    let debate = post(address, "/api/debates", &topic).send().await.json();
    let id = debate["sessionId"].as_str().expect("an id").to_owned();
    let debate_at = |path: &str| format!("/api/debates/{id}/{path}");
    let session_at = |path: &str| format!("/api/sessions/{id}/{path}");
    let requests: Vec<(&str, Request)> = vec![
        ("unknown path", get(address, "/nowhere")),
        ("unknown session", get(address, "/api/sessions/ses_nobody")),
        ("wrong method", get(address, "/api/debates/quote")),
        ("foreign host", get(address, "/api/sessions").header("host", "foreign.example")),
        (
            "foreign origin",
            get(address, "/api/sessions").header("origin", "https://foreign.example"),
        ),
        ("blank topic", post(address, "/api/debates", &json!({ "topic": "" }))),
        (
            "agents and count",
            post(
                address,
                "/api/debates",
                &json!({ "topic": "?", "agents": ["a", "b"], "agentCount": 2 }),
            ),
        ),
        (
            "unknown agent",
            post(address, "/api/debates", &json!({ "topic": "?", "agents": ["nobody", "none"] })),
        ),
        ("unknown field", post(address, "/api/debates", &json!({ "topic": "?", "color": 1 }))),
        ("array as body", post(address, "/api/debates", &json!([]))),
        ("debate is over", post(address, &debate_at("continue"), &json!({ "afterRound": 1 }))),
        ("unknown round", get(address, &debate_at("rounds/9"))),
        ("invalid round", get(address, &debate_at("rounds/x"))),
        ("unknown agent of a debate", get(address, &debate_at("agents/agt_nobody/responses"))),
        (
            "invalid turn token",
            post(
                address,
                &debate_at("continue"),
                &json!({ "turnToken": "x", "contribution": "y" }),
            ),
        ),
        ("duplicate parameter", get(address, "/api/sessions?limit=1&limit=2")),
        ("unknown cursor", get(address, "/api/sessions?before=ses_nobody")),
        ("invalid event position", get(address, &session_at("events?after=x"))),
        ("position beyond the end", get(address, &session_at("events?after=9999"))),
        ("several cursors", get(address, &session_at("messages?before=1&after=2"))),
        (
            "message to a finished session",
            post(address, &session_at("messages"), &json!({ "text": "Hello" })),
        ),
        ("unknown message", post(address, &session_at("messages/m-1/withdraw"), &json!({}))),
        ("resume an ended session", post(address, &session_at("resume"), &json!({}))),
        ("invalid title", post(address, &session_at("rename"), &json!({ "title": "" }))),
        (
            "unknown take",
            post(address, &session_at("select-take"), &json!({ "roundNumber": 1, "take": 9 })),
        ),
        (
            "fork at an unfinished round",
            post(address, &session_at("fork"), &json!({ "afterRound": 9 })),
        ),
        (
            "reserved name",
            post(address, "/api/conversations", &json!({ "conversationId": "ses_mine" })),
        ),
        ("plain request to the WebSocket", get(address, "/ws")),
    ];
    let mut table = String::new();
    for (what, request) in requests {
        let answer = request.send().await;
        let body: Value = answer.json();
        let error = body["error"].as_str().expect("an error").replace(&id, "ses_…");
        let reason = body["reason"].as_str().expect("a reason");
        let _ = writeln!(table, "{what}\n  {} {reason}\n  {error}\n", answer.status);
    }
    insta::assert_snapshot!("http_refusals", table);
    running.stop().await;
}

#[tokio::test]
async fn the_refusals_of_the_mcp_server() {
    let running = kit::local(Script::default()).await;
    let caller = running.caller(Transport::Mcp2026);
    let topic = json!({ "topic": "Shall we?", "agentCount": 2, "rounds": 1 });
    let debate = caller.start(topic).await.expect("a round");
    let id = &debate["sessionId"];
    let calls = [
        ("start_roundtable", json!({ "topic": "" })),
        ("start_roundtable", json!({ "topic": "?", "agentCount": 1 })),
        ("start_roundtable", json!({ "topic": "?", "agents": ["nobody", "none"] })),
        ("continue_roundtable", json!({})),
        ("continue_roundtable", json!({ "sessionId": "ses_nobody" })),
        ("continue_roundtable", json!({ "sessionId": id, "afterRound": 1 })),
        ("continue_roundtable", json!({ "sessionId": id, "turnToken": "x", "contribution": "y" })),
        ("continue_roundtable", json!({ "sessionId": id, "turnToken": "x" })),
        ("get_consensus", json!({ "sessionId": id, "roundNumber": 9 })),
        ("get_thoughts", json!({ "sessionId": id, "agentId": "agt_nobody" })),
        ("control_session", json!({ "sessionId": id, "action": "resume" })),
        ("control_session", json!({ "sessionId": id, "action": "restart" })),
        ("export_session", json!({ "sessionId": id, "format": "pdf" })),
    ];
    let mut table = String::new();
    for (tool, arguments) in calls {
        let shown = arguments.to_string();
        let refused = caller.tool(tool, arguments).await.expect_err("a refusal");
        let _ = writeln!(table, "{tool} {shown}\n  {}\n", refused.error);
    }
    let id = id.as_str().expect("an id");
    insta::assert_snapshot!("mcp_refusals", table.replace(id, "ses_…"));
    running.stop().await;
}
