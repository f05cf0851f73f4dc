//! Connections that want to be held open, or to hold everyone up.

use std::time::Duration;

use roundtable_server::{Limits, Settings};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::client::get;
use crate::kit::{self, Running};

/// So long that nobody who means well needs it, and so short that a test may wait for it.
const SHORT: Duration = Duration::from_millis(200);

async fn with(limits: Limits) -> Running {
    kit::start(kit::asking(), Settings { limits, ..Settings::default() }).await
}

/// Sends bytes, one at a time, and reads what comes until the server hangs up.
async fn trickle(running: &Running, bytes: &[u8]) -> String {
    let mut stream = TcpStream::connect(running.address).await.expect("a connection");
    stream.set_nodelay(true).expect("a connection");
    for byte in bytes {
        stream.write_all(&[*byte]).await.expect("a connection");
    }
    let mut answer = Vec::new();
    // A server that hangs up before all was read may reset the connection.
    let _ = stream.read_to_end(&mut answer).await;
    String::from_utf8_lossy(&answer).into_owned()
}

#[tokio::test]
async fn s22_a_request_that_never_ends_is_hung_up_on_and_others_are_served() {
    let running = with(Limits { head_time: SHORT, ..Limits::default() }).await;
    let slow = [
        "",
        "G",
        "GET /health HTTP/1.1\r\n",
        "GET /health HTTP/1.1\r\nhost: localhost\r\nx-a: b\r\nx-c: ",
    ];
    let slow = slow.map(|begun| trickle(&running, begun.as_bytes()));
    let others = async {
        for _ in 0..20 {
            assert_eq!(get(running.address, "/health").send().await.status, 200);
        }
    };
    let (answers, ()) = tokio::join!(futures_util::future::join_all(slow), others);
    for answer in answers {
        assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 408"), "{answer}");
    }
    running.stop().await;
}

#[tokio::test]
async fn s22_a_body_that_takes_too_long_is_refused_and_changes_nothing() {
    let running = with(Limits { body_time: SHORT, ..Limits::default() }).await;
    let session = kit::session(&running.engine, None, "x").await;
    session.ask("Go.").await.expect("a round");
    let before = session.log().await.expect("a log");
    for path in [format!("/api/sessions/{}/context-results", session.id()), "/mcp".to_owned()] {
        let begun = format!(
            "POST {path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n\
             accept: application/json, text/event-stream\r\ncontent-length: 900\r\n\r\n\
             {{\"contextResults\":["
        );
        let answer = trickle(&running, begun.as_bytes()).await;
        assert!(answer.starts_with("HTTP/1.1 408") && answer.contains("too_slow"), "{answer}");
    }
    assert_eq!(session.log().await.expect("a log"), before);
    running.stop().await;
}

#[tokio::test]
async fn s22_http2_is_not_spoken_so_its_floods_find_nobody() {
    let running = with(Limits::default()).await;
    let preface = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
    let settings = [0, 0, 0, 4, 0, 0, 0, 0, 0];
    // Headers without an end, again and again, and resets of what was never begun.
    let continuation = [0, 0, 1, 9, 0, 0, 0, 0, 1, 0x82];
    let reset = [0, 0, 4, 3, 0, 0, 0, 0, 1, 0, 0, 0, 8];
    let flood = [preface.as_slice(), &settings, &continuation, &reset].concat();
    let answer = trickle(&running, &flood).await;
    assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 4"), "{answer:?}");
    let asks = "GET /health HTTP/1.1\r\nhost: localhost\r\nconnection: upgrade, http2-settings, close\r\n\
                upgrade: h2c\r\nhttp2-settings: AAMAAABkAAQAAP__\r\n\r\n";
    let answer = trickle(&running, asks.as_bytes()).await;
    assert!(answer.starts_with("HTTP/1.1 200"), "it stays what it was: {answer}");
    running.stop().await;
}

#[tokio::test]
async fn s22_a_head_that_is_too_long_or_has_too_many_lines_is_refused() {
    let running = with(Limits::default()).await;
    let long = format!("x-long: {}\r\n", "x".repeat(100_000));
    let many: String = (0..200).map(|index| format!("x-{index}: x\r\n")).collect();
    for more in [long, many] {
        let mut stream = TcpStream::connect(running.address).await.expect("a connection");
        let head = format!("GET /health HTTP/1.1\r\nhost: localhost\r\n{more}\r\n");
        let _ = stream.write_all(head.as_bytes()).await;
        let mut first = [0; 12];
        stream.read_exact(&mut first).await.expect("an answer");
        assert_eq!(&first, b"HTTP/1.1 431");
    }
    running.stop().await;
}

#[tokio::test]
async fn s22_there_are_so_many_connections_and_no_more() {
    let running = with(Limits { connections: 1, ..Limits::default() }).await;
    let session = kit::session(&running.engine, None, "x").await;
    let path = format!("/api/sessions/{}/events", session.id());
    let mut events = get(running.address, &path).stream().await;
    assert!(events.next().await.is_some());
    let refused = get(running.address, "/health").send().await;
    assert_eq!(refused.problem(), (503, "too_many_connections".to_owned()));
    assert!(refused.headers.contains("retry-after: 1"));
    session.complete("it was a test").await.expect("an end");
    while events.next().await.is_some() {}
    drop(events);
    // The place is free a moment after the reader hears of the end.
    while get(running.address, "/health").send().await.status != 200 {}
    running.stop().await;
}
