//! What the full-text search knows of messages. It learns of them at the end of a commit, all at
//! once: inside a savepoint it would write down every message by itself, which takes longer than
//! the rest of the append.

use roundtable_ports::LogError;
use rusqlite::Connection;

use super::append::execute;
use super::writer::unavailable;

/// Tells the search of the messages that it does not know yet. They are the last ones.
pub(super) fn catch_up(connection: &Connection) -> Result<(), LogError> {
    let sql = "SELECT (SELECT max(id) FROM message) > coalesce((SELECT max(id) FROM message_text_docsize), 0)";
    let mut statement = connection.prepare_cached(sql).map_err(|error| unavailable(&error))?;
    let behind: Option<bool> =
        statement.query_row([], |row| row.get(0)).map_err(|error| unavailable(&error))?;
    if behind != Some(true) {
        return Ok(());
    }
    let sql = "INSERT INTO message_text (rowid, text) SELECT id, text FROM message_content \
               WHERE id > coalesce((SELECT max(id) FROM message_text_docsize), 0)";
    execute(connection, sql, [])
}
