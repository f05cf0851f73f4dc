//! Requests of the wrong form: the wrong method, an array for an object, a text that is too long. Every
//! refusal is JSON.

use roundtable::ports::Selection;
use roundtable::prelude::*;
use roundtable_server::Server;
use serde_json::{Value, json};

use crate::caller::MCP;
use crate::client::{Answer, get, post, request};
use crate::kit;

/// A path of the route table with something in place of its parameters.
fn concrete(path: &str) -> String {
    path.replace("{sessionId}", "ses_1")
        .replace("{agentId}", "agt_1")
        .replace("{turnId}", "trn_1")
        .replace("{number}", "1")
        .replace("{roundNumber}", "1")
}

fn is_json(answer: &Answer) -> bool {
    let said = answer.headers.contains("content-type: application/json");
    said && !answer.problem().1.is_empty()
}

#[tokio::test]
async fn a_known_path_refuses_other_methods_with_405_and_names_those_it_allows() {
    let running = kit::local(Script::default()).await;
    for (_, path, _) in Server::routes() {
        let known = Server::routes();
        let methods =
            known.iter().filter(|(_, other, _)| *other == path).map(|(it, ..)| it.as_str());
        let methods: Vec<&str> = methods.collect();
        let others = ["PUT", "PATCH", "DELETE"].into_iter().filter(|it| !methods.contains(it));
        for method in others {
            let answer = request(running.address, method, &concrete(path)).send().await;
            assert_eq!(answer.problem(), (405, "method".to_owned()), "{method} {path}");
            assert!(is_json(&answer), "{method} {path}: {answer:?}");
            let allow = answer.headers.lines().find_map(|line| line.strip_prefix("allow: "));
            let allow = allow.unwrap_or_default().to_ascii_uppercase();
            for allowed in &methods {
                assert!(
                    allow.split(',').any(|it| it.trim() == *allowed),
                    "{method} {path}: {allow}"
                );
            }
        }
    }
    running.stop().await;
}

#[tokio::test]
async fn an_array_is_not_accepted_as_a_body_on_any_route() {
    let running = kit::local(Script::default()).await;
    let session = kit::session(&running.engine, None, "x").await;
    let before = session.log().await.expect("a log");
    let posts = Server::routes().into_iter().filter(|(method, ..)| method == "POST");
    for (_, path, _) in posts {
        let path = path.replace("{sessionId}", session.id().as_str());
        for body in [json!([]), json!(["stop"]), json!([null, null, 1]), json!("stop"), json!(1)] {
            let answer = post(running.address, &path, &body);
            let answer =
                answer.header("accept", "application/json, text/event-stream").send().await;
            assert_eq!(answer.status, 400, "{path} {body}: {answer:?}");
            let error = &answer.json()["error"];
            assert!(error.is_string() || error["code"].is_number() || error["type"].is_string());
        }
    }
    let nested = json!({ "contextResults": [["ctx_1", true, "x", null]] });
    let path = format!("/api/sessions/{}/context-results", session.id());
    let answer = post(running.address, &path, &nested).send().await;
    assert_eq!(answer.problem(), (400, "invalid".to_owned()));
    assert!(answer.body.contains("contextResults/0 must not be an array"), "{answer:?}");
    assert_eq!(session.log().await.expect("a log"), before);
    running.stop().await;
}

#[tokio::test]
async fn an_array_is_not_accepted_in_the_arguments_of_a_tool() {
    let running = kit::local(Script::default()).await;
    for transport in MCP {
        let caller = running.caller(transport);
        let arguments = json!({ "topic": "Shall we?", "budget": [1, 2, 3.0] });
        let refused = caller.tool("start_roundtable", arguments).await.expect_err("a refusal");
        assert!(refused.error.contains("budget must not be an array"), "{refused:?}");
    }
    assert_eq!(
        running.engine.select(&Selection::default(), 9).await.expect("sessions"),
        Vec::new()
    );
    running.stop().await;
}

#[tokio::test]
async fn every_refusal_has_a_json_body() {
    let running = kit::local(Script::default()).await;
    let start = json!({ "topic": "Shall we?" });
    let long = json!({ "topic": "x".repeat(2_000_000) });
    let plain =
        request(running.address, "POST", "/api/debates").header("content-type", "text/plain");
    let cases = [
        (404, get(running.address, "/nothing/here")),
        (404, get(running.address, "/api/sessions/ses_none")),
        (404, get(running.address, "/api/sessions/%ff/events")),
        (404, get(running.address, "/api/debates/ses_none/agents/%ff/thoughts")),
        (400, get(running.address, "/api/sessions?limit=many")),
        (400, get(running.address, &format!("/api/sessions?topic={}", "x".repeat(1001)))),
        (400, get(running.address, &format!("/api/debates?topic={}", "x".repeat(1001)))),
        (
            400,
            post(running.address, "/api/debates", &start)
                .header("idempotency-key", &"k".repeat(201)),
        ),
        (405, request(running.address, "PUT", "/api/debates")),
        (413, post(running.address, "/api/debates", &long)),
        (415, plain),
        (403, get(running.address, "/health").host("elsewhere.example")),
        (
            406,
            post(running.address, "/mcp", &json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" })),
        ),
    ];
    for (status, request) in cases {
        let answer = request.send().await;
        assert_eq!(answer.status, status, "{answer:?}");
        assert!(is_json(&answer), "{answer:?}");
    }
    running.stop().await;
}

#[tokio::test]
async fn a_resource_that_is_not_found_is_named_in_the_data_of_the_error() {
    let running = kit::local(Script::default()).await;
    for transport in MCP {
        let caller = running.caller(transport);
        for uri in ["roundtable://sessions/ses_none/transcript", "elsewhere://x"] {
            let answer = caller.rpc("resources/read", json!({ "uri": uri })).await;
            assert_eq!(answer["error"]["data"], json!({ "uri": uri }), "{answer}");
            assert_ne!(answer["error"]["code"], Value::Null);
        }
    }
    running.stop().await;
}
