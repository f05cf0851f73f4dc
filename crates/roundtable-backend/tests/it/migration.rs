//! The file's form: made step by step, by whoever comes first, and never half.

pub mod kill;

use std::collections::BTreeSet;
use std::path::Path;

use roundtable_backend::{OpenError, SqliteArchive, SqliteStore};
use roundtable_core::event::Seq;
use roundtable_core::input::Command;
use roundtable_ports::SessionLog as _;

use crate::process::{Node, Role};
use crate::table::{Table, lines, session, shell};

/// How many steps the form has.
const STEPS: usize = 8;

/// The form of a file, in words.
fn form(directory: &Path) -> Vec<String> {
    let shell = shell(directory);
    let mut form =
        lines(&shell, "SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY 1, 2");
    form.extend(lines(&shell, "PRAGMA user_version"));
    form.extend(lines(&shell, "PRAGMA application_id"));
    form
}

#[test]
fn f40_a_migration_that_is_killed_at_any_statement_is_completed_by_the_next_process() {
    let fresh = tempfile::tempdir().unwrap();
    drop(SqliteStore::open(fresh.path()).unwrap());
    let form_of_fresh = form(fresh.path());
    let mut versions = BTreeSet::new();
    // The store itself makes the file, and dies one statement later each time, until it lives.
    for statements in 0.. {
        let directory = tempfile::tempdir().unwrap();
        let name = directory.path().display().to_string();
        let lived = Node::start(&Role::Migrate { directory: name, statements }).wait_for_end();
        let version: usize =
            lines(&shell(directory.path()), "PRAGMA user_version")[0].parse().unwrap();
        versions.insert(version);
        // Whoever only reads completes it as well, unless there is nothing to read yet.
        if version == 0 {
            let archive = SqliteArchive::open(directory.path()).map(drop);
            assert!(archive.is_err(), "a file that was never finished has no sessions");
        }
        if version > 0 && statements % 2 == 0 {
            drop(SqliteArchive::open(directory.path()).unwrap());
        } else {
            drop(SqliteStore::open(directory.path()).unwrap());
        }
        assert_eq!(form(directory.path()), form_of_fresh, "killed at statement {statements}");
        if lived {
            break;
        }
    }
    let all: BTreeSet<usize> = (0..=STEPS).collect();
    assert_eq!(versions, all, "it died inside every step");
}

#[tokio::test]
async fn f40_a_process_that_knows_another_form_fails_closed() {
    let directory = tempfile::tempdir().unwrap();
    let table = Table::at(directory.path()).await;
    let lake = table.play("lake", 1).await;
    let head = table.head("lake").await;
    // A newer version comes along and changes the file under a process that runs.
    let shell = shell(directory.path());
    shell.execute_batch("PRAGMA user_version = 9").unwrap();
    let told = "the file now has format 9, and this process supports format 8: restart it with the version of roundtable that changed the file";
    let read = table.store.read(&session("lake"), Seq(1), 10).await.unwrap_err().to_string();
    assert!(read.contains(told), "{read}");
    let written = lake.command(Command::Pause, None).await.unwrap_err().to_string();
    assert!(written.contains(told), "{written}");
    let stored = format!("SELECT count(*) FROM event WHERE (id & 0xffffffff) > {head}");
    assert_eq!(lines(&shell, &stored), ["0"], "nothing was written");
    shell.execute_batch("PRAGMA user_version = 8").unwrap();
    assert_eq!(table.store.read(&session("lake"), Seq(1), 1).await.unwrap().len(), 1);
    table.engine.stop().await;
}

#[test]
fn a_newer_file_is_refused_and_left_as_it_is() {
    let directory = tempfile::tempdir().unwrap();
    drop(SqliteStore::open(directory.path()).unwrap());
    shell(directory.path()).execute_batch("PRAGMA user_version = 9").unwrap();
    let before = form(directory.path());
    let refused = SqliteStore::open(directory.path()).map(drop).unwrap_err();
    let file = directory.path().join("roundtable.db");
    assert_eq!(refused, OpenError::Newer { file: file.clone(), version: 9, newest: 8 });
    let words = "has format 9; this build supports formats up to 8: update roundtable, or choose another data directory";
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
