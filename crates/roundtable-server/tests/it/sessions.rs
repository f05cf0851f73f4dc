//! What can be done with a session of any kind over HTTP.

use roundtable::prelude::*;
use serde_json::{Value, json};

use crate::client::{Answer, get, post, request};
use crate::kit::{self, Running};

async fn chat(running: &Running) -> Session {
    running.engine.chat("Plans").agent("Ada").open().await.expect("a chat")
}

async fn send(running: &Running, session: &Session, path: &str, body: Value) -> Answer {
    let path = format!("/api/sessions/{}/{path}", session.id());
    post(running.address, &path, &body).send().await
}

async fn ok(running: &Running, session: &Session, path: &str, body: Value) -> Value {
    let answer = send(running, session, path, body).await;
    assert_eq!(answer.status, 200, "{path}: {answer:?}");
    answer.json()
}

async fn shown(running: &Running, session: &Session) -> Value {
    get(running.address, &format!("/api/sessions/{}", session.id())).send().await.json()
}

/// Waits until so many rounds count, reading the events from a position on.
async fn until_round(running: &Running, session: &Session, stored: &Value) {
    let position = stored["position"].as_str().expect("a position");
    let path = format!("/api/sessions/{}/events?after={position}", session.id());
    let mut events = get(running.address, &path).stream().await;
    while events.next().await.expect("an event").data["kind"] != "round_closed" {}
}

#[tokio::test]
async fn messages_are_sent_rounds_run_again_and_takes_selected() {
    let answers = ["One.", "Two.", "Two again."].map(Reply::text);
    let running = kit::local(Script::default().voice("ada", answers)).await;
    let session = chat(&running).await;
    let first = ok(&running, &session, "messages", json!({ "text": "Hello" })).await;
    assert_eq!(first["sessionId"], session.id().as_str());
    assert!(first["messageId"].as_str().is_some_and(|id| id.starts_with("msg_")), "{first}");
    until_round(&running, &session, &first).await;
    let second = ok(&running, &session, "continue", json!({})).await;
    until_round(&running, &session, &second).await;
    let again = ok(&running, &session, "regenerate", json!({})).await;
    until_round(&running, &session, &again).await;
    let marks = async || {
        let state = session.state().await.expect("a state");
        state.marks.iter().map(|it| (it.number, it.take, it.active)).collect::<Vec<_>>()
    };
    assert_eq!(marks().await, [(1, 1, true), (2, 1, false), (2, 2, true)]);
    ok(&running, &session, "select-take", json!({ "roundNumber": 2, "take": 1 })).await;
    assert_eq!(marks().await, [(1, 1, true), (2, 1, true), (2, 2, false)]);
    ok(&running, &session, "rewind", json!({ "roundNumber": 2 })).await;
    assert_eq!(marks().await, [(1, 1, true), (2, 1, false), (2, 2, false)]);
    let missing = send(&running, &session, "rewind", json!({ "roundNumber": 9 })).await;
    assert_eq!(missing.problem(), (400, "invalid".to_owned()));
    running.stop().await;
}

#[tokio::test]
async fn a_message_waits_is_refused_or_interrupts_while_a_round_runs() {
    let shut = Reply::text("One.").at_gate("shut");
    let running = kit::local(Script::default().voice("ada", [shut, Reply::text("Two.")])).await;
    let session = chat(&running).await;
    ok(&running, &session, "messages", json!({ "text": "Hello" })).await;
    let busy = json!({ "text": "And?", "onBusy": "reject" });
    let refused = send(&running, &session, "messages", busy).await;
    assert_eq!(refused.problem(), (409, "busy".to_owned()), "{refused:?}");
    let urgent = json!({ "text": "Stop that.", "onBusy": "interrupt" });
    let urgent = ok(&running, &session, "messages", urgent).await;
    until_round(&running, &session, &urgent).await;
    assert_eq!(shown(&running, &session).await["activeRound"], json!(2));
    let stored = ok(&running, &session, "stop", json!({})).await;
    until_round(&running, &session, &stored).await;
    assert_eq!(shown(&running, &session).await["activeRound"], Value::Null);
    running.model.gates().open("shut");
    running.stop().await;
}

#[tokio::test]
async fn a_session_is_paused_resumed_and_completed() {
    let running = kit::local(Script::default()).await;
    let session = chat(&running).await;
    for (path, status) in [("pause", "paused"), ("resume", "active"), ("complete", "completed")] {
        ok(&running, &session, path, json!({})).await;
        assert_eq!(shown(&running, &session).await["status"], status);
    }
    let refused = send(&running, &session, "messages", json!({ "text": "Hello?" })).await;
    assert_eq!(refused.problem(), (409, "not_active".to_owned()));
    running.stop().await;
}

#[tokio::test]
async fn a_title_is_what_lists_show_and_an_archived_session_is_listed_when_asked_for() {
    let running = kit::local(Script::default()).await;
    let session = chat(&running).await;
    let list = async |query: &str| {
        let path = format!("/api/sessions{query}");
        let answer = get(running.address, &path).send().await.json();
        let rows = answer["sessions"].as_array().expect("a list").iter();
        rows.map(|row| row["topic"].as_str().expect("a topic").to_owned()).collect::<Vec<_>>()
    };
    ok(&running, &session, "rename", json!({ "title": "Plans for May" })).await;
    assert_eq!(list("").await, ["Plans for May"]);
    assert_eq!(shown(&running, &session).await["topic"], "Plans for May");
    ok(&running, &session, "archive", json!({})).await;
    assert_eq!(list("").await, Vec::<String>::new());
    assert_eq!(list("?archived=true").await, ["Plans for May"]);
    assert_eq!(shown(&running, &session).await["archived"], true);
    ok(&running, &session, "archive", json!({ "archived": false })).await;
    assert_eq!(list("?archived=false").await, ["Plans for May"]);
    let refused = send(&running, &session, "rename", json!({ "title": "two\nlines" })).await;
    assert_eq!(refused.problem(), (400, "invalid".to_owned()));
    running.stop().await;
}

#[tokio::test]
async fn a_fork_begins_after_a_round_and_a_session_with_a_fork_is_not_deleted() {
    let running = kit::local(Script::default()).await;
    let session = chat(&running).await;
    session.ask("One?").await.expect("a round");
    session.ask("Two?").await.expect("a round");
    let forked = ok(&running, &session, "fork", json!({ "afterRound": 1 })).await;
    assert_eq!(forked["roundsCompleted"], 1, "{forked}");
    assert_ne!(forked["sessionId"], session.id().as_str());
    let whole = ok(&running, &session, "fork", json!({})).await;
    assert_eq!(whole["roundsCompleted"], 2, "{whole}");
    let missing = send(&running, &session, "fork", json!({ "afterRound": 7 })).await;
    assert_eq!(missing.problem(), (404, "not_found".to_owned()));
    let path = format!("/api/sessions/{}", session.id());
    let refused = request(running.address, "DELETE", &path).send().await;
    assert_eq!(refused.problem(), (409, "forked".to_owned()), "{refused:?}");
    assert_eq!(shown(&running, &session).await["status"], "active", "nothing changed");
    running.stop().await;
}

#[tokio::test]
async fn f38_deleting_cuts_the_round_off_ends_streams_with_a_reason_and_leaves_nothing() {
    let directory = tempfile::tempdir().expect("a directory");
    let script = || Script::default().voice("ada", [Reply::text("Late.").at_gate("shut")]);
    for running in [kit::local(script()).await, kit::on(directory.path(), script()).await] {
        let session = chat(&running).await;
        let stored = ok(&running, &session, "messages", json!({ "text": "Hello" })).await;
        let path = format!("/api/sessions/{}", session.id());
        let events = format!("{path}/events?after={}", stored["position"].as_str().unwrap());
        let mut events = get(running.address, &events).stream().await;
        while events.next().await.expect("an event").data["kind"] != "model_call_started" {}
        let deleted = request(running.address, "DELETE", &path).send().await;
        assert_eq!(deleted.json(), json!({ "sessionId": session.id(), "deleted": true }));
        let end = loop {
            let event = events.next().await.expect("an end");
            if event.name == "end" {
                break event;
            }
        };
        assert_eq!(end.data["reason"], "deleted");
        running.model.gates().open("shut");
        assert_eq!(get(running.address, &path).send().await.status, 404);
        assert_eq!(request(running.address, "DELETE", &path).send().await.status, 404);
        assert!(session.say("Are you there?").await.is_err(), "nothing brings it back");
        assert_eq!(session.log().await.expect("a log"), Vec::new());
        let list = get(running.address, "/api/sessions").send().await;
        assert_eq!(list.json(), json!({ "sessions": [] }));
        running.stop().await;
    }
}
