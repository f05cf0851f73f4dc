//! A session is deleted: its events, everything that was made of them, and its bytes in the file.

use roundtable_backend::DeleteError;
use roundtable_core::id::NodeId;
use roundtable_ports::{LeaseError, LogError, Store};

use crate::erase::occurrences;
use crate::table::{Table, append_as, lines, rounds, session, shell};

/// A word that occurs nowhere else.
const CANARY: &str = "zanzibarquokka";

fn node() -> NodeId {
    NodeId::new("deleter").unwrap()
}

#[tokio::test]
async fn a_deleted_session_leaves_nothing_behind_and_others_stay() {
    let directory = tempfile::tempdir().unwrap();
    let table = Table::at(directory.path()).await;
    let lake = table.play("lake", 1).await;
    table.say(&lake, "m2", &format!("My name is {CANARY}.")).await;
    rounds(&lake, 2).await;
    table.play("hill", 1).await;
    table.engine.shutdown().await;
    assert!(occurrences(directory.path(), CANARY) > 0);
    table.store.delete(&session("lake"), &node()).await.unwrap();
    assert_eq!(occurrences(directory.path(), CANARY), 0);
    let store = Store::of(table.store.clone());
    assert!(store.directory.find(&session("lake")).await.unwrap().is_none());
    assert!(store.directory.find(&session("hill")).await.unwrap().is_some());
    let shell = shell(directory.path());
    for rows in ["session", "command", "agent", "round", "message", "snapshot"] {
        let left = format!("SELECT count(*) FROM {rows}");
        let lake = match rows {
            "session" => format!("{left} WHERE id = 'ses_lake'"),
            _ => format!("{left} WHERE session NOT IN (SELECT number FROM session)"),
        };
        assert_eq!(lines(&shell, &lake), ["0"], "{rows}");
    }
    let strays = "SELECT count(*) FROM event WHERE id >> 32 NOT IN (SELECT number FROM session)";
    assert_eq!(lines(&shell, strays), ["0"]);
    let check = "INSERT INTO message_text (message_text, rank) VALUES ('integrity-check', 1)";
    shell.execute_batch(check).unwrap();
    let again = table.store.delete(&session("lake"), &node()).await;
    assert_eq!(again, Err(DeleteError::NotFound));
}

#[tokio::test]
async fn f38_who_wrote_a_session_before_it_was_deleted_cannot_bring_it_back() {
    let directory = tempfile::tempdir().unwrap();
    let table = Table::at(directory.path()).await;
    table.play("lake", 1).await;
    table.engine.shutdown().await;
    let store = Store::of(table.store.clone());
    let before = NodeId::new("before").unwrap();
    store.leases.renew(&before).await.unwrap();
    let own = store.leases.claim_one(&session("lake"), &before).await.unwrap();
    let refused = table.store.delete(&session("lake"), &node()).await;
    assert_eq!(refused, Err(DeleteError::Lease(LeaseError::Held { node: before })));
    store.leases.release(&own).await.unwrap();
    table.store.delete(&session("lake"), &node()).await.unwrap();
    let late = append_as(&store, &own).await;
    assert!(matches!(late, Err(LogError::Fenced { .. })), "{late:?}");
    assert!(store.directory.find(&session("lake")).await.unwrap().is_none());
}
