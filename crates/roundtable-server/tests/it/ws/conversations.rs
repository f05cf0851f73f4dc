//! Everything that a message causes carries the ids of that message, whatever else happens meanwhile.

use roundtable::prelude::*;
use roundtable_testing::until;
use serde_json::json;

use super::{delegating, message, of_type, types};
use crate::kit;
use crate::socket::{connect, ends};

#[tokio::test]
async fn r001_1_r001_2_r001_6_r001_13_the_context_of_a_message_reaches_every_payload() {
    let running = kit::local(delegating()).await;
    running.model.gates().open("decide");
    running.model.gates().open("answer");
    let mut socket = connect(running.address).await;
    let mut sent = message("abc", "m1");
    sent["metadata"] = json!({ "turnId": "t1" });
    let mut frames = socket.ask_collecting(sent).await;
    let ack = frames.last().expect("an answer").clone();
    assert_eq!(
        (&ack["type"], &ack["conversationId"], &ack["messageId"], &ack["turnId"]),
        (&json!("ack"), &json!("abc"), &json!("m1"), &json!("t1"))
    );
    frames.extend(socket.until(|frame| ends(frame, "m1")).await);
    for frame in &frames {
        let ids = (&frame["conversationId"], &frame["messageId"], &frame["turnId"]);
        assert_eq!(ids, (&json!("abc"), &json!("m1"), &json!("t1")), "{frame}");
    }
    for kind in [
        "conversation_created",
        "message",
        "round_started",
        "stream_start",
        "stream_end",
        "tool_requested",
        "delegation",
        "tool_execution_finished",
        "round_ended",
    ] {
        assert!(!of_type(&frames, kind).is_empty(), "no {kind}: {:?}", types(&frames));
    }
    let delegation = of_type(&frames, "delegation")[0];
    assert_eq!(delegation["agentType"], "researcher");
    assert_eq!(delegation["parentAgentId"], "agt_supervisor");
    assert_eq!(
        (&delegation["mission"], &delegation["rationale"]),
        (&json!("dig"), &json!("it knows"))
    );
    let answers: Vec<_> =
        of_type(&frames, "message").into_iter().filter(|it| it["role"] == "assistant").collect();
    assert_eq!(answers.len(), 1, "a worker's words are no message of the conversation");
    assert!(answers[0]["content"].as_str().is_some_and(|text| text.contains("canary-abc")));
    assert_eq!(answers[0]["status"], "completed");
    running.stop().await;
}

/// The seed's timeline: A (abc) starts, B (xyz) starts, A finishes. One client follows both, another
/// one only abc.
#[tokio::test]
async fn r001_3_r001_4_r001_5_r001_7_a_starts_b_starts_a_finishes() {
    let running = kit::local(delegating()).await;
    let (mut both, mut other) = (connect(running.address).await, connect(running.address).await);
    let model = &running.model;
    let asked = |count: usize| until("the models are asked", move || model.count() >= count);
    both.ask(message("abc", "m-a")).await;
    asked(1).await;
    other.ask(json!({ "type": "subscribe", "conversationId": "abc", "fromSeq": 0 })).await;
    both.ask(message("xyz", "m-b")).await;
    asked(2).await;
    // Between the delegation and the worker's start, another message arrives in A.
    both.ask(message("abc", "m-a2")).await;
    running.model.gates().open("decide");
    asked(6).await;
    running.model.gates().open("answer");
    let (mut frames, mut ended) = (Vec::new(), 0);
    while ended < 3 {
        let frame = both.next().await;
        ended += usize::from(frame["type"] == "round_ended");
        frames.push(frame);
    }
    for frame in &frames {
        let conversation = frame["conversationId"].as_str().expect("a conversation");
        let own = ["m-b"].as_slice();
        let own = if conversation == "abc" { ["m-a", "m-a2"].as_slice() } else { own };
        if let Some(id) = frame["messageId"].as_str() {
            assert!(own.contains(&id), "{frame}");
        }
        let stray = if conversation == "abc" { "canary-xyz" } else { "canary-abc" };
        assert!(!frame.to_string().contains(stray), "{frame}");
    }
    let mut workers: Vec<_> = of_type(&frames, "delegation")
        .iter()
        .map(|it| (it["conversationId"].clone(), it["messageId"].clone(), it["turnId"].clone()))
        .collect();
    workers.sort_by_key(|it| it.1.to_string());
    let expected = [("abc", "m-a"), ("abc", "m-a2"), ("xyz", "m-b")];
    assert_eq!(workers, expected.map(|(it, id)| (json!(it), json!(id), json!(id))), "R001-7");
    // The other client has the same of abc, and nothing of xyz: nothing is broadcast.
    let seen = other.until(|frame| ends(frame, "m-a2")).await;
    assert!(seen.iter().all(|frame| frame["conversationId"] == "abc"));
    let committed = |frames: &[serde_json::Value]| {
        let own = frames.iter().filter(|it| it["conversationId"] == "abc" && it["seq"].is_u64());
        own.map(|it| it["seq"].as_u64()).collect::<std::collections::BTreeSet<_>>()
    };
    assert!(committed(&frames).is_subset(&committed(&seen)));
    running.stop().await;
}

#[tokio::test]
async fn r001_12_a_conversation_does_not_wait_for_another() {
    let gated = Script::default()
        .voice("supervisor", [Reply::text("Answer to {input}").at_gate("later")])
        .voice("researcher", [Reply::text("Quick {input}")]);
    let running = kit::local(gated).await;
    let mut socket = connect(running.address).await;
    socket.ask(message("abc", "m-a")).await;
    // The same connection, another conversation, answered while the first one waits for its model.
    let quick = json!({
        "type": "message", "conversationId": "xyz", "messageId": "m-b",
        "content": "#Researcher canary-xyz",
    });
    let mut frames = socket.ask_collecting(quick).await;
    frames.extend(socket.until(|frame| ends(frame, "m-b")).await);
    let done = |frames: &[serde_json::Value], id: &str| frames.iter().any(|it| ends(it, id));
    assert!(done(&frames, "m-b") && !done(&frames, "m-a"));
    let stopped = socket.ask(json!({ "type": "stop", "conversationId": "abc" })).await;
    assert_eq!(stopped["type"], "ack", "{stopped}");
    running.model.gates().open("later");
    running.stop().await;
}

#[tokio::test]
async fn a_message_without_a_conversation_opens_one_and_the_answer_names_it() {
    let running = kit::local(Script::default()).await;
    let mut socket = connect(running.address).await;
    let send = json!({ "type": "message", "content": "Hello.", "messageId": "m1" });
    let frames = socket.ask_collecting(send.clone()).await;
    let (created, ack) = (&frames[0], frames.last().expect("an answer"));
    assert_eq!(created["type"], "conversation_created");
    assert_eq!(created["conversationId"], ack["conversationId"]);
    assert!(ack["conversationId"].as_str().is_some_and(|id| id.starts_with("ses_")), "{ack}");
    socket.until(|frame| ends(frame, "m1")).await;
    // The client lost the answer and sends again: the same conversation, the same message.
    let mut again = connect(running.address).await;
    let repeated = again.ask(send).await;
    assert_eq!(repeated["conversationId"], ack["conversationId"]);
    assert_eq!((&repeated["created"], &repeated["after"]), (&json!(true), &ack["after"]));
    let replayed = again.until(|frame| ends(frame, "m1")).await;
    let said = of_type(&replayed, "message");
    assert_eq!(said.iter().filter(|it| it["role"] == "user").count(), 1, "it was sent once");
    running.stop().await;
}

#[tokio::test]
async fn a_message_id_stands_for_one_message() {
    let running = kit::local(Script::default()).await;
    let mut socket = connect(running.address).await;
    let first = socket.ask(message("abc", "m1")).await;
    let again = socket.ask(message("abc", "m1")).await;
    assert_eq!((&again["type"], &again["after"]), (&json!("ack"), &first["after"]));
    let mut other = message("abc", "m1");
    other["content"] = json!("Something else.");
    let refused = socket.ask(other).await;
    assert_eq!((&refused["type"], &refused["messageId"]), (&json!("error"), &json!("m1")));
    let session = running.engine.sessions(10).await.expect("sessions");
    assert_eq!(session.len(), 1, "one conversation");
    running.stop().await;
}

#[tokio::test]
async fn two_tenants_use_the_same_name_for_two_conversations() {
    let running = kit::tenants(Script::default()).await;
    let mut ann = crate::socket::connect_as(running.address, Some(kit::ANN)).await;
    let mut bob = crate::socket::connect_as(running.address, Some(kit::BOB)).await;
    let mut secret = message("abc", "m1");
    secret["content"] = json!("secret-of-ann");
    let anns = ann.ask(secret).await;
    let bobs = bob.ask(message("abc", "m1")).await;
    assert_ne!(anns["sessionId"], bobs["sessionId"]);
    let frames = bob.until(|frame| ends(frame, "m1")).await;
    assert!(frames.iter().all(|frame| !frame.to_string().contains("secret-of-ann")));
    for id in [&anns["sessionId"], &json!("nothing-of-that-name")] {
        let refused = bob.ask(json!({ "type": "subscribe", "conversationId": id })).await;
        assert_eq!((&refused["type"], &refused["reason"]), (&json!("error"), &json!("not_found")));
    }
    let mut into = message("abc", "m2");
    into["conversationId"] = anns["sessionId"].clone();
    assert_eq!(bob.ask(into).await["reason"], "not_found");
    running.stop().await;
}
