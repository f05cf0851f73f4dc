//! Images and text files in messages, over HTTP and WebSocket.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use roundtable::prelude::*;
use serde_json::{Value, json};

use crate::client::{Answer, get, post};
use crate::kit::{self, ANN, BOB, Running};
use crate::socket::{connect, ends};

const PNG: &[u8] = b"\x89PNG\r\n\x1a\n and so on";

fn script() -> Script {
    Script::default().voice("supervisor", [Reply::text("Answer to {input}")])
}

fn file(name: &str, bytes: &[u8]) -> Value {
    json!({ "name": name, "data": BASE64.encode(bytes) })
}

async fn send(running: &Running, attachments: Value) -> Answer {
    let body = json!({ "content": "Look.", "messageId": "m1", "attachments": attachments });
    post(running.address, "/api/conversations/abc/messages", &body).token(ANN).send().await
}

async fn messages(running: &Running) -> Vec<Value> {
    let answer = get(running.address, "/api/sessions/abc/messages").token(ANN).send().await;
    answer.json()["messages"].as_array().expect("messages").clone()
}

#[tokio::test]
async fn files_are_sent_listed_and_downloaded_as_they_were() {
    let running = kit::tenants(script()).await;
    let text = "Grüße,\n<script>alert(1)</script>".as_bytes();
    let sent = send(&running, json!([file("cat.txt", PNG), file("plan \"a\".md", text)])).await;
    assert_eq!(sent.status, 200, "{}", sent.body);
    let attachments = messages(&running).await[0]["attachments"].clone();
    let named = |index: usize| {
        let it = &attachments[index];
        (it["name"].as_str(), it["mediaType"].as_str(), it["bytes"].as_u64())
    };
    assert_eq!(named(0), (Some("plan \"a\".md"), Some("text/plain"), Some(text.len() as u64)));
    assert_eq!(named(1), (Some("image.png"), Some("image/png"), Some(PNG.len() as u64)));
    let path = |index: usize| {
        let id = attachments[index]["id"].as_str().expect("an id");
        format!("/api/sessions/abc/attachments/{id}")
    };
    let plan = get(running.address, &path(0)).token(ANN).send().await;
    assert_eq!((plan.status, plan.body.as_bytes()), (200, text));
    for header in [
        "content-type: text/plain; charset=utf-8",
        "content-disposition: attachment; filename=\"plan__a_.md\"; filename*=utf-8''plan%20%22a%22.md",
        "x-content-type-options: nosniff",
        "content-security-policy: default-src 'none'; sandbox",
    ] {
        assert!(plan.headers.to_lowercase().contains(header), "{header}: {}", plan.headers);
    }
    let image = get(running.address, &path(1)).token(ANN).send().await;
    assert!(image.headers.contains("content-type: image/png"), "{}", image.headers);
    assert_eq!(get(running.address, &path(0)).token(BOB).send().await.status, 404);
    running.stop().await;
}

#[tokio::test]
async fn s18_what_is_neither_text_nor_an_image_is_refused_and_opens_nothing() {
    let running = kit::tenants(script()).await;
    for (attachment, what) in [
        (file("bomb.txt", b"\x1f\x8b\x08\x00\x00\x00"), "attachment 1: \"bomb.txt\" is neither"),
        (file("../../etc/passwd", b"x"), "attachment 1: invalid file name"),
        (file("a\u{202e}b", b"x"), "attachment 1: invalid file name"),
        (file("empty", b""), "invalid input"),
        (json!({ "name": "x", "data": "not base64!" }), "attachment 1: data is not valid Base64"),
        (json!({ "name": "x", "data": "eA==", "mediaType": "image/png" }), "invalid input"),
    ] {
        let refused = send(&running, json!([attachment])).await;
        assert_eq!(refused.problem(), (400, "invalid".to_owned()), "{attachment}");
        let error = refused.json()["error"].as_str().expect("an error").to_owned();
        assert!(error.starts_with(what), "{error}");
    }
    let many: Vec<Value> = (0..17).map(|_| file("x", b"x")).collect();
    assert_eq!(send(&running, json!(many)).await.problem(), (400, "too_many".to_owned()));
    let long = send(&running, json!([file("long.txt", &b"x".repeat(300_000))])).await;
    assert_eq!(long.problem(), (400, "invalid".to_owned()), "longer than a message may be");
    let huge = send(&running, json!([file("huge.txt", &b"x".repeat(8_000_000))])).await;
    assert_eq!(huge.status, 413, "{}", huge.body);
    let listed = get(running.address, "/api/sessions").token(ANN).send().await.json();
    let opened = listed["sessions"].as_array().expect("sessions").len();
    assert!(opened <= 1, "at most the conversation of the file that only its length forbids");
    for id in ["0-1", "1-1", "2-9", "x", "..%2f..%2fx", "99999999999-1"] {
        let path = format!("/api/sessions/abc/attachments/{id}");
        assert_eq!(get(running.address, &path).token(ANN).send().await.status, 404, "{id}");
    }
    running.stop().await;
}

#[tokio::test]
async fn a_message_with_a_file_is_sent_over_a_websocket_and_the_agent_gets_it_as_data() {
    let running = kit::local(script()).await;
    let mut socket = connect(running.address).await;
    let message = json!({
        "type": "message", "conversationId": "abc", "messageId": "m1", "content": "Read.",
        "attachments": [file("notes.txt", b"canary-file")],
    });
    let frames = socket.ask_collecting(message).await;
    if !frames.iter().any(|frame| ends(frame, "m1")) {
        socket.until(|frame| ends(frame, "m1")).await;
    }
    let answer = get(running.address, "/api/sessions/abc/messages").send().await.json();
    let answered = answer["messages"][1]["content"].as_str().expect("an answer").to_owned();
    assert!(
        answered.contains("The file \"notes.txt\", which was sent with the message."),
        "{answered}"
    );
    assert!(answered.contains("\ncanary-file\n</file-"), "{answered}");
    running.stop().await;
}

#[tokio::test]
async fn f38_a_deleted_conversation_takes_its_files_with_it() {
    let directory = tempfile::tempdir().expect("a directory");
    let running = kit::on(directory.path(), script()).await;
    let path = "/api/conversations/abc/messages";
    let canary = b"zanzibarquokka-in-a-file";
    let body = json!({ "content": "Look.", "attachments": [file("a.txt", canary)] });
    assert_eq!(post(running.address, path, &body).send().await.status, 200);
    let deleted =
        crate::client::request(running.address, "DELETE", "/api/sessions/abc").send().await;
    assert_eq!(deleted.status, 200, "{}", deleted.body);
    running.stop().await;
    for entry in std::fs::read_dir(directory.path()).expect("a directory") {
        let path = entry.expect("an entry").path();
        let bytes = if path.is_file() { std::fs::read(&path).expect("bytes") } else { Vec::new() };
        let found = bytes.windows(canary.len()).any(|window| window == canary);
        assert!(!found, "{}", path.display());
    }
}
