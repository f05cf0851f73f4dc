//! A reader that begins anywhere gets what everyone else has from there on.

use roundtable::prelude::*;
use roundtable_server::{Limits, Settings};
use serde_json::{Value, json};

use super::{message, whole, whole_after};
use crate::kit::{self, Running};
use crate::socket::{Socket, connect, ends};

/// A conversation with a delegation, a question to the person, a queued and a withdrawn message, a
/// stop and a title; it is over.
async fn eventful(socket: &mut Socket, running: &Running) {
    for id in ["m1", "m2", "m3"] {
        socket.ask(message("abc", id)).await;
    }
    let withdraw =
        json!({ "type": "withdraw-message", "conversationId": "abc", "messageId": "m3" });
    socket.ask(withdraw).await;
    running.model.gates().open("decide");
    let asked = socket.until(|it| it["type"] == "interaction_requested").await;
    let answer = json!({
        "type": "interaction-response", "conversationId": "abc", "result": "Red",
        "requestId": asked.last().expect("a request")["requestId"],
    });
    socket.ask(answer).await;
    socket.until(|it| it["type"] == "interaction_requested").await;
    socket.ask(json!({ "type": "stop", "conversationId": "abc" })).await;
    let listed = running.engine.sessions(2).await.expect("sessions");
    let session = running.engine.session(&listed[0].session);
    session.complete("it was a test").await.expect("an end");
}

fn script() -> Script {
    let delegate = json!({ "agent": "researcher", "mission": "dig", "rationale": "it knows" });
    let replies = [
        Reply::calls([Call::new("delegate", delegate)]).at_gate("decide"),
        Reply::calls([Call::new("ask", json!({ "question": "Which color?" }))]),
        Reply::text("Answer to {input}"),
    ];
    Script::default().voice("supervisor", replies).voice("researcher", [Reply::text("Dug.")])
}

#[tokio::test]
async fn a_reader_cut_at_every_event_gets_the_same_frames_with_the_same_ids() {
    let running = kit::local(script()).await;
    let mut socket = connect(running.address).await;
    eventful(&mut socket, &running).await;
    let mut reader = connect(running.address).await;
    let all = whole(&mut reader, "abc").await;
    let last = all.last().and_then(|it| it["seq"].as_u64()).expect("a number");
    assert!(all.len() > 20 && last > 40, "{} frames up to {last}", all.len());
    for frame in all.iter().filter(|it| {
        !["conversation_created", "conversation_updated"]
            .contains(&it["type"].as_str().unwrap_or_default())
    }) {
        assert!(frame["messageId"].is_string() && frame["turnId"].is_string(), "{frame}");
    }
    for from in 0..=last {
        let rest: Vec<Value> =
            all.iter().filter(|it| it["seq"].as_u64() > Some(from)).cloned().collect();
        assert_eq!(whole_after(&mut reader, "abc", from).await, rest, "after {from}");
    }
    running.stop().await;
}

#[tokio::test]
async fn every_event_of_the_log_is_sent_to_those_who_want_events() {
    let running = kit::local(script()).await;
    let mut socket = connect(running.address).await;
    eventful(&mut socket, &running).await;
    let listed = running.engine.sessions(1).await.expect("sessions");
    let log = running.engine.session(&listed[0].session).log().await.expect("a log");
    let mut reader = connect(running.address).await;
    let subscribe = json!({
        "type": "subscribe", "conversationId": listed[0].session, "fromSeq": 0, "events": true,
    });
    assert_eq!(reader.ask(subscribe).await["headSeq"], log.len());
    let mut frames = reader.until(|it| it["type"] == "subscription_ended").await;
    let end = frames.pop().expect("an end");
    assert_eq!((&end["reason"], &end["resumeFrom"]), (&json!("completed"), &json!(log.len())));
    let events: Vec<&Value> = frames.iter().filter(|it| it["type"] == "event").collect();
    assert_eq!(events.len(), log.len());
    for (sent, event) in events.iter().zip(&log) {
        assert_eq!((&sent["seq"], &sent["kind"]), (&json!(event.seq), &json!(event.body.kind())));
        assert_eq!(sent["round"], json!(event.place.round), "{sent}");
        assert!(event.place.round.is_none() || sent["messageId"].is_string(), "{sent}");
    }
    running.stop().await;
}

#[tokio::test]
async fn f21_a_reader_that_does_not_keep_up_is_told_where_to_go_on_and_misses_nothing() {
    let patience = std::time::Duration::ZERO;
    let limits = Limits { patience, ..Limits::default() };
    let running = kit::start(Script::default(), Settings { limits, ..Settings::default() }).await;
    let mut socket = connect(running.address).await;
    socket.ask(message("abc", "m1")).await;
    let (mut from, mut seen, mut ends_seen) = (0, Vec::new(), 0);
    // With no patience at all, every subscription ends after its first frame.
    while !seen.iter().any(|frame| ends(frame, "m1")) {
        let subscribe = json!({ "type": "subscribe", "conversationId": "abc", "fromSeq": from });
        let mut answers = socket.ask_collecting(subscribe).await;
        if answers.last().expect("an answer")["type"] != "subscribed" {
            continue;
        }
        answers.clear();
        let mut frames = socket.until(|it| it["type"] == "subscription_ended").await;
        let end = frames.pop().expect("an end");
        assert_eq!(end["reason"], "slow", "{end}");
        from = end["resumeFrom"].as_u64().expect("a number");
        seen.extend(frames.into_iter().filter(|it| it["seq"].is_u64()));
        ends_seen += 1;
    }
    assert!(ends_seen > 3);
    let numbers: Vec<_> = seen.iter().map(|it| it["seq"].as_u64()).collect();
    assert!(numbers.is_sorted(), "{numbers:?}");
    running.stop().await;
}

#[tokio::test]
async fn f23_a_place_beyond_the_end_is_refused() {
    let running = kit::local(Script::default()).await;
    let mut socket = connect(running.address).await;
    socket.ask(message("abc", "m1")).await;
    socket.until(|frame| ends(frame, "m1")).await;
    let subscribe =
        |from: Value| json!({ "type": "subscribe", "conversationId": "abc", "fromSeq": from });
    assert_eq!(socket.ask(subscribe(json!(4_000_000))).await["reason"], "beyond_end");
    for bad in [json!(-1), json!("x"), json!(1.5), json!([])] {
        assert_eq!(socket.ask(subscribe(bad)).await["type"], "error");
    }
    running.stop().await;
}
