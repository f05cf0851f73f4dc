//! Vectors as rows. They are the truth; what a process holds to search them quickly is in
//! [`super::shelf`].

use std::collections::BTreeSet;
use std::sync::Arc;

use async_trait::async_trait;
use roundtable_core::id::SessionId;
use roundtable_local::search::{Matrix, Query};
use roundtable_ports::{
    FoundVector, LogError, NewVector, Space, VectorScope, VectorSearch, Vectors, VectorsError,
};
use rusqlite::{Connection, OptionalExtension as _, params};

use super::append::execute;
use super::shelf::{Held, Shelf, Stale, catch_up};
use super::writer::unavailable;
use super::{SqliteStore, erase};

/// How often a search begins again because others changed what it looks at.
const TRIES: u32 = 100;

/// The rows of one space in one scope, and how far they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Mark {
    pub number: i64,
    pub version: i64,
    /// The version of the last removal.
    pub removed: i64,
}

/// What to write of a vector.
pub(super) struct Line {
    key: String,
    session: Option<String>,
    payload: String,
    numbers: Vec<u8>,
}

impl From<NewVector> for Line {
    fn from(new: NewVector) -> Self {
        Self {
            key: new.key,
            session: new.session.map(|session| session.as_str().to_owned()),
            payload: new.payload.to_string(),
            numbers: new.vector.iter().flat_map(|number| number.to_le_bytes()).collect(),
        }
    }
}

#[async_trait]
impl Vectors for SqliteStore {
    async fn put_vectors(
        &self,
        space: &Space,
        scope: &VectorScope,
        vectors: Vec<NewVector>,
    ) -> Result<(), VectorsError> {
        vectors.iter().try_for_each(|vector| vector.check(space))?;
        if vectors.is_empty() {
            return Ok(());
        }
        let lines: Vec<Line> = vectors.into_iter().map(Line::from).collect();
        let (space, scope) = (space.to_string(), scope.as_str().to_owned());
        let put = move |connection: &Connection| put(connection, &space, &scope, &lines);
        self.writer.write(put).await.map_err(lost)
    }

    async fn remove_vectors(
        &self,
        space: &Space,
        scope: &VectorScope,
        keys: &[String],
    ) -> Result<usize, VectorsError> {
        let (space, scope) = (space.to_string(), scope.as_str().to_owned());
        let keys = keys.to_vec();
        let remove = move |connection: &Connection| remove(connection, &space, &scope, &keys);
        self.writer.write(remove).await.map_err(lost)
    }

    async fn erase_scope(&self, scope: &VectorScope) -> Result<usize, VectorsError> {
        let name = scope.as_str().to_owned();
        let count = self.writer.write(move |connection| erase_scope(connection, &name)).await;
        let count = count.map_err(lost)?;
        self.shelf.forget(scope.as_str());
        self.writer.write_alone(erase::clean_file).await.map_err(lost)?;
        Ok(count)
    }

    async fn erase_vectors_of(&self, session: &SessionId) -> Result<usize, VectorsError> {
        let session = session.as_str().to_owned();
        let count = self.writer.write(move |connection| forget(connection, &session)).await;
        let count = count.map_err(lost)?;
        self.shelf.clear();
        self.writer.write_alone(erase::clean_file).await.map_err(lost)?;
        Ok(count)
    }

    async fn search_vectors(
        &self,
        search: &VectorSearch,
    ) -> Result<Vec<FoundVector>, VectorsError> {
        search.check()?;
        let query = Query::new(&search.query);
        let query = Arc::new(query.map_err(|error| VectorsError::Refused(error.to_string()))?);
        let space = Arc::new(search.space.clone());
        let scopes: Arc<BTreeSet<VectorScope>> = Arc::new(search.scopes.iter().cloned().collect());
        for _ in 0..TRIES {
            let (shelf, query, limit) = (self.shelf.clone(), query.clone(), search.limit);
            let (space, scopes) = (space.clone(), scopes.clone());
            let look = move |connection: &Connection| {
                let look = Look { connection, shelf: &shelf, space: &space, query: &query, limit };
                look.through(&scopes)
            };
            if let Some(found) = self.readers.read(look).await.map_err(lost)? {
                return Ok(found);
            }
        }
        Err(VectorsError::Unavailable("the vectors keep changing; try again".to_owned()))
    }
}

pub(super) fn lost(error: LogError) -> VectorsError {
    match error {
        LogError::Unavailable(what) => VectorsError::Unavailable(what),
        error => VectorsError::Unavailable(error.to_string()),
    }
}

/// A search, as of one moment.
struct Look<'a> {
    connection: &'a Connection,
    shelf: &'a Shelf,
    space: &'a Space,
    query: &'a Query,
    limit: usize,
}

/// A vector among the best of its scope: its score, the number of its rows, and its key.
type Hit = (f32, i64, Arc<str>);

impl Look<'_> {
    /// Ranks what is in these scopes; nothing when this moment has been overtaken by another
    /// search, which holds what is newer.
    fn through(
        &self,
        scopes: &BTreeSet<VectorScope>,
    ) -> Result<Option<Vec<FoundVector>>, LogError> {
        let mut hits = Vec::new();
        for scope in scopes {
            match self.inside(scope) {
                Ok(found) => hits.extend(found.into_iter().map(|hit| (scope, hit))),
                Err(Stale::Overtaken) => return Ok(None),
                Err(Stale::Log(error)) => return Err(error),
            }
        }
        hits.sort_by(|(a_scope, a), (b_scope, b)| {
            b.0.total_cmp(&a.0).then_with(|| (a_scope, &a.2).cmp(&(b_scope, &b.2)))
        });
        hits.truncate(self.limit);
        let found = hits.into_iter().map(|(scope, (score, number, key))| {
            let payload = payload(self.connection, number, &key)?;
            Ok(FoundVector { scope: scope.clone(), key: key.to_string(), score, payload })
        });
        found.collect::<Result<Vec<_>, LogError>>().map(Some)
    }

    /// The best of one scope.
    fn inside(&self, scope: &VectorScope) -> Result<Vec<Hit>, Stale> {
        let name = (self.space.to_string(), scope.as_str().to_owned());
        let Some(mark) = find_mark(self.connection, &name.0, &name.1).map_err(Stale::Log)? else {
            self.shelf.forget(scope.as_str());
            return Ok(Vec::new());
        };
        let read = |held: &mut Held| catch_up(self.connection, held, mark);
        let search = |matrix: &Matrix<Arc<str>>| {
            let hits = matrix.nearest(self.query, self.limit)?.into_iter();
            Ok(hits.map(|hit| (hit.score, mark.number, hit.key.clone())).collect())
        };
        self.shelf.nearest(&name, mark, self.space.dimension(), read, search)
    }
}

fn find_mark(connection: &Connection, space: &str, scope: &str) -> Result<Option<Mark>, LogError> {
    let sql = "SELECT number, version, removed FROM vector_scope WHERE scope = ?1 AND space = ?2";
    let mut statement = connection.prepare_cached(sql).map_err(|error| unavailable(&error))?;
    let mark = statement.query_row([scope, space], |row| {
        Ok(Mark { number: row.get(0)?, version: row.get(1)?, removed: row.get(2)? })
    });
    mark.optional().map_err(|error| unavailable(&error))
}

fn payload(connection: &Connection, number: i64, key: &str) -> Result<serde_json::Value, LogError> {
    let sql = "SELECT payload FROM vector WHERE scope = ?1 AND key = ?2";
    let mut statement = connection.prepare_cached(sql).map_err(|error| unavailable(&error))?;
    let text: String = statement
        .query_row(params![number, key], |row| row.get(0))
        .map_err(|error| unavailable(&error))?;
    serde_json::from_str(&text)
        .map_err(|_| LogError::Unavailable(format!("the payload of vector \"{key}\" is damaged")))
}

pub(super) fn put(
    connection: &Connection,
    space: &str,
    scope: &str,
    lines: &[Line],
) -> Result<(), LogError> {
    let sql = "INSERT INTO vector_scope (space, scope, version, removed) VALUES (?1, ?2, 1, 0) \
               ON CONFLICT (scope, space) DO UPDATE SET version = version + 1 \
               RETURNING number, version";
    let mut statement = connection.prepare_cached(sql).map_err(|error| unavailable(&error))?;
    let (number, version): (i64, i64) = statement
        .query_row([space, scope], |row| Ok((row.get(0)?, row.get(1)?)))
        .map_err(|error| unavailable(&error))?;
    let sql = "INSERT INTO vector (scope, key, version, session, payload, numbers) \
               VALUES (?1, ?2, ?3, ?4, ?5, ?6) ON CONFLICT (scope, key) DO UPDATE SET \
               version = excluded.version, session = excluded.session, \
               payload = excluded.payload, numbers = excluded.numbers";
    for Line { key, session, payload, numbers } in lines {
        execute(connection, sql, params![number, key, version, session, payload, numbers])?;
    }
    Ok(())
}

fn remove(
    connection: &Connection,
    space: &str,
    scope: &str,
    keys: &[String],
) -> Result<usize, LogError> {
    let Some(mark) = find_mark(connection, space, scope)? else { return Ok(0) };
    let sql = "DELETE FROM vector WHERE scope = ?1 AND key = ?2";
    let mut statement = connection.prepare_cached(sql).map_err(|error| unavailable(&error))?;
    let mut count = 0;
    for key in keys {
        let removed = statement.execute(params![mark.number, key]);
        count += removed.map_err(|error| unavailable(&error))?;
    }
    if count > 0 {
        note_removal(connection, mark.number)?;
    }
    Ok(count)
}

fn note_removal(connection: &Connection, number: i64) -> Result<(), LogError> {
    let sql =
        "UPDATE vector_scope SET version = version + 1, removed = version + 1 WHERE number = ?1";
    execute(connection, sql, [number])
}

/// The name of the scope goes too.
fn erase_scope(connection: &Connection, scope: &str) -> Result<usize, LogError> {
    let sql =
        "DELETE FROM vector WHERE scope IN (SELECT number FROM vector_scope WHERE scope = ?1)";
    let mut statement = connection.prepare_cached(sql).map_err(|error| unavailable(&error))?;
    let count = statement.execute([scope]).map_err(|error| unavailable(&error))?;
    execute(connection, "DELETE FROM vector_scope WHERE scope = ?1", [scope])?;
    Ok(count)
}

/// Removes the vectors that were made of a session's words.
pub(super) fn forget(connection: &Connection, session: &str) -> Result<usize, LogError> {
    let sql = "SELECT DISTINCT scope FROM vector WHERE session = ?1";
    let mut statement = connection.prepare_cached(sql).map_err(|error| unavailable(&error))?;
    let scopes: Vec<i64> = statement
        .query_map([session], |row| row.get(0))
        .and_then(Iterator::collect)
        .map_err(|error| unavailable(&error))?;
    let sql = "DELETE FROM vector WHERE session = ?1";
    let mut statement = connection.prepare_cached(sql).map_err(|error| unavailable(&error))?;
    let count = statement.execute([session]).map_err(|error| unavailable(&error))?;
    scopes.into_iter().try_for_each(|number| note_removal(connection, number))?;
    Ok(count)
}
