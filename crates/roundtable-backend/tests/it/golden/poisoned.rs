//! A session that version 5 could write and not read: a tool call in it has arguments with 127
//! levels. It is readable again, to the letter, and goes on.

use std::sync::Arc;

use roundtable_backend::SqliteStore;
use roundtable_core::event::{Body, Seq, ToolCallEvent};
use roundtable_core::json::levels;
use roundtable_models::scripted::{Reply, Script, ScriptedModel};
use roundtable_ports::{Snapshot, Store};
use roundtable_testing::say;
use serde_json::{Value, json};

use super::{events, folder, make, restored_from};
use crate::table::{events_until, session, shell};

fn poisoned() -> tempfile::TempDir {
    restored_from(&folder("v5").join("poisoned.sql"))
}

#[tokio::test]
async fn s23_a_session_that_was_poisoned_before_is_read_to_the_letter() {
    let directory = poisoned();
    let store = SqliteStore::open(directory.path()).unwrap();
    let events = events(&store, &session("poisoned")).await;
    assert_eq!(events.len(), 25);
    let arguments: Vec<&Value> = events
        .iter()
        .filter_map(|event| match &event.body {
            Body::ToolCall(ToolCallEvent::ToolCallRequested { arguments, .. }) => Some(arguments),
            _ => None,
        })
        .collect();
    let deep = (0..127).fold(json!(1), |inner, _| Value::Array(vec![inner]));
    assert_eq!(arguments, [&deep]);
    assert_eq!(levels(&deep), 127);
}

#[tokio::test]
async fn s23_a_session_that_was_poisoned_before_goes_on() {
    let directory = poisoned();
    let store = Arc::new(SqliteStore::open(directory.path()).unwrap());
    let script = Script::default().voice("deb", [Reply::text("A third round.")]);
    let engine = make::start_with(&store, Arc::new(ScriptedModel::new(script))).await;
    let handle = engine.session(&session("poisoned"));
    let before = handle.state().await.unwrap();
    assert_eq!((before.head, before.rounds_completed), (Seq(25), 2));
    handle.command(say(handle.id(), "m3", "Again."), None).await.unwrap();
    let closed = events_until(&handle, |event| {
        event.seq > before.head && event.body.kind() == "round_closed"
    });
    closed.await;
    assert_eq!(handle.state().await.unwrap().rounds_completed, 3);
    engine.shutdown().await;
    // From the beginning, and from the snapshot that the engine left.
    let store = Store::of(store);
    let snapshot: Option<Snapshot> = store.log.find_snapshot(handle.id()).await.unwrap();
    assert!(snapshot.is_some());
    let text = "SELECT count(*) FROM message WHERE session = 1";
    assert_eq!(crate::table::lines(&shell(directory.path()), text), ["6"]);
}
