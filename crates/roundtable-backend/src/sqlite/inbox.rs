//! Commands for sessions that another process owns.

use async_trait::async_trait;
use roundtable_core::digest::Digest;
use roundtable_core::id::{CommandId, NodeId, SessionId};
use roundtable_core::json::{MAX_BODY_LEVELS, text_levels};
use roundtable_ports::{Answered, Inbox, LogError, PostedCommand, Rings};
use rusqlite::{Connection, OptionalExtension as _, params};

use super::SqliteStore;
use super::append::execute;
use super::writer::unavailable;

/// After how many seconds a command or an answer that nobody took away is dropped: whoever left
/// it is gone, and it was never acknowledged.
const KEPT: i64 = 3600;

/// Id, session, command and digest of a row.
type Waiting = (String, String, String, Option<String>);

fn json<T>(result: serde_json::Result<T>) -> Result<T, LogError> {
    result.map_err(|error| LogError::Unavailable(error.to_string()))
}

#[async_trait]
impl Inbox for SqliteStore {
    async fn post(&self, posted: &PostedCommand) -> Result<(), LogError> {
        let command = json(serde_json::to_string(&posted.command))?;
        // The process that owns the session could not read it.
        if text_levels(command.as_bytes()) > MAX_BODY_LEVELS {
            let what = "the command is nested too deeply".to_owned();
            return Err(LogError::Unstorable { what });
        }
        let digest = posted.digest.clone();
        let (id, session) = (posted.id.clone(), posted.session.clone());
        let put = move |connection: &Connection| {
            let sql = "DELETE FROM inbox WHERE at < unixepoch() - ?1";
            execute(connection, sql, params![KEPT])?;
            let sql = "INSERT OR IGNORE INTO inbox (id, session, command, digest, at) VALUES (?1, ?2, ?3, ?4, unixepoch())";
            let digest = digest.as_ref().map(Digest::as_str);
            execute(connection, sql, params![id.as_str(), session.as_str(), command, digest])?;
            let sql = "SELECT 1 FROM inbox WHERE id = ?1 AND session = ?2 AND command = ?3 AND digest IS ?4";
            let mut statement =
                connection.prepare_cached(sql).map_err(|error| unavailable(&error))?;
            let same = statement.exists(params![id.as_str(), session.as_str(), command, digest]);
            match same.map_err(|error| unavailable(&error))? {
                true => Ok(()),
                false => Err(LogError::Duplicate { id: id.clone() }),
            }
        };
        self.writer.write(put).await
    }

    async fn list_posted(&self, node: &NodeId) -> Result<Vec<PostedCommand>, LogError> {
        let node = node.clone();
        let list = move |connection: &Connection| {
            let sql = "SELECT inbox.id, inbox.session, inbox.command, inbox.digest FROM inbox \
                       JOIN lease ON lease.session = inbox.session AND lease.owner = ?1 \
                       WHERE inbox.answer IS NULL ORDER BY inbox.number";
            let mut statement =
                connection.prepare_cached(sql).map_err(|error| unavailable(&error))?;
            let rows = statement.query_map([node.as_str()], |row| {
                Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?))
            });
            rows.and_then(Iterator::collect::<rusqlite::Result<Vec<Waiting>>>)
                .map_err(|error| unavailable(&error))
        };
        let rows = self.readers.read(list).await?;
        // What cannot be read was left by a newer version: another process may know it.
        let posted = rows.into_iter().filter_map(|(id, session, command, digest)| {
            let command = serde_json::from_str(&command).ok()?;
            let (id, session) = (id.parse().ok()?, session.parse().ok()?);
            Some(PostedCommand { id, session, command, digest: digest.map(Digest::from_stored) })
        });
        Ok(posted.collect())
    }

    async fn answer(
        &self,
        session: &SessionId,
        id: &CommandId,
        answer: &Answered,
    ) -> Result<(), LogError> {
        let (session, id) = (session.clone(), id.clone());
        let answer = json(serde_json::to_string(answer))?;
        let put = move |connection: &Connection| {
            let sql =
                "UPDATE inbox SET answer = ?3 WHERE session = ?1 AND id = ?2 AND answer IS NULL";
            execute(connection, sql, params![session.as_str(), id.as_str(), answer])
        };
        self.writer.write(put).await
    }

    async fn take_answer(
        &self,
        session: &SessionId,
        id: &CommandId,
    ) -> Result<Option<Answered>, LogError> {
        let wanted = [session.to_string(), id.to_string()];
        let key = wanted.clone();
        let find = move |connection: &Connection| {
            let sql = "SELECT 1 FROM inbox WHERE session = ?1 AND id = ?2 AND answer IS NOT NULL";
            let mut statement =
                connection.prepare_cached(sql).map_err(|error| unavailable(&error))?;
            statement.exists(wanted).map_err(|error| unavailable(&error))
        };
        // Looking does not wait for a commit; taking does.
        if !self.readers.read(find).await? {
            return Ok(None);
        }
        let take = move |connection: &Connection| {
            let sql = "DELETE FROM inbox WHERE session = ?1 AND id = ?2 AND answer IS NOT NULL RETURNING answer";
            let mut statement =
                connection.prepare_cached(sql).map_err(|error| unavailable(&error))?;
            let answer =
                statement.query_row([&key[0], &key[1]], |row| row.get::<_, String>(0)).optional();
            answer.map_err(|error| unavailable(&error))
        };
        let taken = self.writer.write(take).await?;
        taken.map(|answer| json(serde_json::from_str(&answer))).transpose()
    }

    async fn listen_inbox(&self) -> Rings {
        crate::rings(self.bell.posts())
    }
}
