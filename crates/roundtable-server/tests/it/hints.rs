//! Each transport has its own hints: nobody over HTTP is told to call an MCP tool, no model is told to
//! send an HTTP request, and neither is told to pass a flag.

use roundtable::models::scripted::Fails;
use roundtable::prelude::*;
use serde_json::{Value, json};

use crate::caller::{ALL, Caller, Transport};
use crate::client::get;
use crate::context_requests::{AGENTS, says};
use crate::kit;
use crate::socket;

/// What only callers over HTTP or a WebSocket can do.
const HTTP: [&str; 4] = ["/api/", "/openapi.json", " frame", "curl"];
/// What only people at a terminal can do.
const TERMINAL: [&str; 3] = [" --", "at the prompt", "`roundtable "];

fn asking(priority: &str) -> Reply {
    let asked = json!({ "query": "Budget?", "reason": "why", "priority": priority });
    Reply::calls([Call::new("request_context", asked)])
}

/// Round 1 asks a required question, round 2 an optional one.
fn curious() -> Script {
    Script::default()
        .voice(AGENTS[0], [asking("required"), says("Wait.")])
        .voice(AGENTS[0], [asking("optional"), says("Wait.")])
        .voice(AGENTS[0], [says("Now.")])
        .voice(AGENTS[1], [says("Yes.")])
}

fn failing() -> Script {
    Script::default()
        .voice(AGENTS[0], [Reply::fails(Fails::Overloaded)])
        .voice(AGENTS[1], [Reply::fails(Fails::Overloaded)])
}

/// Every kind of answer and refusal that a debate gives, as text.
async fn answers(caller: &Caller, rounds: u32) -> Vec<(String, String)> {
    let topic = json!({ "topic": "Shall we?", "agentCount": 2, "rounds": rounds });
    let first = caller.start(topic.clone()).await.expect("a round");
    let mut all = vec![shown(&first)];
    let id = &first["sessionId"];
    for _ in 0..rounds {
        let request = &first["contextRequests"][0]["id"];
        let found = json!([{ "requestId": request, "success": true, "result": "A million." }]);
        for input in [json!({}), json!({ "contextResults": found })] {
            all.push(match caller.go_on(id, input).await {
                Ok(answer) => shown(&answer),
                Err(refused) => ("refused".to_owned(), refused.error),
            });
        }
    }
    for wrong in [
        json!({ "afterRound": 90 }),
        json!({ "turnToken": "x", "contribution": "y" }),
        json!({ "unknown": 1 }),
        json!({ "afterRound": "x" }),
    ] {
        all.extend(
            caller.go_on(id, wrong).await.err().map(|refused| ("wrong".to_owned(), refused.error)),
        );
    }
    let unknown = caller.go_on(&json!("ses_nobody"), json!({})).await.expect_err("a refusal");
    all.push(("unknown".to_owned(), unknown.error));
    let blank = caller.start(json!({ "topic": "" })).await.expect_err("a refusal");
    all.push(("blank".to_owned(), blank.error));
    all
}

/// The status of an answer, and everything in it.
fn shown(answer: &Value) -> (String, String) {
    (answer["status"].as_str().unwrap_or_default().to_owned(), answer.to_string())
}

async fn tools(caller: &Caller) -> (Vec<String>, String) {
    let listed = caller.rpc("tools/list", json!({})).await["result"]["tools"].clone();
    let names = listed.as_array().expect("tools").iter();
    (
        names.map(|tool| tool["name"].as_str().expect("a name").to_owned()).collect(),
        listed.to_string(),
    )
}

fn assert_free_of(hints: &[String], place: &str, text: &str) {
    for hint in hints {
        assert!(
            !text.contains(hint.as_str()),
            "{place} has the hint {hint:?} of another transport: {text}"
        );
    }
}

#[tokio::test]
async fn each_transport_gives_its_own_hints_in_every_answer_and_refusal() {
    let mut statuses = std::collections::BTreeSet::new();
    for transport in ALL {
        for (script, rounds) in [(curious(), 4), (failing(), 1), (failing(), 2)] {
            let running = kit::local(script).await;
            let (names, listed) = tools(&running.caller(Transport::Mcp2026)).await;
            let others: Vec<String> = match transport {
                Transport::Http => names.iter().cloned().chain(TERMINAL.map(Into::into)).collect(),
                _ => HTTP.iter().chain(&TERMINAL).map(ToString::to_string).collect(),
            };
            for (status, text) in answers(&running.caller(transport), rounds).await {
                assert_free_of(&others, &format!("{transport:?} {status}"), &text);
                statuses.insert(status);
            }
            assert_free_of(&HTTP.map(Into::into), "the list of tools", &listed);
            let openapi = get(running.address, "/openapi.json").send().await.json().to_string();
            assert_free_of(&names, "OpenAPI", &openapi);
            running.stop().await;
        }
    }
    let expected = [
        "blank",
        "completed",
        "failed",
        "in_progress",
        "needs_context",
        "refused",
        "unknown",
        "wrong",
    ];
    assert_eq!(statuses.into_iter().collect::<Vec<_>>(), expected);
}

#[tokio::test]
async fn a_web_socket_says_how_to_answer_with_frames() {
    let running = kit::local(curious()).await;
    let topic = json!({ "topic": "Shall we?", "agentCount": 2, "rounds": 3 });
    let first = running.caller(Transport::Http).start(topic).await.expect("a round");
    let mut socket = socket::connect(running.address).await;
    let frame = json!({ "type": "continue", "conversationId": first["sessionId"] });
    let refused = socket.ask(frame).await;
    let error = refused["error"].as_str().expect("an error");
    assert!(
        error.ends_with(
            "\n\nAnswer them with interaction-response frames, or send contextResults with this frame."
        ),
        "{error}"
    );
    running.stop().await;
}
