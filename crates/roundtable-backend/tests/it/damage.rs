//! F18: what is damaged is found where it is, that session is refused, and the others go on.

use std::path::Path;

use roundtable_backend::SqliteStore;
use roundtable_core::event::Seq;
use roundtable_core::input::Command;
use roundtable_engine::EngineError;
use roundtable_ports::{LogError, SessionLog as _};
use rusqlite::params;

use crate::table::{Table, lines, session, shell};

/// A directory with a damaged session and a sound one, closed.
async fn two_sessions() -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    let table = Table::at(directory.path()).await;
    drop(table.play("bad", 3).await);
    drop(table.play("good", 3).await);
    table.close_file().await;
    directory
}

/// Changes one column of one event.
fn damage(directory: &Path, seq: u64, change: &str) {
    let sql = format!(
        "UPDATE event SET {change} WHERE id = (SELECT number FROM session WHERE id = 'ses_bad') << 32 | ?1"
    );
    assert_eq!(shell(directory).execute(&sql, params![seq]).unwrap(), 1);
}

fn damaged(seq: u64, what: &str) -> LogError {
    LogError::Damaged { session: session("bad"), seq: Seq(seq), what: what.to_owned() }
}

/// What reading a session from a position comes to.
async fn read(directory: &Path, name: &str, from: u64) -> Result<usize, LogError> {
    let store = SqliteStore::open(directory).unwrap();
    Ok(store.read(&session(name), Seq(from), usize::MAX).await?.len())
}

#[tokio::test]
async fn f18_a_change_in_any_column_is_found_at_its_event() {
    let broken = "the chain is broken";
    let body = "the body does not match its digest";
    let changes = [
        ("body = replace(body, 'message 2', 'message 3')", body),
        ("body = NULL", body),
        ("salt = NULL", body),
        ("salt = zeroblob(16)", body),
        ("digest = replace(digest, substr(digest, 1, 1), 'g')", body),
        ("salt = NULL, body = NULL, digest = 'x'", broken),
        ("hash = replace(hash, substr(hash, 1, 1), 'g')", broken),
        ("epoch = epoch + 1", broken),
        ("at = at + 1", broken),
        ("kind = 'session_paused'", broken),
        ("version = 7", broken),
        ("round = 'rnd_x'", broken),
        ("turn = 'trn_x'", broken),
        ("iteration = 'itr_x'", broken),
        ("tool_call = 'tcl_x'", broken),
    ];
    for (change, what) in changes {
        let directory = two_sessions().await;
        let sql = "SELECT (event.id & 0xffffffff) FROM event JOIN session ON session.number = event.id >> 32 \
                   WHERE session.id = 'ses_bad' AND event.kind = 'session_input_accepted' ORDER BY event.id LIMIT 1 OFFSET 1";
        let seq: u64 = lines(&shell(directory.path()), sql)[0].parse().unwrap();
        damage(directory.path(), seq, change);
        assert_eq!(read(directory.path(), "bad", 1).await, Err(damaged(seq, what)), "{change}");
        assert_eq!(read(directory.path(), "bad", seq).await, Err(damaged(seq, what)), "{change}");
        // Also when it shows only at the event after it.
        if change.starts_with("hash") {
            let after = read(directory.path(), "bad", seq + 1).await;
            assert_eq!(after, Err(damaged(seq, what)), "{change}, from the event after it");
        }
        assert!(read(directory.path(), "bad", seq + 2).await.is_ok(), "{change}: what is later");
        assert!(read(directory.path(), "good", 1).await.is_ok(), "{change}: the other session");
    }
}

#[tokio::test]
async fn f18_an_event_that_is_missing_is_named() {
    let directory = two_sessions().await;
    let shell = shell(directory.path());
    let head: u64 =
        lines(&shell, "SELECT head FROM session WHERE id = 'ses_bad'")[0].parse().unwrap();
    let sql =
        "DELETE FROM event WHERE id = (SELECT number FROM session WHERE id = 'ses_bad') << 32 | ?1";
    let missing = |seq| Err(damaged(seq, "the event is missing"));
    shell.execute(sql, [head]).unwrap();
    assert_eq!(read(directory.path(), "bad", 1).await, missing(head), "the last one");
    assert_eq!(read(directory.path(), "bad", head + 1).await, missing(head), "seen from after it");
    shell.execute(sql, [7]).unwrap();
    assert_eq!(read(directory.path(), "bad", 1).await, missing(7));
    assert_eq!(read(directory.path(), "bad", 8).await, missing(7), "seen from after it");
    shell.execute("UPDATE session SET head = 5 WHERE id = 'ses_bad'", []).unwrap();
    let more = damaged(6, "the log has events after the recorded end");
    assert_eq!(read(directory.path(), "bad", 1).await, Err(more));
}

#[tokio::test]
async fn f18_a_tail_that_is_not_the_one_that_was_written_is_found() {
    let directory = two_sessions().await;
    let shell = shell(directory.path());
    let head: u64 =
        lines(&shell, "SELECT head FROM session WHERE id = 'ses_bad'")[0].parse().unwrap();
    shell.execute("UPDATE session SET head_hash = 'x' WHERE id = 'ses_bad'", []).unwrap();
    let wrong = damaged(head, "the last event does not match its hash");
    assert_eq!(read(directory.path(), "bad", 1).await, Err(wrong));
}

#[tokio::test]
async fn f18_a_bit_that_flips_in_the_file_is_found_and_the_session_refused() {
    let directory = two_sessions().await;
    let file = directory.path().join("roundtable.db");
    let clean = std::fs::read(&file).unwrap();
    // In the middle of a body, as the disk has it.
    let needle = b"This is message 2.";
    let places: Vec<usize> =
        (0..clean.len()).filter(|at| clean[*at..].starts_with(needle)).collect();
    assert_eq!(places.len(), 2, "once for each session: text is stored once");
    let mut refused = 0;
    for place in places {
        let mut bytes = clean.clone();
        bytes[place + 5] ^= 0x10;
        std::fs::write(&file, &bytes).unwrap();
        let table = Table::at(directory.path()).await;
        for (name, other) in [("bad", "good"), ("good", "bad")] {
            let handle = table.engine.session(&session(name));
            let error = match handle.command(Command::Pause, None).await {
                Ok(_) => continue,
                Err(error) => error,
            };
            refused += 1;
            let seq = match &error {
                EngineError::Log(LogError::Damaged { session, seq, .. })
                    if session.as_str() == format!("ses_{name}") =>
                {
                    seq.0
                }
                other => panic!("{other}"),
            };
            let kind = format!(
                "SELECT event.kind FROM event JOIN session ON session.number = event.id >> 32 WHERE session.id = 'ses_{name}' AND (event.id & 0xffffffff) = {seq}"
            );
            assert_eq!(lines(&shell(directory.path()), &kind), ["session_input_accepted"]);
            assert!(handle.state().await.is_err(), "it cannot be read either");
            let sound = table.engine.session(&session(other));
            sound.command(Command::Resume, None).await.ok();
            sound.state().await.unwrap();
        }
        table.close_file().await;
        let _ = std::fs::remove_file(directory.path().join("roundtable.db-wal"));
    }
    assert_eq!(refused, 2, "each flip, in its own session");
}

/// A write-ahead log that lost its end is a log that ends earlier, or damage that is named: never
/// something else.
#[tokio::test]
async fn f18_a_write_ahead_log_that_is_cut_off_anywhere_gives_an_earlier_state_or_is_named() {
    let directory = tempfile::tempdir().unwrap();
    let table = Table::at(directory.path()).await;
    table.play("bad", 3).await;
    let whole = table.store.read(&session("bad"), Seq(1), usize::MAX).await.unwrap();
    let copy = |name: &str| std::fs::read(directory.path().join(name)).unwrap();
    let (file, log) = (copy("roundtable.db"), copy("roundtable.db-wal"));
    table.engine.stop().await;
    let (mut earlier, mut lengths) = (0, std::collections::BTreeSet::new());
    for part in (0..40).map(|part| log.len() * part / 40) {
        let cut = tempfile::tempdir().unwrap();
        std::fs::write(cut.path().join("roundtable.db"), &file).unwrap();
        std::fs::write(cut.path().join("roundtable.db-wal"), &log[..part]).unwrap();
        let Ok(store) = SqliteStore::open(cut.path()) else { continue };
        match store.read(&session("bad"), Seq(1), usize::MAX).await {
            Ok(events) => {
                assert_eq!(events, whole[..events.len()], "cut at {part}");
                earlier += 1;
                lengths.insert(events.len());
            }
            Err(LogError::Damaged { .. } | LogError::Unavailable(_)) => {}
            Err(other) => panic!("cut at {part}: {other}"),
        }
    }
    assert!(earlier > 30 && lengths.len() > 3, "{earlier} states, {lengths:?}");
}

#[tokio::test]
async fn a_snapshot_that_is_damaged_is_not_used() {
    let directory = two_sessions().await;
    let shell = shell(directory.path());
    let sql = "SELECT count(*) FROM snapshot";
    assert_eq!(lines(&shell, sql), ["2"]);
    let changed = shell
        .execute("UPDATE snapshot SET state = CAST(replace(CAST(state AS TEXT), '\"rounds_completed\":3', '\"rounds_completed\":4') AS BLOB)", [])
        .unwrap();
    assert_eq!(changed, 2);
    let table = Table::at(directory.path()).await;
    let state = table.engine.session(&session("bad")).state().await.unwrap();
    assert_eq!(state.rounds_completed, 3, "the log says so");
    table.close().await;
}
