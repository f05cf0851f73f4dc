//! Frames that are none are named, and the connection goes on where that is possible (S21).

use roundtable::prelude::*;
use roundtable_server::{Limits, Settings, SocketLimits};
use serde_json::json;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::protocol::frame::coding::{Data, OpCode};
use tokio_tungstenite::tungstenite::protocol::frame::{Frame, FrameHeader};

use super::message;
use crate::kit;
use crate::socket::{connect, ends};

#[tokio::test]
async fn s21_every_malformed_frame_gets_an_error_and_the_connection_stays() {
    let running = kit::local(Script::default()).await;
    let mut socket = connect(running.address).await;
    let deep = format!(r#"{{"type":"message","content":{}1{}}}"#, "[".repeat(500), "]".repeat(500));
    let corpus = [
        ("", "malformed"),
        ("\0", "malformed"),
        ("hello", "malformed"),
        ("[1,2]", "malformed"),
        ("null", "malformed"),
        ("{", "malformed"),
        (r#"{"type":null}"#, "malformed"),
        (r#"{"type":"message","id":{}}"#, "malformed"),
        (deep.as_str(), "malformed"),
        (r#"{"type":""}"#, "unknown_operation"),
        (r#"{"type":"no-such-frame"}"#, "unknown_operation"),
        (r#"{"type":"message"}"#, "invalid"),
        (r#"{"type":"message","content":3}"#, "invalid"),
        (r#"{"type":"message","content":""}"#, "invalid"),
        (r#"{"type":"message","content":"x","unknown":1}"#, "invalid"),
        (r#"{"type":"message","content":"x","onBusy":"sometimes"}"#, "invalid"),
        (r#"{"type":"message","content":"x","conversationId":"../x"}"#, "invalid"),
        (r#"{"type":"message","content":"x","messageId":"a b"}"#, "invalid"),
        (r#"{"type":"message","content":"x","metadata":{"turnId":"a/b"}}"#, "invalid"),
        (r#"{"type":"subscribe"}"#, "invalid"),
        (r#"{"type":"subscribe","conversationId":"../../etc"}"#, "not_found"),
        (r#"{"type":"subscribe","conversationId":"nobody"}"#, "not_found"),
        (r#"{"type":"stop"}"#, "invalid"),
        (r#"{"type":"stop","conversationId":"nobody"}"#, "not_found"),
        (r#"{"type":"interaction-response","conversationId":"nobody"}"#, "invalid"),
        (r#"{"type":"new-conversation","conversationId":"ses_1"}"#, "invalid"),
        (r#"{"type":"new-conversation","agents":["nobody"]}"#, "invalid"),
    ];
    for (text, reason) in corpus {
        socket.send_raw(Message::text(text)).await;
        let answer = socket.next().await;
        assert_eq!(
            (&answer["type"], &answer["reason"]),
            (&json!("error"), &json!(reason)),
            "{text}: {answer}"
        );
        assert!(answer["error"].as_str().is_some_and(|it| it.len() > 15), "{answer}");
    }
    socket.send_raw(Message::binary(vec![1, 2, 3])).await;
    assert_eq!(socket.next().await["reason"], "binary");
    socket.send_raw(Message::Ping(vec![7].into())).await;
    assert_eq!(running.engine.sessions(9).await.expect("sessions").len(), 0, "nothing was opened");
    socket.ask(message("abc", "m1")).await;
    socket.until(|frame| ends(frame, "m1")).await;
    running.stop().await;
}

#[tokio::test]
async fn s21_a_frame_that_is_too_large_is_refused_and_one_that_is_far_too_large_ends_the_connection()
 {
    let sockets = SocketLimits { frame: 1_000, ..SocketLimits::default() };
    let limits = Limits { sockets, ..Limits::default() };
    let running = kit::start(Script::default(), Settings { limits, ..Settings::default() }).await;
    let mut socket = connect(running.address).await;
    socket.send(json!({ "type": "message", "content": "x".repeat(2_000) })).await;
    assert_eq!(socket.next().await["reason"], "too_large");
    socket.send_raw(Message::text("x".repeat(100_000))).await;
    assert_eq!(socket.next().await["reason"], "too_large");
    assert_eq!(socket.close_code().await, Some(1009));
    assert_eq!(crate::client::get(running.address, "/health").send().await.status, 200);
    running.stop().await;
}

#[tokio::test]
async fn s21_text_that_is_not_utf8_is_named_before_the_connection_ends() {
    let running = kit::local(Script::default()).await;
    let mut socket = connect(running.address).await;
    let header = FrameHeader {
        opcode: OpCode::Data(Data::Text),
        mask: Some([0; 4]),
        ..FrameHeader::default()
    };
    let frame = Frame::from_payload(header, vec![0xff, 0xfe].into());
    socket.send_raw(Message::Frame(frame)).await;
    assert_eq!(socket.next().await["reason"], "malformed");
    assert_eq!(socket.close_code().await, Some(1007));
    assert_eq!(crate::client::get(running.address, "/health").send().await.status, 200);
    running.stop().await;
}

#[tokio::test]
async fn a_connection_follows_so_many_conversations_and_no_more() {
    let sockets = SocketLimits { subscriptions: 2, ..SocketLimits::default() };
    let limits = Limits { sockets, ..Limits::default() };
    let running = kit::start(Script::default(), Settings { limits, ..Settings::default() }).await;
    let mut socket = connect(running.address).await;
    for name in ["one", "two"] {
        assert_eq!(socket.ask(message(name, "m1")).await["type"], "ack");
    }
    let refused = socket.ask(message("three", "m1")).await;
    assert_eq!(refused["reason"], "too_many_subscriptions");
    assert_eq!(socket.ask(message("two", "m2")).await["type"], "ack", "it is followed already");
    let left = socket.ask(json!({ "type": "unsubscribe", "conversationId": "one" })).await;
    assert_eq!(left["type"], "unsubscribed");
    assert_eq!(socket.ask(message("three", "m1")).await["type"], "ack");
    running.stop().await;
}

#[tokio::test]
async fn a_server_that_stops_says_where_to_go_on() {
    let running = kit::local(Script::default()).await;
    let mut socket = connect(running.address).await;
    socket.ask(message("abc", "m1")).await;
    let frames = socket.until(|frame| ends(frame, "m1")).await;
    running.ask_to_stop();
    let mut last = frames.last().and_then(|it| it["seq"].as_u64());
    let end = loop {
        let frame = socket.next().await;
        if frame["type"] == "subscription_ended" {
            break frame;
        }
        last = frame["seq"].as_u64().or(last);
    };
    assert_eq!(end["reason"], "stopping");
    assert!(end["resumeFrom"].as_u64() >= last, "{end}");
    assert_eq!(socket.close_code().await, Some(1001));
    running.stop().await;
}
