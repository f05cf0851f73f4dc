//! The file's form: made step by step, by whoever comes first, and never half.

use std::path::Path;

use roundtable_backend::{OpenError, SqliteArchive, SqliteStore};
use roundtable_core::event::Seq;
use roundtable_core::input::Command;
use roundtable_ports::SessionLog as _;
use rusqlite::fallible_iterator::FallibleIterator as _;
use rusqlite::{Batch, Connection};

use crate::process::{Node, Role};
use crate::table::{Table, lines, session, shell};

const STEPS: [&str; 6] = [
    include_str!("../../src/sqlite/schema/1.sql"),
    include_str!("../../src/sqlite/schema/2.sql"),
    include_str!("../../src/sqlite/schema/3.sql"),
    include_str!("../../src/sqlite/schema/4.sql"),
    include_str!("../../src/sqlite/schema/5.sql"),
    include_str!("../../src/sqlite/schema/6.sql"),
];

/// Brings the file to its form before a step, then begins that step and does not finish: so many
/// statements of it, in a transaction that is never committed.
pub fn begin(directory: &Path, step: usize, statements: usize) {
    let connection = Connection::open(directory.join("roundtable.db")).unwrap();
    connection.pragma_update(None, "journal_mode", "WAL").unwrap();
    for (version, earlier) in STEPS[..step].iter().enumerate() {
        connection.execute_batch(earlier).unwrap();
        connection.pragma_update(None, "application_id", 0x5274_626c).unwrap();
        connection.pragma_update(None, "user_version", version + 1).unwrap();
    }
    connection.execute_batch("BEGIN IMMEDIATE").unwrap();
    let mut batch = Batch::new(&connection, STEPS[step]);
    for _ in 0..statements {
        batch.next().unwrap().expect("one more statement").execute([]).unwrap();
    }
    // Its end is no business of SQLite's.
    std::mem::forget(connection);
}

/// The form of a file, in words.
fn form(directory: &Path) -> Vec<String> {
    let shell = shell(directory);
    let mut form =
        lines(&shell, "SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY 1, 2");
    form.extend(lines(&shell, "PRAGMA user_version"));
    form.extend(lines(&shell, "PRAGMA application_id"));
    form
}

/// How many statements each step has.
fn statements() -> Vec<usize> {
    let connection = Connection::open_in_memory().unwrap();
    let count = |step: &&str| {
        let mut batch = Batch::new(&connection, step);
        let mut count = 0;
        while let Some(mut statement) = batch.next().unwrap() {
            statement.execute([]).unwrap();
            count += 1;
        }
        count
    };
    STEPS.iter().map(count).collect()
}

#[test]
fn f40_a_migration_that_is_killed_at_any_statement_is_completed_by_the_next_process() {
    let fresh = tempfile::tempdir().unwrap();
    drop(SqliteStore::open(fresh.path()).unwrap());
    let (form_of_fresh, counts) = (form(fresh.path()), statements());
    assert!(counts.iter().sum::<usize>() > 24, "{counts:?}");
    for (step, count) in counts.into_iter().enumerate() {
        for killed_after in 0..=count {
            let directory = tempfile::tempdir().unwrap();
            let name = directory.path().display().to_string();
            let role = Role::Migrate { directory: name, step, statements: killed_after };
            assert!(!Node::start(&role).wait_for_end(), "it was to die after {killed_after}");
            // Whoever only reads completes it as well, unless there is nothing to read yet.
            if step == 0 {
                let archive = SqliteArchive::open(directory.path()).map(drop);
                assert!(archive.is_err(), "a file that was never finished has no sessions");
            }
            if step > 0 && killed_after % 2 == 0 {
                drop(SqliteArchive::open(directory.path()).unwrap());
            } else {
                drop(SqliteStore::open(directory.path()).unwrap());
            }
            assert_eq!(
                form(directory.path()),
                form_of_fresh,
                "killed after {killed_after} of {step}"
            );
        }
    }
}

#[tokio::test]
async fn f40_a_process_that_knows_another_form_fails_closed() {
    let directory = tempfile::tempdir().unwrap();
    let table = Table::at(directory.path()).await;
    let lake = table.play("lake", 1).await;
    let head = table.head("lake").await;
    // A newer version comes along and changes the file under a process that runs.
    let shell = shell(directory.path());
    shell.execute_batch("PRAGMA user_version = 8").unwrap();
    let told = "the file has format 8 now, and this process knows format 7: \
                restart it with the version of roundtable that changed the file";
    let read = table.store.read(&session("lake"), Seq(1), 10).await.unwrap_err().to_string();
    assert!(read.contains(told), "{read}");
    let written = lake.command(Command::Pause, None).await.unwrap_err().to_string();
    assert!(written.contains(told), "{written}");
    let stored = format!("SELECT count(*) FROM event WHERE (id & 0xffffffff) > {head}");
    assert_eq!(lines(&shell, &stored), ["0"], "nothing was written");
    shell.execute_batch("PRAGMA user_version = 7").unwrap();
    assert_eq!(table.store.read(&session("lake"), Seq(1), 1).await.unwrap().len(), 1);
    table.engine.stop().await;
}

#[test]
fn a_newer_file_is_refused_and_left_as_it_is() {
    let directory = tempfile::tempdir().unwrap();
    drop(SqliteStore::open(directory.path()).unwrap());
    shell(directory.path()).execute_batch("PRAGMA user_version = 8").unwrap();
    let before = form(directory.path());
    let refused = SqliteStore::open(directory.path()).map(drop).unwrap_err();
    let file = directory.path().join("roundtable.db");
    assert_eq!(refused, OpenError::Newer { file: file.clone(), version: 8, newest: 7 });
    let words = "has format 8; this build knows formats up to 7: update roundtable, or choose another data directory";
    assert_eq!(refused.to_string(), format!("{} {words}", file.display()));
    assert_eq!(form(directory.path()), before);
}

#[test]
fn the_file_of_another_program_is_refused_and_left_as_it_is() {
    let directory = tempfile::tempdir().unwrap();
    shell(directory.path()).execute_batch("CREATE TABLE mine (x)").unwrap();
    let refused = SqliteStore::open(directory.path()).map(drop).unwrap_err().to_string();
    assert!(
        refused.ends_with("cannot be used: it is the database of another program"),
        "{refused}"
    );
    assert_eq!(lines(&shell(directory.path()), "SELECT name FROM sqlite_schema"), ["mine"]);
    let text = tempfile::tempdir().unwrap();
    std::fs::write(text.path().join("roundtable.db"), "This is no database at all. ".repeat(100))
        .unwrap();
    let refused = SqliteStore::open(text.path()).map(drop).unwrap_err().to_string();
    assert!(refused.contains("file is not a database"), "{refused}");
}
