//! Who may write a session.

use async_trait::async_trait;
use roundtable_core::id::{NodeId, SessionId};
use roundtable_ports::{LeaseError, Leases, LogError, Ownership};
use rusqlite::{Connection, OptionalExtension as _, params};

use super::SqliteStore;
use super::append::execute;
use super::writer::unavailable;

/// How often a claim is tried again when others claim the session at the same time.
const TRIES: u32 = 16;

#[expect(clippy::needless_pass_by_value, reason = "it stands where an error is mapped")]
fn lease_error(error: LogError) -> LeaseError {
    LeaseError::Unavailable(error.to_string())
}

impl SqliteStore {
    async fn owner_of(&self, session: &SessionId) -> Result<Option<String>, LogError> {
        let session = session.clone();
        let find = move |connection: &Connection| {
            let sql = "SELECT owner FROM lease WHERE session = ?1";
            let mut statement =
                connection.prepare_cached(sql).map_err(|error| unavailable(&error))?;
            let owner = statement.query_row([session.as_str()], |row| row.get(0)).optional();
            Ok(owner.map_err(|error| unavailable(&error))?.flatten())
        };
        self.readers.read(find).await
    }

    /// Claims a session from whom it was seen with, and from nobody else: of two processes that
    /// both saw a dead owner, one takes its place.
    async fn claim_from(
        &self,
        seen: Option<String>,
        session: &SessionId,
        node: &NodeId,
    ) -> Result<Option<Ownership>, LogError> {
        let (session, node) = (session.clone(), node.clone());
        let claim = move |connection: &Connection| {
            let sql = "INSERT INTO lease (session, epoch, owner) VALUES (?1, 1, ?2) ON CONFLICT (session) \
                       DO UPDATE SET epoch = epoch + 1, owner = ?2 WHERE owner IS ?3 OR owner IS NULL \
                       OR owner = ?2 RETURNING epoch";
            let mut statement =
                connection.prepare_cached(sql).map_err(|error| unavailable(&error))?;
            let epoch = statement
                .query_row(params![session.as_str(), node.as_str(), seen], |row| row.get(0))
                .optional();
            let epoch: Option<u64> = epoch.map_err(|error| unavailable(&error))?;
            Ok(epoch.map(|epoch| Ownership { session: session.clone(), node: node.clone(), epoch }))
        };
        self.writer.write(claim).await
    }
}

#[async_trait]
impl Leases for SqliteStore {
    async fn claim_one(&self, session: &SessionId, node: &NodeId) -> Result<Ownership, LeaseError> {
        for _ in 0..TRIES {
            let seen = self.owner_of(session).await.map_err(lease_error)?;
            if let Some(owner) = seen.as_deref()
                && owner != node.as_str()
                && self.liveness.is_alive(owner)
            {
                let node =
                    owner.parse().map_err(|error| LeaseError::Unavailable(format!("{error}")))?;
                return Err(LeaseError::Held { node });
            }
            let claimed = self.claim_from(seen, session, node).await.map_err(lease_error)?;
            if let Some(own) = claimed {
                return Ok(own);
            }
        }
        Err(LeaseError::Unavailable("the session changes hands all the time; try again".to_owned()))
    }

    async fn renew(&self, node: &NodeId) -> Result<(), LeaseError> {
        self.liveness.enliven(node).map_err(|error| LeaseError::Unavailable(error.to_string()))
    }

    async fn release(&self, own: &Ownership) -> Result<(), LeaseError> {
        let own = own.clone();
        let release = move |connection: &Connection| {
            let (session, epoch, node) = (own.session.as_str(), own.epoch, own.node.as_str());
            let sql =
                "UPDATE lease SET owner = NULL WHERE session = ?1 AND epoch = ?2 AND owner = ?3";
            execute(connection, sql, params![session, epoch, node])?;
            // A session that was claimed and never written leaves no trace.
            let sql = "DELETE FROM lease WHERE session = ?1 AND epoch = ?2 AND owner IS NULL \
                       AND NOT EXISTS (SELECT 1 FROM session WHERE id = ?1)";
            execute(connection, sql, params![session, epoch])
        };
        self.writer.write(release).await.map_err(lease_error)
    }
}
