//! Deleting a session: its events, rows, vectors and search entries. What it spent stays in the
//! usage per day, and its lease stays, so that a writer of the past is still fenced.

use roundtable_core::id::{NodeId, SessionId};
use roundtable_ports::{LeaseError, Leases as _, LogError, Ownership};
use rusqlite::{Connection, OptionalExtension as _, params};

use super::append::{check_epoch, execute};
use super::erase::{clean_file, clean_search};
use super::writer::unavailable;
use super::{SqliteStore, lineage, search, vectors};

/// Why a session cannot be deleted. Nothing was deleted then.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DeleteError {
    /// The store cannot do it.
    Log(LogError),
    /// A process owns it, or it is parked.
    Lease(LeaseError),
    /// A round is open.
    Busy,
    /// The session does not exist.
    NotFound,
    /// A fork reads its past from this session.
    Forked {
        /// The id of the fork.
        fork: String,
    },
}

impl std::fmt::Display for DeleteError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Log(error) => error.fmt(f),
            Self::Lease(LeaseError::Held { .. }) => {
                f.write_str("another process is using the session; stop that process first")
            }
            Self::Lease(error) => error.fmt(f),
            Self::Busy => f.write_str("a round is running; stop it or wait for its end first"),
            Self::NotFound => f.write_str("no such session"),
            Self::Forked { fork } => {
                write!(f, "{fork} was forked from it and needs its history; delete the fork first")
            }
        }
    }
}

impl std::error::Error for DeleteError {}

impl From<LogError> for DeleteError {
    fn from(error: LogError) -> Self {
        Self::Log(error)
    }
}

impl SqliteStore {
    /// Deletes a session for good. It is claimed first, so that nobody else is writing.
    ///
    /// # Errors
    /// [`DeleteError`]; nothing was deleted then. With [`DeleteError::Log`] the session may be gone
    /// while its words are still in unused parts of the file.
    pub async fn delete(&self, session: &SessionId, node: &NodeId) -> Result<(), DeleteError> {
        // Deleting is the way out for a session that crashes whoever loads it.
        self.unpark(session).await.map_err(DeleteError::Lease)?;
        self.renew(node).await.map_err(DeleteError::Lease)?;
        let own = self.claim_alone(session, node).await.map_err(DeleteError::Lease)?;
        let deleted = self.delete_owned(own.clone()).await;
        if deleted.is_err() {
            self.release(&own).await.map_err(DeleteError::Lease)?;
        }
        deleted
    }

    pub(super) async fn delete_owned(&self, own: Ownership) -> Result<(), DeleteError> {
        // A refusal is not a failure of the commit: it goes through as a value.
        let delete = move |connection: &Connection| match delete(connection, &own) {
            Ok(()) => Ok(Ok(())),
            Err(DeleteError::Log(error)) => Err(error),
            Err(refused) => Ok(Err(refused)),
        };
        self.writer.write(delete).await??;
        self.shelf.clear();
        while self.writer.write(clean_search).await? {}
        Ok(self.writer.write_alone(clean_file).await?)
    }
}

fn delete(connection: &Connection, own: &Ownership) -> Result<(), DeleteError> {
    check_epoch(connection, own)?;
    let session = own.session.as_str();
    let place = lineage::find(connection, session)?.ok_or(DeleteError::NotFound)?;
    let open = "SELECT id FROM round WHERE session = ?1 AND status = 'in-progress'";
    if first(connection, open, place.number)?.is_some() {
        return Err(DeleteError::Busy);
    }
    if let Some(fork) = find_fork(connection, &own.session)? {
        return Err(DeleteError::Forked { fork: fork.to_string() });
    }
    // The search can forget only what it knows, while the events are still readable.
    search::catch_up(connection)?;
    vectors::forget(connection, session)?;
    execute(connection, "DELETE FROM session WHERE number = ?1", [place.number])?;
    let sql = "DELETE FROM event WHERE id BETWEEN ?1 << 32 AND (?1 << 32) | 0xffffffff";
    execute(connection, sql, [place.number])?;
    execute(connection, "DELETE FROM draft WHERE session = ?1", [session])?;
    execute(connection, "DELETE FROM inbox WHERE session = ?1", [session])?;
    let sql = "UPDATE lease SET epoch = epoch + 1, owner = NULL WHERE session = ?1";
    execute(connection, sql, [session])?;
    Ok(())
}

/// A session that was forked from this one.
pub(super) fn find_fork(
    connection: &Connection,
    session: &SessionId,
) -> Result<Option<SessionId>, LogError> {
    let sql = "SELECT id FROM session WHERE parent = ?1";
    Ok(first(connection, sql, session.as_str())?.and_then(|fork| fork.parse().ok()))
}

fn first(
    connection: &Connection,
    sql: &str,
    value: impl rusqlite::ToSql,
) -> Result<Option<String>, LogError> {
    let mut statement = connection.prepare_cached(sql).map_err(|error| unavailable(&error))?;
    let found = statement.query_row(params![value], |row| row.get(0)).optional();
    found.map_err(|error| unavailable(&error))
}
