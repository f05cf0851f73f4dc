//! Search of messages over HTTP and WebSocket.

use roundtable::core::event::Change;
use roundtable::core::input::Command;
use roundtable::prelude::*;
use serde_json::{Value, json};

use crate::client::{Answer, get};
use crate::kit::{self, ANN, BOB, Running};
use crate::socket::connect_as;

fn script() -> Script {
    Script::default().voice("supervisor", [Reply::text("The otters sleep.")])
}

/// A chat of a tenant in which this was said and answered.
async fn talk(running: &Running, tenant: &str, texts: &[&str]) -> Session {
    let team = running.engine.standard_team().expect("a team");
    let mut opening = team.opening("Notes");
    opening.tenant = Some(tenant.to_owned());
    let chat = running.engine.open(opening).await.expect("a chat");
    for text in texts {
        chat.ask(text).await.expect("an answer");
    }
    chat
}

async fn search(running: &Running, token: &str, query: &str) -> Answer {
    get(running.address, &format!("/api/search?{query}")).token(token).send().await
}

async fn found(running: &Running, token: &str, query: &str) -> Value {
    let answer = search(running, token, query).await;
    assert_eq!(answer.status, 200, "{}", answer.body);
    answer.json()
}

fn count(found: &Value) -> usize {
    found["messages"].as_array().expect("messages").len()
}

#[tokio::test]
async fn a_message_is_found_with_its_place_and_the_words_in_it() {
    let running = kit::tenants(script()).await;
    let chat = talk(&running, "of-ann", &["Where do <b>otters</b> swim?"]).await;
    let page = found(&running, ANN, "q=swimming").await;
    let mut hit = page["messages"][0].clone();
    assert_eq!((page["mode"].as_str(), count(&page)), (Some("text"), 1));
    let (seq, at, score) = (hit["seq"].take(), hit["at"].take(), hit["score"].take());
    assert!(
        at.as_str().is_some_and(|at| at.starts_with("20")) && score.is_number(),
        "{at} {score}"
    );
    assert_eq!(
        hit,
        json!({
            "sessionId": chat.id(), "kind": "chat", "title": "Notes", "seq": null, "number": 1,
            "roundNumber": 1, "sender": "User", "byAgent": false, "at": null,
            "snippet": "Where do <b>otters</b> swim?", "matches": [[23, 27]], "score": null,
        })
    );
    let path = format!("/api/sessions/{}/messages?around={seq}&limit=1", chat.id());
    let around = get(running.address, &path).token(ANN).send().await.json();
    assert_eq!(around["messages"][0]["seq"], seq, "its place is the cursor of the messages");
    running.stop().await;
}

#[tokio::test]
async fn s01_s29_nothing_of_another_tenant_is_found_on_any_transport() {
    let running = kit::tenants(script()).await;
    let chat = talk(&running, "of-ann", &["canary"]).await;
    assert_eq!(count(&found(&running, ANN, "q=canary").await), 1);
    assert_eq!(count(&found(&running, BOB, "q=canary").await), 0);
    let named = format!("q=canary&conversationId={}", chat.id());
    assert_eq!(count(&found(&running, ANN, &named).await), 1);
    let refused = search(&running, BOB, &named).await;
    let nobodys = search(&running, BOB, "q=canary&conversationId=ses_nobody").await;
    assert_eq!(refused.problem(), (404, "not_found".to_owned()));
    assert_eq!(refused.body.replace(chat.id().as_str(), "ses_nobody"), nobodys.body);
    for (token, expected) in [(ANN, 1), (BOB, 0)] {
        let mut socket = connect_as(running.address, Some(token)).await;
        let answer = socket.ask(json!({ "type": "search", "q": "canary" })).await;
        let messages = answer["messages"].as_array().expect("messages");
        assert_eq!(messages.len(), expected, "{answer}");
    }
    running.stop().await;
}

#[tokio::test]
async fn archived_sessions_and_other_kinds_are_found_when_they_are_asked_for() {
    let running = kit::tenants(script()).await;
    let chat = talk(&running, "of-ann", &["canary"]).await;
    let change = Change { archived: Some(true), ..Change::default() };
    chat.command(Command::Change(change)).await.expect("a change");
    assert_eq!(count(&found(&running, ANN, "q=canary").await), 0);
    assert_eq!(count(&found(&running, ANN, "q=canary&archived=true").await), 1);
    assert_eq!(count(&found(&running, ANN, "q=canary&archived=true&kind=debate").await), 0);
    running.stop().await;
}

#[tokio::test]
async fn pages_follow_each_other_by_cursor() {
    let running = kit::tenants(script()).await;
    talk(&running, "of-ann", &["otter a", "otter b", "otter c"]).await;
    let (mut seen, mut query) = (Vec::new(), "q=otter&limit=4".to_owned());
    loop {
        let page = found(&running, ANN, &query).await;
        seen.extend(page["messages"].as_array().expect("messages").clone());
        let Some(next) = page["next"].as_str() else { break };
        query = format!("q=otter&limit=4&cursor={next}");
    }
    let mut numbers: Vec<u64> = seen.iter().filter_map(|it| it["number"].as_u64()).collect();
    numbers.sort_unstable();
    assert_eq!(numbers, [1, 2, 3, 4, 5, 6]);
    let crafted = search(&running, ANN, "q=otter&cursor=abc.1.2").await;
    assert_eq!(crafted.problem(), (400, "unknown_cursor".to_owned()));
    running.stop().await;
}

#[tokio::test]
async fn what_cannot_be_searched_is_refused_with_the_reason() {
    let running = kit::tenants(script()).await;
    for (query, status, reason) in [
        ("", 400, "invalid"),
        ("q=", 400, "invalid"),
        ("q=%22%2A%22", 400, "invalid"),
        ("q=a&mode=fuzzy", 400, "invalid"),
        ("q=a&limit=101", 400, "invalid"),
        ("q=a&limit=0", 400, "invalid"),
        ("q=a&agentId=..%2Fx", 400, "invalid"),
        ("q=a&tenant=bob", 400, "invalid"),
        ("q=a&mode=semantic", 409, "no_embedder"),
    ] {
        let refused = search(&running, ANN, query).await;
        assert_eq!(refused.problem(), (status, reason.to_owned()), "{query}");
    }
    let long = format!("q={}", "x".repeat(501));
    assert_eq!(search(&running, ANN, &long).await.problem(), (400, "invalid".to_owned()));
    let hybrid = found(&running, ANN, "q=a&mode=hybrid").await;
    assert_eq!(hybrid["mode"], "text");
    assert_eq!(
        hybrid["notices"],
        json!(["no embedder is configured; messages were found by words"])
    );
    running.stop().await;
}
