//! Which sessions there are, and which of them need someone.

use async_trait::async_trait;
use jiff::Timestamp;
use roundtable_core::event::Seq;
use roundtable_core::id::SessionId;
use roundtable_core::projection::{COMPLETION, Summary};
use roundtable_ports::{Directory, LogError, Ownership, Selection, SessionListing};
use rusqlite::{Connection, OptionalExtension as _, Row, params, params_from_iter};

use super::append::nanoseconds;
use super::delete::{self, DeleteError};
use super::writer::unavailable;
use super::{SqliteStore, limit};

const COLUMNS: &str = "session.id, head, kind, topic, tenant, status, rounds_completed, current_round, has_work, wake_at, archived, \
                       created_at, updated_at, \
                       (SELECT parked FROM lease WHERE lease.session = session.id)";

/// What is due and driven by nobody. Both conditions are those of the index `session_due`, so only
/// sessions with work or a time are looked at, however many there are.
const DUE: &str = "SELECT session.id FROM session LEFT JOIN lease ON lease.session = session.id \
                   WHERE (has_work OR wake_at IS NOT NULL) AND (has_work OR wake_at <= ?2) \
                   AND (lease.owner IS NULL OR lease.owner NOT IN (SELECT value FROM json_each(?1))) \
                   AND lease.parked IS NULL \
                   LIMIT ?3";

/// When the first session that nobody drives becomes due: the index has them in this order.
const NEXT: &str = "SELECT wake_at FROM session LEFT JOIN lease ON lease.session = session.id \
                    WHERE (has_work OR wake_at IS NOT NULL) AND wake_at IS NOT NULL \
                    AND (lease.owner IS NULL OR lease.owner NOT IN (SELECT value FROM json_each(?1))) \
                   AND lease.parked IS NULL \
                    ORDER BY wake_at LIMIT 1";

fn listed(row: &Row<'_>) -> rusqlite::Result<Option<SessionListing>> {
    let (session, head) = (row.get::<_, String>(0)?, Seq(row.get(1)?));
    let (Ok(session), Some(summary)) = (session.parse(), summary(row)?) else { return Ok(None) };
    let at = |index: usize| -> rusqlite::Result<Timestamp> {
        let at = Timestamp::from_nanosecond(i128::from(row.get::<_, i64>(index)?));
        Ok(at.unwrap_or_default())
    };
    let (created_at, updated_at, parked) = (at(11)?, at(12)?, row.get(13)?);
    Ok(Some(SessionListing { session, head, created_at, updated_at, parked, summary }))
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
        archived: row.get(10)?,
        tenant: row.get(4)?,
        status,
        rounds_completed: row.get(6)?,
        current_round: row.get(7)?,
        has_work: row.get(8)?,
        wake_at: wake_at.and_then(|at| Timestamp::from_nanosecond(i128::from(at)).ok()),
    }))
}

pub(super) fn list(connection: &Connection, most: usize) -> Result<Vec<SessionListing>, LogError> {
    let tail = "WHERE kind <> ?1 ORDER BY number DESC LIMIT ?2";
    query(connection, tail, params![COMPLETION.as_str(), limit(most)])
}

/// Goes through the sessions, newest first, until there are enough; those of a tenant are found in
/// their index. SQLite knows capitals of ASCII only, so topics are compared here.
fn select(
    connection: &Connection,
    selection: &Selection,
    most: usize,
) -> Result<Vec<SessionListing>, LogError> {
    let before = selection.before.as_ref().map(SessionId::as_str);
    let tenant = selection.tenant.as_ref().map(Option::as_deref);
    let values = tenant.into_iter().chain(before.map(Some));
    let found = || {
        let sql = selecting(tenant.is_some(), before.is_some());
        let mut statement = connection.prepare_cached(&sql)?;
        let rows = statement.query_map(params_from_iter(values), listed)?;
        let chosen = rows.filter(|row| match row {
            Ok(listed) => listed.as_ref().is_some_and(|listed| selection.has(listed)),
            Err(_) => true,
        });
        chosen.take(most).collect::<rusqlite::Result<Vec<_>>>()
    };
    Ok(found().map_err(|error| unavailable(&error))?.into_iter().flatten().collect())
}

/// Sessions, newest first: of one tenant, or of all; before a session, or from the newest on.
fn selecting(of_tenant: bool, before: bool) -> String {
    let conditions = [
        (of_tenant, "tenant IS ?"),
        (before, "number < (SELECT number FROM session WHERE id = ?)"),
    ];
    let chosen = conditions.into_iter().filter_map(|(is_asked, sql)| is_asked.then_some(sql));
    let conditions = ["true"].into_iter().chain(chosen).collect::<Vec<_>>().join(" AND ");
    format!("SELECT {COLUMNS} FROM session WHERE {conditions} ORDER BY number DESC")
}

/// The newest sessions whose ids start with this.
pub(super) fn starting(
    connection: &Connection,
    start: &str,
    most: usize,
) -> Result<Vec<SessionListing>, LogError> {
    // Ids have no character above the tilde, so this range is all ids with that start.
    let end = format!("{start}\u{7f}");
    let tail = "WHERE id >= ?1 AND id < ?2 ORDER BY number DESC LIMIT ?3";
    query(connection, tail, params![start, end, limit(most)])
}

pub(super) fn find(
    connection: &Connection,
    session: &SessionId,
) -> Result<Option<SessionListing>, LogError> {
    Ok(query(connection, "WHERE id = ?1", [session.as_str()])?.into_iter().next())
}

fn query(
    connection: &Connection,
    tail: &str,
    values: impl rusqlite::Params,
) -> Result<Vec<SessionListing>, LogError> {
    let sql = format!("SELECT {COLUMNS} FROM session {tail}");
    let mut statement = connection.prepare_cached(&sql).map_err(|error| unavailable(&error))?;
    let rows =
        statement.query_map(values, listed).and_then(Iterator::collect::<rusqlite::Result<Vec<_>>>);
    Ok(rows.map_err(|error| unavailable(&error))?.into_iter().flatten().collect())
}

#[async_trait]
impl Directory for SqliteStore {
    async fn find(&self, session: &SessionId) -> Result<Option<SessionListing>, LogError> {
        let session = session.clone();
        self.readers.read(move |connection| find(connection, &session)).await
    }

    async fn list(&self, most: usize) -> Result<Vec<SessionListing>, LogError> {
        self.readers.read(move |connection| list(connection, most)).await
    }

    async fn select(
        &self,
        selection: &Selection,
        most: usize,
    ) -> Result<Vec<SessionListing>, LogError> {
        let selection = selection.clone();
        self.readers.read(move |connection| select(connection, &selection, most)).await
    }

    async fn list_due(&self, now: Timestamp, most: usize) -> Result<Vec<SessionId>, LogError> {
        let (living, most) = (self.living(), limit(most));
        let due = move |connection: &Connection| {
            let mut statement =
                connection.prepare_cached(DUE).map_err(|error| unavailable(&error))?;
            let rows = statement
                .query_map(params![living, nanoseconds(now), most], |row| row.get::<_, String>(0));
            rows.and_then(Iterator::collect::<rusqlite::Result<Vec<_>>>)
                .map_err(|error| unavailable(&error))
        };
        let rows = self.readers.read(due).await?;
        Ok(rows.into_iter().filter_map(|id| id.parse().ok()).collect())
    }

    async fn find_fork(&self, session: &SessionId) -> Result<Option<SessionId>, LogError> {
        let session = session.clone();
        self.readers.read(move |connection| delete::find_fork(connection, &session)).await
    }

    async fn delete(&self, own: &Ownership) -> Result<bool, LogError> {
        match self.delete_owned(own.clone()).await {
            Ok(()) => Ok(true),
            Err(DeleteError::Log(error)) => Err(error),
            Err(_) => Ok(false),
        }
    }

    async fn next_wake(&self) -> Result<Option<Timestamp>, LogError> {
        let living = self.living();
        let next = move |connection: &Connection| {
            let mut statement =
                connection.prepare_cached(NEXT).map_err(|error| unavailable(&error))?;
            let at: Option<i64> = statement
                .query_row([living], |row| row.get(0))
                .optional()
                .map_err(|error| unavailable(&error))?;
            Ok(at.and_then(|at| Timestamp::from_nanosecond(i128::from(at)).ok()))
        };
        self.readers.read(next).await
    }
}

impl SqliteStore {
    /// The nodes that live, as a JSON array.
    fn living(&self) -> String {
        serde_json::to_string(&self.liveness.living()).unwrap_or_else(|_| "[]".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sqlite::file::DataFile;
    use crate::sqlite::schema;

    /// How SQLite means to find something.
    fn plan(sql: &str) -> String {
        let directory = tempfile::tempdir().unwrap();
        let mut connection = DataFile::connect(&directory.path().join("roundtable.db")).unwrap();
        assert!(schema::migrate(&mut connection).is_ok());
        let mut statement = connection.prepare(&format!("EXPLAIN QUERY PLAN {sql}")).unwrap();
        // Planning looks at the statement, not at the values.
        let values = vec![rusqlite::types::Value::Null; statement.parameter_count()];
        let lines = statement
            .query_map(rusqlite::params_from_iter(values), |row| row.get::<_, String>(3))
            .unwrap();
        lines.collect::<rusqlite::Result<Vec<_>>>().unwrap().join("; ")
    }

    #[test]
    fn the_sessions_of_a_tenant_are_found_without_looking_at_those_of_others() {
        for (before, found) in [(false, "(tenant=?)"), (true, "(tenant=? AND rowid<?)")] {
            let plan = plan(&selecting(true, before));
            let index = format!("SEARCH session USING INDEX session_tenant {found}");
            assert!(plan.starts_with(&index), "{plan}");
            assert!(!plan.contains("SCAN") && !plan.contains("TEMP B-TREE"), "{plan}");
        }
    }

    #[test]
    fn f36_what_is_due_is_found_in_the_index_of_what_has_work() {
        for sql in [DUE, NEXT] {
            let plan = plan(sql);
            assert!(plan.contains(" session USING INDEX session_due"), "{plan}");
            assert!(plan.contains("SEARCH lease USING PRIMARY KEY"), "{plan}");
            assert!(!plan.contains("TEMP B-TREE"), "{plan}");
        }
    }
}
