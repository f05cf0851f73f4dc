//! How far running replies are: rows that are overwritten.

use std::collections::BTreeMap;

use async_trait::async_trait;
use roundtable_core::id::{IterationId, SessionId};
use roundtable_ports::{Drafts, LogError, Ownership};
use rusqlite::params;

use super::SqliteStore;
use super::append::{check_epoch, execute};
use super::writer::unavailable;

#[async_trait]
impl Drafts for SqliteStore {
    async fn put_draft(
        &self,
        own: &Ownership,
        iteration: &IterationId,
        text: &str,
    ) -> Result<(), LogError> {
        let (own, iteration, text) = (own.clone(), iteration.clone(), text.to_owned());
        let put = move |connection: &rusqlite::Connection| {
            check_epoch(connection, &own)?;
            let sql = "INSERT OR REPLACE INTO draft (session, iteration, text) VALUES (?1, ?2, ?3)";
            execute(connection, sql, params![own.session.as_str(), iteration.as_str(), text])
        };
        self.writer.write(put).await
    }

    async fn list_drafts(
        &self,
        session: &SessionId,
    ) -> Result<BTreeMap<IterationId, String>, LogError> {
        let session = session.clone();
        let list = move |connection: &rusqlite::Connection| {
            let sql = "SELECT iteration, text FROM draft WHERE session = ?1";
            let mut statement =
                connection.prepare_cached(sql).map_err(|error| unavailable(&error))?;
            let rows = statement
                .query_map([session.as_str()], |row| Ok((row.get::<_, String>(0)?, row.get(1)?)));
            let rows: Vec<(String, String)> =
                rows.and_then(Iterator::collect).map_err(|error| unavailable(&error))?;
            Ok(rows.into_iter().filter_map(|(id, text)| Some((id.parse().ok()?, text))).collect())
        };
        self.readers.read(list).await
    }

    async fn clear_drafts(&self, own: &Ownership) -> Result<(), LogError> {
        let own = own.clone();
        let clear = move |connection: &rusqlite::Connection| {
            check_epoch(connection, &own)?;
            execute(
                connection,
                "DELETE FROM draft WHERE session = ?1",
                params![own.session.as_str()],
            )
        };
        self.writer.write(clear).await
    }
}
