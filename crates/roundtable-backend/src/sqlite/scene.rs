//! Rounds and messages of a scene, by the names that people who know the tables use. A scene is
//! named by its number, as in the views `Scenes`, `Messages` and `SceneRounds`; all of it counts
//! the takes that are active and no others.

use jiff::Timestamp;
use roundtable_core::id::SessionId;
use roundtable_ports::LogError;
use rusqlite::{Connection, OptionalExtension as _, Params, Row, params};

use super::SqliteStore;
use super::append::nanoseconds;
use super::writer::unavailable;

/// A message, as the view `Messages` has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SceneMessage {
    /// Its number in the table.
    pub id: i64,
    /// The scene.
    pub scene: i64,
    /// Its number in the scene, from 1.
    pub number: u64,
    /// What was said. Empty when it was erased.
    pub text: String,
    /// Who said it: `User`, or a character's name.
    pub sender: String,
    /// When, in UTC.
    pub timestamp: String,
    /// How many tokens it took, where that is known.
    pub tokens: u64,
    /// The round that it belongs to.
    pub round: u32,
}

/// A round, as the view `SceneRounds` has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SceneRound {
    /// The scene.
    pub scene: i64,
    /// Its number in the scene, from 1.
    pub number: u32,
    /// `in-progress`, `completed`, `incomplete` or `failed`.
    pub status: String,
    /// The names of those who take part.
    pub active_characters: Vec<String>,
    /// When it began, in UTC.
    pub started_at: String,
    /// When it ended, in UTC.
    pub completed_at: Option<String>,
    /// When its memories were captured, in UTC; nothing before that.
    pub vectorized_at: Option<String>,
}

const MESSAGE: &str = "SELECT id, sceneId, messageNumber, message, sender, timestamp, tokenCount, roundNumber \
                       FROM Messages";

const ROUND: &str = "SELECT sceneId, roundNumber, status, activeCharacters, roundStartedAt, roundCompletedAt, vectorizedAt \
                     FROM SceneRounds";

fn message(row: &Row<'_>) -> rusqlite::Result<SceneMessage> {
    Ok(SceneMessage {
        id: row.get(0)?,
        scene: row.get(1)?,
        number: row.get(2)?,
        text: row.get(3)?,
        sender: row.get(4)?,
        timestamp: row.get(5)?,
        tokens: row.get(6)?,
        round: row.get(7)?,
    })
}

fn round(row: &Row<'_>) -> rusqlite::Result<SceneRound> {
    let names: String = row.get(3)?;
    Ok(SceneRound {
        scene: row.get(0)?,
        number: row.get(1)?,
        status: row.get(2)?,
        active_characters: serde_json::from_str(&names).unwrap_or_default(),
        started_at: row.get(4)?,
        completed_at: row.get(5)?,
        vectorized_at: row.get(6)?,
    })
}

fn list<T>(
    connection: &Connection,
    sql: &str,
    values: impl Params,
    read: fn(&Row<'_>) -> rusqlite::Result<T>,
) -> Result<Vec<T>, LogError> {
    let mut statement = connection.prepare_cached(sql).map_err(|error| unavailable(&error))?;
    let rows = statement.query_map(values, read).and_then(Iterator::collect);
    rows.map_err(|error| unavailable(&error))
}

fn find<T>(
    connection: &Connection,
    sql: &str,
    values: impl Params,
    read: fn(&Row<'_>) -> rusqlite::Result<T>,
) -> Result<Option<T>, LogError> {
    let mut statement = connection.prepare_cached(sql).map_err(|error| unavailable(&error))?;
    statement.query_row(values, read).optional().map_err(|error| unavailable(&error))
}

fn round_messages(
    connection: &Connection,
    scene: i64,
    round: u32,
) -> Result<Vec<SceneMessage>, LogError> {
    let sql = format!("{MESSAGE} WHERE sceneId = ?1 AND roundNumber = ?2 ORDER BY messageNumber");
    list(connection, &sql, params![scene, round], message)
}

fn current_round(connection: &Connection, scene: i64) -> Result<Option<u32>, LogError> {
    let sql = "SELECT currentRoundNumber FROM Scenes WHERE id = ?1";
    find(connection, sql, [scene], |row| row.get(0))
}

/// The last round of a scene that has a row or a message, if any has. Both are looked up at the
/// end of an index: a maximum over the views would read every message.
fn latest_round(connection: &Connection, scene: i64) -> Result<Option<u32>, LogError> {
    let mut latest = None;
    for view in ["Messages", "SceneRounds"] {
        let sql = format!(
            "SELECT roundNumber FROM {view} WHERE sceneId = ?1 ORDER BY roundNumber DESC LIMIT 1"
        );
        latest = latest.max(find(connection, &sql, [scene], |row| row.get(0))?);
    }
    Ok(latest)
}

impl SqliteStore {
    /// The number of the scene that is this session; nothing when it is no scene.
    ///
    /// # Errors
    /// [`LogError`] when the store cannot be read.
    pub async fn find_scene(&self, session: &SessionId) -> Result<Option<i64>, LogError> {
        let session = session.clone();
        let read = move |connection: &Connection| {
            let sql = "SELECT id FROM Scenes WHERE sessionId = ?1";
            find(connection, sql, [session.as_str()], |row| row.get(0))
        };
        self.readers.read(read).await
    }

    /// All messages of a scene in order, or those of one round.
    ///
    /// # Errors
    /// [`LogError`] when the store cannot be read.
    pub async fn get_messages(
        &self,
        scene: i64,
        round: Option<u32>,
    ) -> Result<Vec<SceneMessage>, LogError> {
        let read = move |connection: &Connection| match round {
            Some(round) => round_messages(connection, scene, round),
            None => {
                let sql = format!("{MESSAGE} WHERE sceneId = ?1 ORDER BY messageNumber");
                list(connection, &sql, [scene], message)
            }
        };
        self.readers.read(read).await
    }

    /// The messages of one round in order: the input, and every answer that it caused (R003-3).
    ///
    /// # Errors
    /// [`LogError`] when the store cannot be read.
    pub async fn get_round_messages(
        &self,
        scene: i64,
        round: u32,
    ) -> Result<Vec<SceneMessage>, LogError> {
        self.get_messages(scene, Some(round)).await
    }

    /// The number of the latest round; 1 when there is none (R003-3).
    ///
    /// # Errors
    /// [`LogError`] when the store cannot be read.
    pub async fn get_latest_round(&self, scene: i64) -> Result<u32, LogError> {
        let read = move |connection: &Connection| latest_round(connection, scene);
        Ok(self.readers.read(read).await?.unwrap_or(1))
    }

    /// The messages of the round in progress, or of the one that opens next and so has none;
    /// nothing of a scene that is not there (R003-3).
    ///
    /// # Errors
    /// [`LogError`] when the store cannot be read.
    pub async fn get_current_round_messages(
        &self,
        scene: i64,
    ) -> Result<Vec<SceneMessage>, LogError> {
        let read = move |connection: &Connection| match current_round(connection, scene)? {
            Some(round) => round_messages(connection, scene, round),
            None => Ok(Vec::new()),
        };
        self.readers.read(read).await
    }

    /// The last message of a scene: what its characters go on from (R003-14).
    ///
    /// # Errors
    /// [`LogError`] when the store cannot be read.
    pub async fn get_last_message(&self, scene: i64) -> Result<Option<SceneMessage>, LogError> {
        let read = move |connection: &Connection| {
            let sql = format!("{MESSAGE} WHERE sceneId = ?1 ORDER BY messageNumber DESC LIMIT 1");
            find(connection, &sql, [scene], message)
        };
        self.readers.read(read).await
    }

    /// The number of the round in progress, or of the one that opens next; nothing when there is
    /// no such scene.
    ///
    /// # Errors
    /// [`LogError`] when the store cannot be read.
    pub async fn get_current_round(&self, scene: i64) -> Result<Option<u32>, LogError> {
        self.readers.read(move |connection| current_round(connection, scene)).await
    }

    /// The number that the next round gets: one more than the latest, 1 on an empty scene
    /// (R003-4). It is opened by the engine, in the same commit as its first event; asking for
    /// its number changes nothing.
    ///
    /// # Errors
    /// [`LogError`] when the store cannot be read.
    pub async fn initialize_round(&self, scene: i64) -> Result<u32, LogError> {
        let read = move |connection: &Connection| latest_round(connection, scene);
        Ok(self.readers.read(read).await?.map_or(1, |latest| latest + 1))
    }

    /// What is known of a round, its messages apart (R003-5).
    ///
    /// # Errors
    /// [`LogError`] when the store cannot be read.
    pub async fn get_round_data(
        &self,
        scene: i64,
        number: u32,
    ) -> Result<Option<SceneRound>, LogError> {
        let read = move |connection: &Connection| {
            let sql = format!("{ROUND} WHERE sceneId = ?1 AND roundNumber = ?2");
            find(connection, &sql, params![scene, number], round)
        };
        self.readers.read(read).await
    }

    /// Notes that a round's memories are captured (R003-5). The first time counts. Says whether
    /// there is such a round.
    ///
    /// # Errors
    /// [`LogError`] when the store cannot be written.
    pub async fn mark_round_vectorized(
        &self,
        scene: i64,
        number: u32,
        at: Timestamp,
    ) -> Result<bool, LogError> {
        let mark = move |connection: &Connection| {
            let sql = "UPDATE round SET vectorized = 1, vectorized_at = coalesce(vectorized_at, ?3) \
                       WHERE session = ?1 AND number = ?2 AND active";
            let mut statement =
                connection.prepare_cached(sql).map_err(|error| unavailable(&error))?;
            let marked = statement.execute(params![scene, number, nanoseconds(at)]);
            Ok(marked.map_err(|error| unavailable(&error))? > 0)
        };
        self.writer.write(mark).await
    }
}
