//! Which sessions there are, and which of them need someone.

use async_trait::async_trait;
use jiff::Timestamp;
use roundtable_core::event::Seq;
use roundtable_core::id::SessionId;
use roundtable_core::projection::Summary;
use roundtable_ports::{Directory, Listed, LogError};
use rusqlite::{Connection, Row, params};

use super::SqliteStore;
use super::append::nanoseconds;
use super::writer::unavailable;

const COLUMNS: &str = "session.id, head, kind, topic, tenant, status, rounds_completed, current_round, has_work, wake_at";

fn listed(row: &Row<'_>) -> rusqlite::Result<Option<Listed>> {
    let (session, head) = (row.get::<_, String>(0)?, Seq(row.get(1)?));
    let (Ok(session), Some(summary)) = (session.parse(), summary(row)?) else { return Ok(None) };
    Ok(Some(Listed { session, head, summary }))
}

/// The summary in a row; nothing when its words make no sense.
pub(super) fn summary(row: &Row<'_>) -> rusqlite::Result<Option<Summary>> {
    let named = |index: usize| row.get::<_, String>(index).map(serde_json::Value::String);
    let (kind, status) = (serde_json::from_value(named(2)?), serde_json::from_value(named(5)?));
    let wake_at: Option<i64> = row.get(9)?;
    let (Ok(kind), Ok(status)) = (kind, status) else { return Ok(None) };
    Ok(Some(Summary {
        kind,
        topic: row.get(3)?,
        tenant: row.get(4)?,
        status,
        rounds_completed: row.get(6)?,
        current_round: row.get(7)?,
        has_work: row.get(8)?,
        wake_at: wake_at.and_then(|at| Timestamp::from_nanosecond(i128::from(at)).ok()),
    }))
}

pub(super) fn list(connection: &Connection, most: usize) -> Result<Vec<Listed>, LogError> {
    // A caller that wants all of them may name a number that the file has no form for.
    let most = i64::try_from(most).unwrap_or(i64::MAX);
    query(connection, "ORDER BY number DESC LIMIT ?1", [most])
}

pub(super) fn find(
    connection: &Connection,
    session: &SessionId,
) -> Result<Option<Listed>, LogError> {
    Ok(query(connection, "WHERE id = ?1", [session.as_str()])?.into_iter().next())
}

fn query(
    connection: &Connection,
    tail: &str,
    values: impl rusqlite::Params,
) -> Result<Vec<Listed>, LogError> {
    let sql = format!("SELECT {COLUMNS} FROM session {tail}");
    let mut statement = connection.prepare_cached(&sql).map_err(|error| unavailable(&error))?;
    let rows =
        statement.query_map(values, listed).and_then(Iterator::collect::<rusqlite::Result<Vec<_>>>);
    Ok(rows.map_err(|error| unavailable(&error))?.into_iter().flatten().collect())
}

#[async_trait]
impl Directory for SqliteStore {
    async fn find(&self, session: &SessionId) -> Result<Option<Listed>, LogError> {
        let session = session.clone();
        self.readers.read(move |connection| find(connection, &session)).await
    }

    async fn list(&self, most: usize) -> Result<Vec<Listed>, LogError> {
        self.readers.read(move |connection| list(connection, most)).await
    }

    async fn list_due(&self, now: Timestamp, most: usize) -> Result<Vec<SessionId>, LogError> {
        let due = move |connection: &Connection| {
            let sql = "SELECT session.id, lease.owner FROM session LEFT JOIN lease ON lease.session = session.id \
                       WHERE (has_work OR wake_at IS NOT NULL) AND (has_work OR wake_at <= ?1) LIMIT ?2";
            let mut statement =
                connection.prepare_cached(sql).map_err(|error| unavailable(&error))?;
            let rows = statement
                .query_map(params![nanoseconds(now), most], |row| Ok((row.get(0)?, row.get(1)?)));
            rows.and_then(Iterator::collect::<rusqlite::Result<Vec<(String, Option<String>)>>>)
                .map_err(|error| unavailable(&error))
        };
        let rows = self.readers.read(due).await?;
        let free = |owner: &Option<String>| {
            owner.as_deref().is_none_or(|owner| !self.liveness.is_alive(owner))
        };
        Ok(rows
            .into_iter()
            .filter(|(_, owner)| free(owner))
            .filter_map(|(id, _)| id.parse().ok())
            .collect())
    }

    async fn next_wake(&self) -> Result<Option<Timestamp>, LogError> {
        let next = |connection: &Connection| {
            let sql = "SELECT min(wake_at) FROM session WHERE has_work OR wake_at IS NOT NULL";
            let at: Option<i64> = connection
                .query_row(sql, [], |row| row.get(0))
                .map_err(|error| unavailable(&error))?;
            Ok(at.and_then(|at| Timestamp::from_nanosecond(i128::from(at)).ok()))
        };
        self.readers.read(next).await
    }
}
