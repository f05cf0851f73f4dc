//! Answers to what agents asked for, over HTTP.

use serde_json::json;

use crate::client::{get, post};
use crate::kit;

#[tokio::test]
async fn f25_the_first_answer_counts_and_what_was_never_asked_is_named() {
    let running = kit::local(kit::asking()).await;
    let session = kit::session(&running.engine, None, "x").await;
    session.ask("Go.").await.expect("a round");
    let path = format!("/api/sessions/{}", session.id());
    let shown = get(running.address, &path).send().await.json();
    let request = &shown["pendingContextRequests"][0];
    assert_eq!(request["agentId"], "agt_ada");
    assert_eq!(request["query"], "What is the budget?");
    assert_eq!(request["reason"], "I need it.");
    assert_eq!(request["priority"], "required");
    let path = format!("{path}/context-results");
    let body = json!({ "contextResults": [
        { "requestId": request["id"], "success": true, "result": "A million." },
        { "requestId": "ctx_never", "success": true, "result": "?" },
        { "requestId": "no id at all", "success": false, "error": "?" },
    ] });
    let answer = post(running.address, &path, &body).send().await;
    assert_eq!(answer.status, 200, "{answer:?}");
    let taken = answer.json();
    assert_eq!(taken["pendingContextRequests"], json!([]));
    let warnings = taken["warnings"].to_string();
    assert!(warnings.contains("ctx_never") && warnings.contains("no id at all"), "{warnings}");
    let events = session.log().await.expect("a log").len();
    let again = json!({ "contextResults": [{ "requestId": request["id"], "success": true, "result": "Two." }] });
    assert_eq!(post(running.address, &path, &again).send().await.status, 200);
    assert_eq!(
        session.log().await.expect("a log").len(),
        events,
        "a second answer changes nothing"
    );
    running.stop().await;
}

#[tokio::test]
async fn s31_an_idempotency_key_with_another_body_is_refused() {
    let running = kit::local(kit::asking()).await;
    let session = kit::session(&running.engine, None, "x").await;
    session.ask("Go.").await.expect("a round");
    let id = session.pending().await.expect("requests").remove(0).id;
    let path = format!("/api/sessions/{}/context-results", session.id());
    let answer = |result: &str| {
        let body =
            json!({ "contextResults": [{ "requestId": id, "success": true, "result": result }] });
        post(running.address, &path, &body).header("idempotency-key", "key-1")
    };
    assert_eq!(answer("one").send().await.status, 200);
    let log = session.log().await.expect("a log");
    assert_eq!(answer("one").send().await.status, 200, "the same again is the same");
    let other = answer("two").send().await;
    assert_eq!(other.problem(), (422, "idempotency_key_reused".to_owned()));
    assert_eq!(session.log().await.expect("a log"), log);
    for key in ["", &"k".repeat(201)] {
        let sent = post(running.address, &path, &json!({ "contextResults": [] }));
        assert_eq!(sent.header("idempotency-key", key).send().await.status, 400, "{key}");
    }
    running.stop().await;
}
