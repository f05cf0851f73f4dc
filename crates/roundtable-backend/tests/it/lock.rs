//! Someone else holds the lock of the file.

use std::path::Path;

use roundtable_backend::{OpenError, SqliteArchive, SqliteStore};
use roundtable_core::id::NodeId;
use roundtable_ports::{Directory as _, Inbox as _, LogError, PostedCommand};
use roundtable_testing::say;
use rusqlite::Connection;

use crate::table::session;

/// Someone else who does this to the file and does not end.
fn other(directory: &Path, sql: &str) -> Connection {
    let other = Connection::open(directory.join("roundtable.db")).unwrap();
    other.execute_batch(sql).unwrap();
    other
}

#[tokio::test]
async fn a_foreign_write_lock_refuses_what_is_written_and_stops_no_reader_from_opening() {
    let directory = tempfile::tempdir().unwrap();
    drop(SqliteStore::open(directory.path()).unwrap());
    let other = other(directory.path(), "BEGIN IMMEDIATE");
    let store = SqliteStore::open(directory.path()).unwrap();
    let archive = SqliteArchive::open(directory.path()).unwrap();
    assert_eq!(archive.list(1).await, Ok(Vec::new()));
    assert_eq!(store.list(1).await, Ok(Vec::new()));
    let mine = session("mine");
    let command = say(&mine, "m1", "Hello?");
    let posted =
        PostedCommand { id: "cmd_1".parse().unwrap(), session: mine, command, digest: None };
    assert_eq!(store.post(&posted).await, Err(LogError::Busy));
    other.execute_batch("ROLLBACK").unwrap();
    assert_eq!(store.post(&posted).await, Ok(()));
    assert_eq!(store.list_posted(&NodeId::new("n1").unwrap()).await, Ok(Vec::new()));
}

#[test]
fn a_file_that_another_process_keeps_to_itself_is_refused_with_what_to_do() {
    let directory = tempfile::tempdir().unwrap();
    drop(SqliteStore::open(directory.path()).unwrap());
    let alone = "PRAGMA locking_mode = EXCLUSIVE; BEGIN IMMEDIATE; CREATE TABLE other (x); COMMIT";
    let _other = other(directory.path(), alone);
    let why = "another process holds a lock on it; retry when that process is done, or end it";
    let path = directory.path().join("roundtable.db");
    let refused = OpenError::Unusable { path, why: why.to_owned() };
    assert_eq!(SqliteArchive::open(directory.path()).err(), Some(refused.clone()));
    assert_eq!(SqliteStore::open(directory.path()).err(), Some(refused));
}
