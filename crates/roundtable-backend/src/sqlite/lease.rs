//! Who may write a session.

use async_trait::async_trait;
use jiff::Timestamp;
use roundtable_core::id::{NodeId, SessionId};
use roundtable_ports::{Crash, Crashes, LeaseError, Leases, LogError, Ownership};
use rusqlite::{Connection, OptionalExtension as _, Row, params};

use super::SqliteStore;
use super::append::{execute, nanoseconds};
use super::writer::unavailable;

/// How often a claim is tried again when others claim the session at the same time.
const TRIES: u32 = 16;

#[expect(clippy::needless_pass_by_value, reason = "it stands where an error is mapped")]
fn lease_error(error: LogError) -> LeaseError {
    LeaseError::Unavailable(error.to_string())
}

/// A lease, as it was seen.
#[derive(Debug, Clone, Default)]
struct LeaseRow {
    owner: Option<String>,
    crashes: Crashes,
}

fn seen(row: &Row<'_>) -> rusqlite::Result<LeaseRow> {
    let since: Option<i64> = row.get(3)?;
    let since = since.and_then(|at| Timestamp::from_nanosecond(i128::from(at)).ok());
    let crashes =
        Crashes { takeovers: row.get(1)?, panics: row.get(2)?, since, parked: row.get(4)? };
    Ok(LeaseRow { owner: row.get(0)?, crashes })
}

fn look(connection: &Connection, session: &SessionId) -> Result<Option<LeaseRow>, LogError> {
    let sql = "SELECT owner, takeovers, panics, panics_since, parked FROM lease WHERE session = ?1";
    let mut statement = connection.prepare_cached(sql).map_err(|error| unavailable(&error))?;
    statement.query_row([session.as_str()], seen).optional().map_err(|error| unavailable(&error))
}

/// Lets a session go, with what is known of its crashes.
fn let_go(connection: &Connection, session: &SessionId, crashes: &Crashes) -> Result<(), LogError> {
    let Crashes { takeovers, panics, since, parked } = crashes;
    let sql = "UPDATE lease SET owner = NULL, takeovers = ?2, panics = ?3, panics_since = ?4, parked = ?5 \
               WHERE session = ?1";
    let since = since.map(nanoseconds);
    execute(connection, sql, params![session.as_str(), takeovers, panics, since, parked])?;
    forget_unwritten(connection, session)
}

/// A session that was claimed and never written leaves no trace.
fn forget_unwritten(connection: &Connection, session: &SessionId) -> Result<(), LogError> {
    let sql = "DELETE FROM lease WHERE session = ?1 AND owner IS NULL \
               AND NOT EXISTS (SELECT 1 FROM session WHERE id = ?1)";
    execute(connection, sql, params![session.as_str()])
}

impl SqliteStore {
    /// Claims a session from whom it was seen with, and from nobody else: of two processes that
    /// both saw a dead owner, one takes its place.
    async fn claim_from(
        &self,
        seen: Option<String>,
        before: u32,
        takeovers: u32,
        session: &SessionId,
        node: &NodeId,
    ) -> Result<Option<Ownership>, LogError> {
        let (session, node) = (session.clone(), node.clone());
        let claim = move |connection: &Connection| {
            let sql = "INSERT INTO lease (session, epoch, owner) VALUES (?1, 1, ?2) ON CONFLICT (session) \
                       DO UPDATE SET epoch = epoch + 1, owner = ?2, takeovers = ?5 \
                       WHERE owner IS ?3 AND takeovers = ?4 AND parked IS NULL RETURNING epoch";
            let mut statement =
                connection.prepare_cached(sql).map_err(|error| unavailable(&error))?;
            let values = params![session.as_str(), node.as_str(), seen, before, takeovers];
            let epoch = statement.query_row(values, |row| row.get(0)).optional();
            let epoch: Option<u64> = epoch.map_err(|error| unavailable(&error))?;
            let (session, node) = (session.clone(), node.clone());
            Ok(epoch.map(|epoch| Ownership { session, node, epoch, takeovers }))
        };
        self.writer.write(claim).await
    }

    /// Parks a session whose owner was seen dead, unless another process has taken it meanwhile.
    async fn park(
        &self,
        session: &SessionId,
        seen: &LeaseRow,
        crashes: Crashes,
    ) -> Result<(), LogError> {
        let (session, seen) = (session.clone(), seen.clone());
        let park = move |connection: &Connection| match look(connection, &session)? {
            Some(now) if now.owner == seen.owner && now.crashes == seen.crashes => {
                let_go(connection, &session, &crashes)
            }
            _ => Ok(()),
        };
        self.writer.write(park).await
    }

    async fn claim(
        &self,
        session: &SessionId,
        node: &NodeId,
        alone: bool,
    ) -> Result<Ownership, LeaseError> {
        for _ in 0..TRIES {
            let wanted = session.clone();
            let seen = self.readers.read(move |connection| look(connection, &wanted)).await;
            let seen = seen.map_err(lease_error)?.unwrap_or_default();
            if let Some(reason) = seen.crashes.parked {
                return Err(LeaseError::Parked { reason });
            }
            let before = seen.crashes.takeovers;
            let mut takeovers = before;
            if let Some(owner) = seen.owner.as_deref().filter(|owner| *owner != node.as_str()) {
                if self.liveness.is_alive(owner) {
                    let node = owner.parse();
                    let node = node.map_err(|error| LeaseError::Unavailable(format!("{error}")))?;
                    return Err(LeaseError::Held { node });
                }
                let crashes = seen.crashes.clone().after_death();
                if crashes.parked.is_some() {
                    self.park(session, &seen, crashes).await.map_err(lease_error)?;
                    continue;
                }
                if crashes.is_suspect() && !alone {
                    return Err(LeaseError::Suspect);
                }
                takeovers = crashes.takeovers;
            }
            let claimed = self.claim_from(seen.owner, before, takeovers, session, node).await;
            if let Some(own) = claimed.map_err(lease_error)? {
                return Ok(own);
            }
        }
        Err(LeaseError::Unavailable(
            "the owner of the session keeps changing; try again".to_owned(),
        ))
    }
}

#[async_trait]
impl Leases for SqliteStore {
    async fn claim_one(&self, session: &SessionId, node: &NodeId) -> Result<Ownership, LeaseError> {
        self.claim(session, node, false).await
    }

    async fn claim_alone(
        &self,
        session: &SessionId,
        node: &NodeId,
    ) -> Result<Ownership, LeaseError> {
        self.claim(session, node, true).await
    }

    async fn renew(&self, node: &NodeId) -> Result<(), LeaseError> {
        self.liveness.enliven(node).map_err(|error| LeaseError::Unavailable(error.to_string()))
    }

    async fn release(&self, own: &Ownership) -> Result<(), LeaseError> {
        let own = own.clone();
        let release = move |connection: &Connection| {
            let (session, epoch, node) = (own.session.as_str(), own.epoch, own.node.as_str());
            let sql = "UPDATE lease SET owner = NULL, takeovers = 0 \
                       WHERE session = ?1 AND epoch = ?2 AND owner = ?3";
            execute(connection, sql, params![session, epoch, node])?;
            forget_unwritten(connection, &own.session)
        };
        self.writer.write(release).await.map_err(lease_error)
    }

    async fn settle(&self, own: &Ownership) -> Result<(), LeaseError> {
        let own = own.clone();
        let settle = move |connection: &Connection| {
            let (session, epoch, node) = (own.session.as_str(), own.epoch, own.node.as_str());
            let sql = "UPDATE lease SET takeovers = 0 \
                       WHERE session = ?1 AND epoch = ?2 AND owner = ?3 AND takeovers > 0";
            execute(connection, sql, params![session, epoch, node])
        };
        self.writer.write(settle).await.map_err(lease_error)
    }

    async fn crashed(
        &self,
        session: &SessionId,
        node: &NodeId,
        crash: &Crash,
    ) -> Result<Option<String>, LeaseError> {
        let (session, node, crash) = (session.clone(), node.clone(), crash.clone());
        let note = move |connection: &Connection| match look(connection, &session)? {
            Some(seen) if seen.owner.as_deref() == Some(node.as_str()) => {
                let crashes = seen.crashes.after_panic(&crash);
                let_go(connection, &session, &crashes)?;
                Ok(crashes.parked)
            }
            _ => Ok(None),
        };
        self.writer.write(note).await.map_err(lease_error)
    }

    async fn unpark(&self, session: &SessionId) -> Result<bool, LeaseError> {
        let session = session.clone();
        let unpark = move |connection: &Connection| match look(connection, &session)? {
            Some(LeaseRow { crashes: Crashes { parked: Some(_), .. }, .. }) => {
                let_go(connection, &session, &Crashes::default())?;
                Ok(true)
            }
            _ => Ok(false),
        };
        self.writer.write(unpark).await.map_err(lease_error)
    }
}
