//! Bodies that are too long, too deep, or ambiguous.

use roundtable::prelude::*;
use serde_json::json;

use crate::client::{post, request};
use crate::kit::{self, Running};

async fn asked(running: &Running) -> (Session, String) {
    let session = kit::session(&running.engine, None, "x").await;
    session.ask("Go.").await.expect("a round");
    let path = format!("/api/sessions/{}/context-results", session.id());
    (session, path)
}

#[tokio::test]
async fn s23_ambiguous_json_is_refused_and_changes_nothing() {
    let running = kit::local(kit::asking()).await;
    let (session, path) = asked(&running).await;
    let id = session.pending().await.expect("requests").remove(0).id;
    let before = session.log().await.expect("a log");
    let deep = format!(r#"{{"contextResults":{}{}}}"#, "[".repeat(100_000), "]".repeat(100_000));
    let bodies = [
        deep,
        format!(r#"{{"contextResults":[{{"requestId":"{id}","success":true,"success":false}}]}}"#),
        r#"{"contextResults":[],"contextResults":[]}"#.to_owned(),
        format!(
            r#"{{"contextResults":[{{"requestId":"{id}","success":true,"result":"\ud800"}}]}}"#
        ),
        format!(
            r#"{{"contextResults":[{{"requestId":"{id}","success":true,"result":"a\u0000b"}}]}}"#
        ),
        r#"{"contextResults":1e999}"#.to_owned(),
        r#"{"contextResults":[],"more":1}"#.to_owned(),
        r#"{"contextResults":"x"}"#.to_owned(),
        "{".to_owned(),
        String::new(),
        "null".to_owned(),
    ];
    for body in bodies {
        let sent =
            request(running.address, "POST", &path).header("content-type", "application/json");
        let answer = sent.body(body.clone()).send().await;
        let shown: String = body.chars().take(80).collect();
        assert_eq!(answer.problem().0, 400, "{shown}: {answer:?}");
    }
    let sent = request(running.address, "POST", &path).header("content-type", "application/json");
    assert_eq!(sent.body(b"{\"contextResults\":\"\xff\"}".as_slice()).send().await.status, 400);
    assert_eq!(session.log().await.expect("a log"), before);
    running.stop().await;
}

#[tokio::test]
async fn f26_results_that_are_too_long_or_too_many_are_refused_before_they_are_read() {
    let running = kit::local(kit::asking()).await;
    let (session, path) = asked(&running).await;
    let id = session.pending().await.expect("requests").remove(0).id;
    let before = session.log().await.expect("a log");
    // It is refused on what the header says; the body is never sent.
    let said = request(running.address, "POST", &path).header("content-type", "application/json");
    let said = said.header("content-length", "100000000").send().await;
    assert_eq!(said.problem(), (413, "too_long".to_owned()));
    let result = json!({ "requestId": id, "success": true, "result": "x" });
    let many = json!({ "contextResults": vec![result.clone(); 100_000] });
    assert_eq!(
        post(running.address, &path, &many).send().await.problem(),
        (413, "too_long".to_owned())
    );
    let many = json!({ "contextResults": vec![result; 4097] });
    assert_eq!(
        post(running.address, &path, &many).send().await.problem(),
        (400, "too_many".to_owned())
    );
    let long = json!({ "contextResults": [{ "requestId": id, "success": true, "result": "x".repeat(300_000) }] });
    let long = post(running.address, &path, &long).send().await;
    assert_eq!(long.problem(), (400, "invalid".to_owned()));
    assert_eq!(session.log().await.expect("a log"), before);
    running.stop().await;
}
