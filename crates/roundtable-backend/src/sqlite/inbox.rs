//! Commands for sessions that another process owns.

use async_trait::async_trait;
use roundtable_core::id::{CommandId, NodeId};
use roundtable_ports::{Answered, Inbox, LogError, Posted, Rings};
use rusqlite::{Connection, OptionalExtension as _, params};

use super::SqliteStore;
use super::append::execute;
use super::writer::unavailable;

fn json<T>(result: serde_json::Result<T>) -> Result<T, LogError> {
    result.map_err(|error| LogError::Unavailable(error.to_string()))
}

#[async_trait]
impl Inbox for SqliteStore {
    async fn post(&self, posted: &Posted) -> Result<(), LogError> {
        let command = json(serde_json::to_string(&posted.command))?;
        let (id, session) = (posted.id.clone(), posted.session.clone());
        let put = move |connection: &Connection| {
            let sql = "INSERT OR IGNORE INTO inbox (id, session, command, at) VALUES (?1, ?2, ?3, unixepoch() * 1000000000)";
            execute(connection, sql, params![id.as_str(), session.as_str(), command])
        };
        self.writer.write(put).await
    }

    async fn list_posted(&self, node: &NodeId) -> Result<Vec<Posted>, LogError> {
        let node = node.clone();
        let list = move |connection: &Connection| {
            let sql = "SELECT inbox.id, inbox.session, inbox.command FROM inbox \
                       JOIN lease ON lease.session = inbox.session AND lease.owner = ?1 \
                       WHERE inbox.answer IS NULL ORDER BY inbox.at, inbox.id";
            let mut statement =
                connection.prepare_cached(sql).map_err(|error| unavailable(&error))?;
            let rows = statement
                .query_map([node.as_str()], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)));
            rows.and_then(Iterator::collect::<rusqlite::Result<Vec<(String, String, String)>>>)
                .map_err(|error| unavailable(&error))
        };
        let rows = self.readers.read(list).await?;
        let posted = rows.into_iter().filter_map(|(id, session, command)| {
            let command = serde_json::from_str(&command).ok()?;
            Some(Posted { id: id.parse().ok()?, session: session.parse().ok()?, command })
        });
        Ok(posted.collect())
    }

    async fn answer(&self, id: &CommandId, answer: &Answered) -> Result<(), LogError> {
        let (id, answer) = (id.clone(), json(serde_json::to_string(answer))?);
        let put = move |connection: &Connection| {
            execute(
                connection,
                "UPDATE inbox SET answer = ?2 WHERE id = ?1",
                params![id.as_str(), answer],
            )
        };
        self.writer.write(put).await
    }

    async fn take_answer(&self, id: &CommandId) -> Result<Option<Answered>, LogError> {
        let wanted = id.clone();
        let find = move |connection: &Connection| {
            let sql = "SELECT answer FROM inbox WHERE id = ?1 AND answer IS NOT NULL";
            let mut statement =
                connection.prepare_cached(sql).map_err(|error| unavailable(&error))?;
            let answer =
                statement.query_row([wanted.as_str()], |row| row.get::<_, String>(0)).optional();
            answer.map_err(|error| unavailable(&error))
        };
        let Some(answer) = self.readers.read(find).await? else { return Ok(None) };
        let id = id.clone();
        let forget = move |connection: &Connection| {
            execute(connection, "DELETE FROM inbox WHERE id = ?1", params![id.as_str()])
        };
        self.writer.write(forget).await?;
        json(serde_json::from_str(&answer)).map(Some)
    }

    async fn listen_inbox(&self) -> Rings {
        crate::rings(self.bell.writes())
    }
}
