//! A repeated request with an idempotency key runs once.

use roundtable::prelude::*;
use serde_json::json;

use super::{chunks, completion, say, session, text_of, with};
use crate::client::Request;
use crate::kit::{self, ANN, BOB, Running};

fn keyed(running: &Running, text: &str) -> Request {
    completion(running, &say(text)).header("idempotency-key", "k1")
}

#[tokio::test]
async fn a_repeated_request_is_answered_alike_and_runs_once() {
    let directory = tempfile::tempdir().expect("a directory");
    let script = || Script::default().voice("supervisor", [Reply::text("Once.")]);
    let before = kit::on(directory.path(), script()).await;
    let first = keyed(&before, "Hi").send().await;
    assert_eq!(first.json()["choices"][0]["message"]["content"], "Once.");
    assert_eq!(keyed(&before, "Hi").send().await.json(), first.json());
    assert_eq!(before.model.count(), 1);
    before.end().await;
    let after = kit::on(directory.path(), script()).await;
    assert_eq!(keyed(&after, "Hi").send().await.json(), first.json(), "after a restart");
    assert_eq!(after.model.count(), 0);
    let other = keyed(&after, "Something else").send().await;
    assert_eq!(
        (other.status, &other.json()["error"]["code"]),
        (422, &json!("idempotency_key_reused"))
    );
    after.stop().await;
}

#[tokio::test]
async fn two_requests_at_once_with_one_key_read_the_same_round() {
    let script = Script::default().voice("supervisor", [Reply::text("Once.").at_gate("go")]);
    let running = kit::local(script).await;
    let (one, two) = (keyed(&running, "Hi"), keyed(&running, "Hi"));
    let sent = [
        tokio::spawn(async move { one.send().await }),
        tokio::spawn(async move { two.send().await }),
    ];
    running.model.gates().open("go");
    let [one, two] = sent;
    let (one, two) = (one.await.expect("no panic"), two.await.expect("no panic"));
    assert_eq!((one.status, one.json()), (200, two.json()));
    assert_eq!(running.model.count(), 1);
    running.stop().await;
}

#[tokio::test]
async fn a_key_means_another_request_for_another_caller() {
    let running = kit::tenants(Script::default()).await;
    let (ann, bob) = (keyed(&running, "Hi").token(ANN), keyed(&running, "Hi").token(BOB));
    let (ann, bob) = (ann.send().await.json(), bob.send().await.json());
    assert_ne!(ann["id"], bob["id"]);
    assert_eq!(running.model.count(), 2);
    running.stop().await;
}

#[tokio::test]
async fn a_request_that_was_cut_off_runs_again_under_its_key() {
    let reply = Reply::text("Not so fast.").in_pieces(6, 0).with_middle_gate("go");
    let running = kit::local(Script::default().voice("supervisor", [reply])).await;
    let streamed = with(say("Hi"), json!({ "stream": true }));
    let request = completion(&running, &streamed).header("idempotency-key", "k1");
    let mut events = request.stream().await;
    let id = events.next().await.expect("a chunk").data["id"].clone();
    events.next().await.expect("a text");
    drop(events);
    let kept = session(&running, &id);
    super::stops::stopped(&kept).await;
    running.model.gates().open("go");
    let again = chunks(&request.send().await);
    assert_eq!(text_of(&again), "Not so fast.");
    assert_eq!(session(&running, &again[0]["id"]).id(), kept.id());
    let state = kept.state().await.expect("a state");
    assert_eq!((state.last_number, state.marks.back().map(|mark| mark.take)), (1, Some(2)));
    assert_eq!(text_of(&chunks(&request.send().await)), "Not so fast.", "and no third time");
    assert_eq!(running.model.count(), 2);
    running.stop().await;
}
