//! Conversations over HTTP.

use roundtable::chat::Team;
use roundtable::prelude::*;
use roundtable_server::Settings;
use serde_json::{Value, json};

use crate::client::{get, post};
use crate::kit::{self, ANN, BOB, Running};
use crate::socket::{connect, ends};

/// A conversation of so many answered messages.
async fn talk(running: &Running, count: usize) {
    let mut socket = connect(running.address).await;
    for number in 1..=count {
        let (id, content) = (format!("m{number}"), format!("Message {number}"));
        let message = json!({
            "type": "message", "conversationId": "abc", "messageId": id, "content": content,
        });
        let frames = socket.ask_collecting(message).await;
        if !frames.iter().any(|frame| ends(frame, &id)) {
            socket.until(|frame| ends(frame, &id)).await;
        }
    }
}

async fn page(running: &Running, query: &str) -> Value {
    let answer = get(running.address, &format!("/api/sessions/abc/messages{query}")).send().await;
    assert_eq!(answer.status, 200, "{}", answer.body);
    answer.json()
}

fn numbers(page: &Value) -> Vec<u64> {
    let messages = page["messages"].as_array().expect("messages").iter();
    messages.filter_map(|it| it["number"].as_u64()).collect()
}

#[tokio::test]
async fn messages_are_read_page_by_page_from_the_end_from_the_start_and_from_the_middle() {
    let script = Script::default().voice("supervisor", [Reply::text("Answer to {input}")]);
    let running = kit::local(script).await;
    talk(&running, 8).await;
    let all = page(&running, "?limit=100").await;
    assert_eq!(numbers(&all), (1..=16).collect::<Vec<_>>());
    assert_eq!((&all["before"], &all["after"]), (&Value::Null, &Value::Null));
    let second = &all["messages"][1];
    assert_eq!(second["content"], "Answer to User: Message 1");
    assert_eq!(
        (&second["role"], &second["agentId"], &second["messageId"], &second["roundNumber"]),
        (&json!("assistant"), &json!("agt_supervisor"), &json!("m1"), &json!(1))
    );
    assert_eq!(
        (&all["messages"][0]["sender"], &all["messages"][0]["content"]),
        (&json!("User"), &json!("Message 1"))
    );

    let (mut backwards, mut query) = (Vec::new(), "?limit=3".to_owned());
    loop {
        let found = page(&running, &query).await;
        backwards.splice(0..0, found["messages"].as_array().expect("messages").clone());
        let Some(before) = found["before"].as_u64() else { break };
        query = format!("?limit=3&before={before}");
    }
    assert_eq!(json!(backwards), all["messages"], "backwards");
    let (mut forwards, mut query) = (Vec::new(), "?limit=5&after=0".to_owned());
    loop {
        let found = page(&running, &query).await;
        forwards.extend(found["messages"].as_array().expect("messages").clone());
        let Some(after) = found["after"].as_u64() else { break };
        query = format!("?limit=5&after={after}");
    }
    assert_eq!(json!(forwards), all["messages"], "forwards");
    let middle = all["messages"][7]["seq"].as_u64().expect("a place");
    let around = page(&running, &format!("?limit=4&around={middle}")).await;
    assert_eq!(numbers(&around), [7, 8, 9, 10]);
    assert!(around["before"].is_u64() && around["after"].is_u64(), "{around}");
    for bad in ["?limit=0", "?limit=101", "?before=0", "?before=x", "?before=2&after=1"] {
        let refused =
            get(running.address, &format!("/api/sessions/abc/messages{bad}")).send().await;
        assert_eq!(refused.status, 400, "{bad}");
    }
    running.stop().await;
}

#[tokio::test]
async fn a_conversation_is_opened_by_name_and_its_first_message_can_do_that_as_well() {
    let running = kit::tenants(Script::default()).await;
    let open = |body: Value| post(running.address, "/api/conversations", &body).token(ANN);
    let first = open(json!({ "conversationId": "abc", "title": "Plans" })).send().await.json();
    assert_eq!((&first["created"], &first["conversationId"]), (&json!(true), &json!("abc")));
    let again = open(json!({ "conversationId": "abc" })).send().await.json();
    assert_eq!((&again["created"], &again["sessionId"]), (&json!(false), &first["sessionId"]));
    let send = |token: &str, name: &str, body: Value| {
        let path = format!("/api/conversations/{name}/messages");
        post(running.address, &path, &body).token(token)
    };
    let sent = send(ANN, "abc", json!({ "content": "Hi.", "messageId": "m1" })).send().await.json();
    assert_eq!((&sent["sessionId"], &sent["created"]), (&first["sessionId"], &json!(false)));
    let fresh =
        send(ANN, "xyz", json!({ "content": "Hi.", "messageId": "m1" })).send().await.json();
    assert_eq!(fresh["created"], true);
    let bobs = send(BOB, "abc", json!({ "content": "Hi." })).send().await.json();
    assert_ne!(bobs["sessionId"], first["sessionId"], "a name means something in one tenant");
    let path = format!("/api/sessions/{}", sent["sessionId"].as_str().expect("an id"));
    assert_eq!(get(running.address, &path).token(BOB).send().await.status, 404);
    let by_name = get(running.address, "/api/sessions/abc").token(ANN).send().await.json();
    assert_eq!(by_name["sessionId"], first["sessionId"], "{by_name}");
    let rename = post(running.address, "/api/sessions/abc/rename", &json!({ "title": "Other" }));
    assert_eq!(rename.token(ANN).send().await.status, 200);
    running.stop().await;
}

#[tokio::test]
async fn a_repeated_request_with_the_same_key_sends_one_message() {
    let running = kit::local(Script::default()).await;
    let send = || {
        let body = json!({ "content": "Hi." });
        post(running.address, "/api/conversations/abc/messages", &body)
            .header("idempotency-key", "k1")
    };
    let (first, again) = (send().send().await.json(), send().send().await.json());
    assert_eq!((&first["messageId"], &first["after"]), (&again["messageId"], &again["after"]));
    running.stop().await;
}

/// An engine whose team is led by someone else than the standard supervisor.
async fn led_by_ada() -> kit::Serving {
    let script = Script::default()
        .voice("ada", [Reply::text("Ada is here.")])
        .voice("ben", [Reply::text("Ben is here.")]);
    let [ada, ben] = ["Ada", "Ben"].map(|name| Agent::new(name, "scripted").expect("a name"));
    let team = Team::new(ada).command_only(ben, "knows the law");
    let builder = Engine::builder().custom_model("scripted", ScriptedModel::new(script));
    let engine = builder.team(team).build().await.expect("an engine");
    kit::serve(engine, Settings::default()).await
}

#[tokio::test]
async fn the_configured_team_answers_on_every_transport() {
    let serving = led_by_ada().await;
    let mut socket = connect(serving.address).await;
    for (id, content, expected) in
        [("m1", "Hello", "Ada is here."), ("m2", "#Ben hello", "Ben is here.")]
    {
        socket
            .send(json!({
                "type": "message", "conversationId": "abc", "messageId": id, "content": content,
            }))
            .await;
        let ended = socket.until(|frame| ends(frame, id)).await;
        let said = ended.iter().any(|frame| frame["content"] == expected);
        assert!(said, "{id}: {ended:?}");
    }
    let path = "/api/conversations/xyz/messages";
    let sent = post(serving.address, path, &json!({ "content": "Hello" })).send().await;
    assert_eq!(sent.status, 200, "{sent:?}");
    let shown = get(serving.address, "/api/sessions/xyz").send().await.body;
    assert!(shown.contains("agt_ada") && !shown.contains("agt_supervisor"), "{shown}");
    let asked = json!({ "model": "chat", "messages": [{ "role": "user", "content": "Hello" }] });
    let answer = post(serving.address, "/v1/chat/completions", &asked).send().await.json();
    assert_eq!(answer["choices"][0]["message"]["content"], "Ada is here.");
    serving.stop().await;
}
