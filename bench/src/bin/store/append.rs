//! Durable appends of many sessions at once.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use roundtable::backend::SqliteStore;
use roundtable::core::id::NodeId;
use roundtable::ports::{LogError, Ownership, Store};
use rusqlite::Connection;

use super::turn::{Commit, Talk};

/// How long a message is.
pub const TEXT: usize = 400;

/// Sessions, and the commits that each of them makes.
pub struct Load {
    pub talks: Vec<(Talk, Arc<Vec<Commit>>)>,
}

impl Load {
    pub fn new(sessions: usize, turns: usize) -> Self {
        let talk = |_| {
            let mut talk = Talk::new(TEXT);
            let mut commits = vec![talk.open()];
            commits.extend((0..turns).flat_map(|_| talk.turn()));
            (talk, Arc::new(commits))
        };
        Self { talks: (0..sessions).map(talk).collect() }
    }

    /// The commits of all sessions, without the openings.
    pub fn count(&self) -> u32 {
        self.talks.iter().map(|(_, commits)| commits.len() as u32 - 1).sum()
    }
}

/// Appends to all sessions at once, and returns how long one append took in the end. The file as it
/// was after the openings is left in `copy`.
pub async fn ours(directory: &Path, load: &Load, copy: &Path) -> anyhow::Result<Duration> {
    let store = Store::of(Arc::new(SqliteStore::open(directory)?));
    let node = NodeId::new("bench")?;
    store.leases.renew(&node).await?;
    let mut owned: Vec<(Ownership, &Arc<Vec<Commit>>)> = Vec::new();
    for (talk, commits) in &load.talks {
        owned.push((store.leases.claim_one(talk.id(), &node).await?, commits));
    }
    let opened = owned.iter().map(|(own, commits)| store.log.append(own, commits[0].batch()));
    futures_util::future::try_join_all(opened).await?;
    let copy = copy.join("roundtable.db").display().to_string();
    Connection::open(directory.join("roundtable.db"))?.execute("VACUUM INTO ?1", [copy])?;
    let started = Instant::now();
    // A task each, as the engine has it.
    let work = owned.into_iter().map(|(own, commits)| {
        let (log, commits) = (store.log.clone(), commits.clone());
        tokio::spawn(async move {
            for commit in &commits[1..] {
                log.append(&own, commit.batch()).await?;
            }
            Ok::<(), LogError>(())
        })
    });
    for done in futures_util::future::join_all(work).await {
        done??;
    }
    Ok(started.elapsed() / load.count())
}
