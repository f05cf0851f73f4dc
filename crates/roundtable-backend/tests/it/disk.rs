//! What a store does when its disk does not do what it should.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};

use roundtable_backend::SqliteStore;
use roundtable_core::event::Seq;
use roundtable_core::id::{IterationId, NodeId};
use roundtable_core::input::Command;
use roundtable_engine::EngineError;
use roundtable_ports::{LogError, SessionLog as _, Store};
use roundtable_testing::say;

use crate::table::{Table, append_opening, lines, rounds, session, shell};

/// What a message of this length is.
fn long(bytes: usize) -> String {
    "words and words ".repeat(bytes / 16)
}

/// 256 KB that differ from all others on every page: what stays the same is not written again.
fn other_words(number: u32) -> String {
    format!("word {number:011}").repeat(16 * 1024)
}

async fn engine_on(directory: &Path, bytes: u64) -> Table {
    Table::on(SqliteStore::open_within(directory, bytes).unwrap()).await
}

#[tokio::test]
async fn f16_a_full_disk_refuses_keeps_nothing_half_and_works_again_with_room() {
    let directory = tempfile::tempdir().unwrap();
    let room = 512 * 1024;
    let table = engine_on(directory.path(), room).await;
    let lake = table.play("lake", 1).await;
    let mut said = 0;
    let error = loop {
        let id = format!("long{said}");
        match lake.command(say(lake.id(), &id, &long(20_000)), None).await {
            Ok(_) => said += 1,
            Err(error) => break error,
        }
        assert!(said < 100, "it is never full");
    };
    assert_eq!(error, EngineError::Log(LogError::Full));
    assert!(said > 3, "{said}");
    table.engine.stop().await;
    // What was acknowledged is there, what was refused is not, and the chain holds.
    let events = table.store.read(&session("lake"), Seq(1), usize::MAX).await.unwrap();
    let accepted = events.iter().filter(|e| e.body.kind() == "session_input_accepted").count();
    assert_eq!(accepted, said + 1);
    drop((lake, table));
    let whole = lines(&shell(directory.path()), "PRAGMA integrity_check");
    assert_eq!(whole, ["ok"]);

    let table = engine_on(directory.path(), 64 * 1024 * 1024).await;
    let lake = table.engine.session(&session("lake"));
    lake.command(say(lake.id(), "more", &long(20_000)), None).await.unwrap();
    let events = rounds(&lake, said + 2).await;
    let open = events.iter().filter(|event| event.body.kind() == "round_opened").count();
    assert_eq!(open, said + 2, "everything that was acknowledged had its round");
    table.close().await;
}

#[tokio::test]
async fn f16_a_commit_that_does_not_fit_fails_alone() {
    let directory = tempfile::tempdir().unwrap();
    let table = engine_on(directory.path(), 700 * 1024).await;
    let mut handles = Vec::new();
    for index in 0..4 {
        handles.push(table.play(&format!("s{index}"), 0).await);
    }
    // One after another until it is full; then a small one still fits.
    let big = handles[0].clone();
    let mut fits = 0;
    while big.command(say(big.id(), &format!("b{fits}"), &long(100_000)), None).await.is_ok() {
        fits += 1;
        assert!(fits < 20);
    }
    let wants = handles.iter().enumerate().map(|(index, handle)| async move {
        let text = if index == 0 { long(200_000) } else { "Short.".to_owned() };
        handle.command(say(handle.id(), "x", &text), None).await
    });
    let done = futures_util::future::join_all(wants).await;
    assert!(done[0].is_err(), "{:?}", done[0]);
    let small = done[1..].iter().filter(|done| done.is_ok()).count();
    assert!(small >= 2, "{done:?}");
    table.engine.stop().await;
}

#[tokio::test]
async fn a_file_that_was_replaced_is_not_written_any_more() {
    let directory = tempfile::tempdir().unwrap();
    let table = Table::at(directory.path()).await;
    let lake = table.play("lake", 1).await;
    let (file, aside) = (directory.path().join("roundtable.db"), directory.path().join("old.db"));
    std::fs::rename(&file, aside).unwrap();
    std::fs::write(&file, b"").unwrap();
    let refused = lake.command(Command::Pause, None).await.unwrap_err().to_string();
    assert!(
        refused.contains("the database file was moved or replaced; restart this process"),
        "{refused}"
    );
    let refused = table.store.read(&session("lake"), Seq(1), 1).await.unwrap_err().to_string();
    assert!(
        refused.contains("the database file was moved or replaced; restart this process"),
        "{refused}"
    );
    assert_eq!(std::fs::metadata(file).unwrap().len(), 0, "nothing was written into it");
    table.engine.stop().await;
}

/// Something that takes a while to read.
const LONG_READ: &str = "SELECT count(*) FROM session, (WITH RECURSIVE n (x) AS \
                         (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < 5000) SELECT x FROM n)";

/// Two readers by turns: one lets go of what it has seen only when the other has begun, so at every
/// moment there is one.
fn overlapping_readers(path: &Path, stop: &Arc<AtomicBool>) -> Vec<std::thread::JoinHandle<()>> {
    let ((to_one, of_one), (to_two, of_two)) = (channel(), channel());
    let reader = |begins: bool, turn: Receiver<()>, other: Sender<()>| {
        let (shell, stop) = (shell(path), stop.clone());
        std::thread::spawn(move || {
            // Whoever hears nothing any more is the last one.
            if !begins && turn.recv().is_err() {
                return;
            }
            while !stop.load(Ordering::Relaxed) {
                shell.execute_batch("BEGIN; SELECT count(*) FROM session").unwrap();
                if other.send(()).is_err() {
                    return;
                }
                lines(&shell, LONG_READ);
                if turn.recv().is_err() {
                    return;
                }
                shell.execute_batch("COMMIT").unwrap();
            }
        })
    };
    vec![reader(true, of_one, to_two), reader(false, of_two, to_one)]
}

#[tokio::test]
async fn the_write_ahead_log_stays_short_beside_readers_that_are_always_there() {
    let directory = tempfile::tempdir().unwrap();
    let store = Store::of(Arc::new(SqliteStore::open(directory.path()).unwrap()));
    let (node, name) = (NodeId::new("one").unwrap(), session("lake"));
    append_opening(&store, &name, &node).await;
    let own = store.leases.claim_one(&name, &node).await.unwrap();
    let stop = Arc::new(AtomicBool::new(false));
    let readers = overlapping_readers(directory.path(), &stop);
    let iteration = IterationId::new("i").unwrap();
    let log = || std::fs::metadata(directory.path().join("roundtable.db-wal")).unwrap().len();
    let mut longest = 0;
    // 100 MB in all.
    for number in 0..400 {
        store.drafts.put_draft(&own, &iteration, &other_words(number)).await.unwrap();
        longest = longest.max(log());
    }
    stop.store(true, Ordering::Relaxed);
    readers.into_iter().for_each(|reader| reader.join().unwrap());
    println!("at most {longest} bytes");
    assert!(longest < 64 * 1024 * 1024, "{longest} bytes");
}

#[tokio::test]
async fn the_write_ahead_log_is_short_again_after_a_reader_that_stayed_long() {
    let directory = tempfile::tempdir().unwrap();
    let store = Store::of(Arc::new(SqliteStore::open(directory.path()).unwrap()));
    let (node, name) = (NodeId::new("one").unwrap(), session("lake"));
    append_opening(&store, &name, &node).await;
    let own = store.leases.claim_one(&name, &node).await.unwrap();
    let reader = shell(directory.path());
    reader.execute_batch("BEGIN; SELECT count(*) FROM session").unwrap();
    let iteration = IterationId::new("i").unwrap();
    let log = || std::fs::metadata(directory.path().join("roundtable.db-wal")).unwrap().len();
    let mut number = 0;
    while log() < 40 * 1024 * 1024 {
        store.drafts.put_draft(&own, &iteration, &other_words(number)).await.unwrap();
        number += 1;
    }
    reader.execute_batch("COMMIT").unwrap();
    for _ in 0..65 {
        store.drafts.put_draft(&own, &iteration, "short").await.unwrap();
    }
    assert!(log() < 1024 * 1024, "{} bytes", log());
}

#[tokio::test]
async fn a_store_that_is_closed_leaves_one_file() {
    let directory = tempfile::tempdir().unwrap();
    let table = Table::at(directory.path()).await;
    drop(table.play("lake", 2).await);
    table.close_file().await;
    let mut names: Vec<String> = std::fs::read_dir(directory.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert_eq!(names, ["nodes", "roundtable.db"], "all of it can be copied as it is");
    let store = Store::of(Arc::new(SqliteStore::open(directory.path()).unwrap()));
    assert!(store.directory.find(&session("lake")).await.unwrap().is_some());
}

#[cfg(unix)]
#[test]
fn a_directory_that_is_made_belongs_to_its_owner_alone() {
    use std::os::unix::fs::PermissionsExt as _;
    let home = tempfile::tempdir().unwrap();
    let data = home.path().join("share/roundtable");
    drop(SqliteStore::open(&data).unwrap());
    let mode = std::fs::metadata(&data).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o700);
}
