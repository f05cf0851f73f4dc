//! A store that is only read: nothing is claimed, nothing is driven, nothing is changed.

use std::path::Path;
use std::sync::Arc;

use roundtable_core::digest::Digest;
use roundtable_core::event::{Event, Seq};
use roundtable_core::id::SessionId;
use roundtable_core::projection::Summary;
use roundtable_ports::{LogError, SessionListing, Snapshot};
use rusqlite::{Connection, OptionalExtension as _, Row};

use super::file::{DataFile, why_not};
use super::reader::Readers;
use super::writer::unavailable;
use super::{FILE, OpenError, SqliteStore, directory, read, schema};

/// A store in a directory, to be read only. Others may write it meanwhile.
pub struct SqliteArchive {
    file: DataFile,
    readers: Readers,
}

/// A session's row, as it is stored: also where a list would leave it out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionRow {
    /// Its id, which may be none.
    pub id: String,
    /// The session that it was forked from.
    pub parent: Option<String>,
    /// The last event that it shares with that one.
    pub parent_seq: Seq,
    /// The last event of its log.
    pub head: Seq,
    /// The session, as lists show it; nothing when it makes no sense.
    pub summary: Option<Summary>,
}

/// A snapshot, as it is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SnapshotRow {
    /// The snapshot.
    pub snapshot: Snapshot,
    /// Whether its state is the one that was written. One that is not is never used.
    pub intact: bool,
}

impl SqliteArchive {
    /// Opens the store in a directory, which has to be there.
    /// A file of an earlier format is brought up to the present one first.
    ///
    /// # Errors
    /// [`OpenError`] when there is none, or its file cannot be used.
    pub fn open(directory: &Path) -> Result<Self, OpenError> {
        let path = directory.join(FILE);
        let missing = || OpenError::Missing { directory: directory.to_owned() };
        if !path.exists() {
            return Err(missing());
        }
        let unusable = |why: String| OpenError::Unusable { path: path.clone(), why };
        let file = DataFile::at(path.clone());
        let version = file
            .connect_to_read()
            .and_then(|found| schema::version(&found))
            .map_err(|error| unusable(why_not(&error)))?;
        let newest = schema::NEWEST;
        match version {
            // A process was ended before it had made the first table.
            0 => Err(missing()),
            version if version > newest => Err(OpenError::Newer { file: path, version, newest }),
            version if version < newest => {
                drop(SqliteStore::open(directory)?);
                Self::open(directory)
            }
            _ => Ok(Self { readers: Readers::new(file.clone()), file }),
        }
    }

    /// The file.
    pub fn file(&self) -> &Path {
        self.file.path()
    }

    /// The newest sessions.
    ///
    /// # Errors
    /// [`LogError`] when they cannot be read.
    pub async fn list(&self, most: usize) -> Result<Vec<SessionListing>, LogError> {
        self.readers.read(move |connection| directory::list(connection, most)).await
    }

    /// The session with this id.
    ///
    /// # Errors
    /// [`LogError`] when it cannot be read.
    pub async fn find(&self, session: &SessionId) -> Result<Option<SessionListing>, LogError> {
        let session = session.clone();
        self.readers.read(move |connection| directory::find(connection, &session)).await
    }

    /// The newest sessions whose ids start with this text.
    ///
    /// # Errors
    /// [`LogError`] when they cannot be read.
    pub async fn starting(
        &self,
        start: &str,
        most: usize,
    ) -> Result<Vec<SessionListing>, LogError> {
        let start = start.to_owned();
        self.readers.read(move |connection| directory::starting(connection, &start, most)).await
    }

    /// Events from this position on, through the session's lineage, with the chain checked.
    ///
    /// # Errors
    /// [`LogError`] when they cannot be read, or are not what was written.
    pub async fn read(
        &self,
        session: &SessionId,
        from: Seq,
        most: usize,
    ) -> Result<Vec<Arc<Event>>, LogError> {
        let session = session.clone();
        self.readers.read(move |connection| read::events(connection, &session, from, most)).await
    }

    /// The session's snapshot, also where nobody would use it.
    ///
    /// # Errors
    /// [`LogError`] when it cannot be read.
    pub async fn find_snapshot(
        &self,
        session: &SessionId,
    ) -> Result<Option<SnapshotRow>, LogError> {
        let session = session.clone();
        self.readers.read(move |connection| snapshot_row(connection, &session)).await
    }

    /// The rows of all sessions, oldest first; in place of one that cannot be read, why.
    ///
    /// # Errors
    /// [`LogError`] when the table cannot be read.
    pub async fn rows(&self) -> Result<Vec<Result<SessionRow, String>>, LogError> {
        self.readers.read(all_rows).await
    }

    /// What is wrong with the file as a whole, in words: its pages, and events of no session.
    ///
    /// # Errors
    /// [`LogError`] when not even that can be found out.
    pub async fn check_file(&self) -> Result<Vec<String>, LogError> {
        self.readers.read(check_file).await
    }
}

/// What a list has, and what only a check needs.
const COLUMNS: &str = "session.id, head, kind, topic, tenant, status, rounds_completed, current_round, has_work, \
                       wake_at, archived, parent, parent_seq, number";

fn session_row(row: &Row<'_>) -> rusqlite::Result<SessionRow> {
    Ok(SessionRow {
        id: row.get(0)?,
        parent: row.get(11)?,
        parent_seq: Seq(row.get(12)?),
        head: Seq(row.get(1)?),
        summary: directory::summary(row)?,
    })
}

fn snapshot_row(
    connection: &Connection,
    session: &SessionId,
) -> Result<Option<SnapshotRow>, LogError> {
    let sql = "SELECT version, seq, state, snapshot.digest FROM snapshot \
               JOIN session ON session.number = snapshot.session WHERE id = ?1";
    let found = connection.query_row(sql, [session.as_str()], |row| {
        let snapshot = Snapshot { version: row.get(0)?, seq: Seq(row.get(1)?), state: row.get(2)? };
        let intact = Digest::of(&snapshot.state) == Digest::from_stored(row.get(3)?);
        Ok(SnapshotRow { snapshot, intact })
    });
    found.optional().map_err(|error| unavailable(&error))
}

fn all_rows(connection: &Connection) -> Result<Vec<Result<SessionRow, String>>, LogError> {
    let sql = format!("SELECT {COLUMNS} FROM session ORDER BY number");
    let mut statement = connection.prepare(&sql).map_err(|error| unavailable(&error))?;
    let mut rows = statement.query([]).map_err(|error| unavailable(&error))?;
    let mut found = Vec::new();
    while let Some(row) = rows.next().map_err(|error| unavailable(&error))? {
        let number: i64 = row.get(13).unwrap_or_default();
        let because = |error| format!("invalid row of session number {number}: {error}");
        found.push(session_row(row).map_err(because));
    }
    Ok(found)
}

fn check_file(connection: &Connection) -> Result<Vec<String>, LogError> {
    let check = |sql: &str| -> rusqlite::Result<Vec<String>> {
        connection.prepare(sql)?.query_map([], |row| row.get(0))?.collect()
    };
    let pages = check("PRAGMA integrity_check").map_err(|error| unavailable(&error))?;
    let orphans = "SELECT 'event ' || (id & 0xffffffff) || ' belongs to session number ' || (id >> 32) || ', which is missing' \
                   FROM event WHERE id >> 32 NOT IN (SELECT number FROM session) GROUP BY id >> 32";
    let orphans = check(orphans).map_err(|error| unavailable(&error))?;
    Ok(pages.into_iter().filter(|line| line != "ok").chain(orphans).collect())
}
