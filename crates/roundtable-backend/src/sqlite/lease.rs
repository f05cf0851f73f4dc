//! Who may write a session. A process lives as long as it holds the lock on a file of its own:
//! the system lets go of it when the process ends, however it ends. No clock is involved.

use std::collections::HashMap;
use std::fs::{File, OpenOptions, TryLockError};
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use async_trait::async_trait;
use roundtable_core::id::{NodeId, SessionId};
use roundtable_ports::{LeaseError, Leases, LogError, Ownership};
use rusqlite::{OptionalExtension as _, params};

use super::SqliteStore;
use super::append::execute;
use super::writer::unavailable;

/// Which processes live.
pub(super) struct Liveness {
    directory: PathBuf,
    /// The locks that this process holds.
    own: Mutex<HashMap<NodeId, File>>,
}

impl Liveness {
    pub fn new(directory: PathBuf) -> Self {
        Self { directory, own: Mutex::default() }
    }

    fn file(&self, node: &str) -> PathBuf {
        self.directory.join(format!("{node}.lock"))
    }

    /// Takes the lock that says that this process lives, and tidies up after those that do not.
    fn enliven(&self, node: &NodeId) -> std::io::Result<()> {
        let mut own = self.own.lock().unwrap_or_else(PoisonError::into_inner);
        if own.contains_key(node) {
            return Ok(());
        }
        std::fs::create_dir_all(&self.directory)?;
        let file = OpenOptions::new()
            .create(true)
            .truncate(false)
            .write(true)
            .open(self.file(node.as_str()))?;
        file.try_lock().map_err(|error| match error {
            TryLockError::Error(error) => error,
            TryLockError::WouldBlock => {
                std::io::Error::other(format!("another process runs as {node}"))
            }
        })?;
        own.insert(node.clone(), file);
        Ok(())
    }

    /// Whether a process lives: nobody else can take the lock that it holds.
    pub fn is_alive(&self, node: &str) -> bool {
        let own = self.own.lock().unwrap_or_else(PoisonError::into_inner);
        if own.keys().any(|own| own.as_str() == node) {
            return true;
        }
        let path = self.file(node);
        let Ok(file) = OpenOptions::new().write(true).open(&path) else { return false };
        match file.try_lock() {
            Err(TryLockError::WouldBlock) => true,
            Err(TryLockError::Error(_)) => true,
            Ok(()) => {
                // It is gone for good: node ids are never used again.
                let _ = std::fs::remove_file(path);
                false
            }
        }
    }
}

impl Drop for Liveness {
    fn drop(&mut self) {
        for node in self.own.get_mut().unwrap_or_else(PoisonError::into_inner).keys() {
            let _ = std::fs::remove_file(self.directory.join(format!("{node}.lock")));
        }
    }
}

fn lease_error(error: LogError) -> LeaseError {
    LeaseError::Unavailable(error.to_string())
}

impl SqliteStore {
    async fn owner_of(&self, session: &SessionId) -> Result<Option<String>, LogError> {
        let session = session.clone();
        let find = move |connection: &rusqlite::Connection| {
            let sql = "SELECT owner FROM lease WHERE session = ?1";
            let mut statement =
                connection.prepare_cached(sql).map_err(|error| unavailable(&error))?;
            let owner = statement.query_row([session.as_str()], |row| row.get(0)).optional();
            Ok(owner.map_err(|error| unavailable(&error))?.flatten())
        };
        self.readers.read(find).await
    }
}

#[async_trait]
impl Leases for SqliteStore {
    async fn claim_one(&self, session: &SessionId, node: &NodeId) -> Result<Ownership, LeaseError> {
        let seen = self.owner_of(session).await.map_err(lease_error)?;
        if let Some(owner) =
            seen.as_deref().filter(|owner| *owner != node.as_str() && self.liveness.is_alive(owner))
        {
            let node =
                owner.parse().map_err(|error| LeaseError::Unavailable(format!("{error}")))?;
            return Err(LeaseError::Held { node });
        }
        let (session, node) = (session.clone(), node.clone());
        let claim = move |connection: &rusqlite::Connection| {
            // Only from whom it was seen with: two processes that both saw a dead owner cannot
            // both take its place.
            let sql = "INSERT INTO lease (session, epoch, owner) VALUES (?1, 1, ?2) ON CONFLICT (session) \
                       DO UPDATE SET epoch = epoch + 1, owner = ?2 WHERE owner IS ?3 OR owner IS NULL OR owner = ?2 \
                       RETURNING epoch";
            let mut statement =
                connection.prepare_cached(sql).map_err(|error| unavailable(&error))?;
            let epoch = statement
                .query_row(params![session.as_str(), node.as_str(), seen], |row| row.get(0))
                .optional();
            let epoch: Option<u64> = epoch.map_err(|error| unavailable(&error))?;
            Ok(epoch.map(|epoch| Ownership { session: session.clone(), node: node.clone(), epoch }))
        };
        let claimed = self.writer.write(claim).await.map_err(lease_error)?;
        claimed.ok_or_else(|| {
            LeaseError::Unavailable(
                "another process claimed the session first; try again".to_owned(),
            )
        })
    }

    async fn renew(&self, node: &NodeId) -> Result<(), LeaseError> {
        self.liveness.enliven(node).map_err(|error| LeaseError::Unavailable(error.to_string()))
    }

    async fn release(&self, own: &Ownership) -> Result<(), LeaseError> {
        let own = own.clone();
        let release = move |connection: &rusqlite::Connection| {
            let sql = "UPDATE lease SET owner = NULL WHERE session = ?1 AND epoch = ?2";
            execute(connection, sql, params![own.session.as_str(), own.epoch])?;
            // A session that was claimed and never written leaves no trace.
            let sql = "DELETE FROM lease WHERE session = ?1 AND epoch = ?2 \
                       AND NOT EXISTS (SELECT 1 FROM session WHERE id = ?1)";
            execute(connection, sql, params![own.session.as_str(), own.epoch])
        };
        self.writer.write(release).await.map_err(lease_error)
    }
}
