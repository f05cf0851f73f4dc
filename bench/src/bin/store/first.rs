//! The first answer of a process on a large store.

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use roundtable::backend::SqliteStore;
use roundtable::core::id::{NodeId, SessionId};
use roundtable::ports::Store;
use roundtable::prelude::*;
use roundtable_bench::median;

use super::turn::{Talk, words};

/// How many sessions there are.
pub const SESSIONS: usize = 100_000;

/// What a process is told to be the one that is measured.
pub const ROLE: &str = "first";

/// How often a process is started.
const TIMES: usize = 9;

/// How long it takes from the start of a process until it has acknowledged a message to one of the
/// sessions, durably: the median.
pub async fn request() -> anyhow::Result<Duration> {
    let directory = tempfile::tempdir()?;
    let sessions = fill(directory.path()).await?;
    let mut took = Vec::new();
    for time in 0..TIMES {
        let session = &sessions[time * (SESSIONS / TIMES)];
        let started = Instant::now();
        let mut child = Command::new(std::env::current_exe()?)
            .args([ROLE.as_ref(), directory.path().as_os_str(), session.as_str().as_ref()])
            .stdout(Stdio::piped())
            .spawn()?;
        let mut line = String::new();
        if let Some(out) = child.stdout.take() {
            BufReader::new(out).read_line(&mut line)?;
        }
        took.push(started.elapsed());
        anyhow::ensure!(child.wait()?.success() && line.trim() == "acknowledged", "{line}");
    }
    Ok(median(took))
}

async fn fill(directory: &Path) -> anyhow::Result<Vec<SessionId>> {
    let store = Store::of(Arc::new(SqliteStore::open(directory)?));
    let node = NodeId::new("bench")?;
    let mut sessions = Vec::new();
    while sessions.len() < SESSIONS {
        let opened = (0..1000).map(|_| async {
            let mut talk = Talk::new(0);
            let own = store.leases.claim_one(talk.id(), &node).await?;
            store.log.append(&own, talk.open().batch()).await?;
            store.leases.release(&own).await?;
            anyhow::Ok(talk.id().clone())
        });
        sessions.extend(futures_util::future::try_join_all(opened).await?);
    }
    Ok(sessions)
}

/// The inside of the process: an engine, a message, an answer.
pub async fn answer(directory: &Path, session: &str) -> anyhow::Result<()> {
    let script = Script::default().voice("ann", [Reply::text(words(20))]);
    let model = ScriptedModel::forgetful(script);
    let engine =
        Engine::builder().sqlite(directory).custom_model("scripted", model).build().await?;
    engine.session(&session.parse()?).say("Hello?").await?;
    println!("acknowledged");
    engine.shutdown().await;
    Ok(())
}
