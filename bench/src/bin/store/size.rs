//! What an engine leaves in the file: bytes and commits.

use std::path::Path;

use roundtable::prelude::*;
use roundtable_bench::Commits;
use rusqlite::Connection;

use super::append::TEXT;
use super::turn::words;

/// How many rounds the session has.
pub const ROUNDS: usize = 10_000;

/// How many rounds go by between two looks at the file.
const EVERY: usize = 250;

async fn open(directory: &Path) -> anyhow::Result<(Engine, Session)> {
    let script = Script::default().voice("ann", [Reply::text(words(TEXT))]);
    let model = ScriptedModel::forgetful(script);
    let engine =
        Engine::builder().sqlite(directory).custom_model("scripted", model).build().await?;
    let session = engine.chat("a benchmark").agent("Ann").open().await?;
    Ok((engine, session))
}

/// How a session grew.
pub struct Grown {
    /// The bytes of all pages but those of the full-text search.
    pub stored: f64,
    /// The bytes of what was said.
    pub text: f64,
    pub events: f64,
    /// The bytes of a round, by the number of the round.
    pub per_round: Vec<(f64, f64)>,
}

/// Plays a long session and looks at the file meanwhile.
pub async fn session() -> anyhow::Result<Grown> {
    let directory = tempfile::tempdir()?;
    let (engine, session) = open(directory.path()).await?;
    let (mut per_round, mut before) = (Vec::new(), bytes(directory.path())?);
    let empty = before;
    for number in 1..=ROUNDS {
        session.ask(&words(TEXT)).await?;
        if number % EVERY == 0 {
            let now = bytes(directory.path())?;
            per_round.push((number as f64, (now - before) / EVERY as f64));
            before = now;
        }
    }
    engine.shutdown().await;
    let shell = Connection::open(directory.path().join("roundtable.db"))?;
    let events = shell.query_row("SELECT count(*) FROM event", [], |row| row.get(0))?;
    let stored = bytes(directory.path())? - empty;
    Ok(Grown { stored, text: (ROUNDS * 2 * TEXT) as f64, events, per_round })
}

/// The bytes of all pages but those of the full-text search.
fn bytes(directory: &Path) -> anyhow::Result<f64> {
    let shell = Connection::open(directory.join("roundtable.db"))?;
    let sql =
        "SELECT sum(pgsize) FROM dbstat WHERE aggregate = TRUE AND name NOT LIKE 'message_text%'";
    let bytes: i64 = shell.query_row(sql, [], |row| row.get(0))?;
    Ok(bytes as f64)
}

/// How many transactions an engine commits for one turn: those that it makes for its leases and
/// snapshots are among them.
pub async fn commits_per_turn(turns: u32) -> anyhow::Result<f64> {
    let directory = tempfile::tempdir()?;
    let (engine, session) = open(directory.path()).await?;
    session.ask("Hello?").await?;
    let commits = Commits::of(directory.path())?;
    for _ in 0..turns {
        session.ask("And then?").await?;
    }
    let commits = commits.count()?;
    engine.stop().await;
    Ok(f64::from(commits) / f64::from(turns))
}
