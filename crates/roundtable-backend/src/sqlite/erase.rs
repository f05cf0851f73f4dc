//! Erasing a person's words. The header of an event stays, so that the chain still holds; its body
//! goes, and everything that was made of it: search, vectors, drafts, the snapshot, what the inbox
//! keeps, and the digests by which a short text could be guessed.

use roundtable_core::event::Seq;
use roundtable_ports::{LogError, Ownership};
use rusqlite::{Connection, OptionalExtension as _, params};

use super::append::{check_epoch, execute};
use super::lineage::{self, Lineage};
use super::writer::unavailable;
use super::{SqliteStore, event_id, search, vectors};

/// Which words are to be erased.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Words {
    /// Those of these events.
    Of(Vec<Seq>),
    /// Every message that goes by this sender: `User`, or an agent's name.
    By(String),
}

/// Why words cannot be erased. Nothing was.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EraseError {
    /// The store cannot do it.
    Log(LogError),
    /// A round is open, and goes on from what would be erased.
    Busy,
    /// There is no such session.
    NotFound,
    /// The event is not the session's own.
    NotOwn {
        /// The event.
        seq: Seq,
    },
    /// The event holds no words but what the session is made of.
    NotWords {
        /// The event.
        seq: Seq,
        /// What kind it is.
        kind: String,
    },
}

impl std::fmt::Display for EraseError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Log(error) => error.fmt(f),
            Self::Busy => {
                f.write_str("a round is running; stop it or wait for its end, then erase")
            }
            Self::NotFound => f.write_str("no such session"),
            Self::NotOwn { seq } => {
                write!(f, "event {seq} belongs to the parent session; erase it there")
            }
            Self::NotWords { seq, kind } => {
                write!(f, "event {seq} ({kind}) contains no text to erase; it is kept")
            }
        }
    }
}

impl std::error::Error for EraseError {}

impl From<LogError> for EraseError {
    fn from(error: LogError) -> Self {
        Self::Log(error)
    }
}

/// The kinds whose bodies a fold can do without.
const WORDS: [&str; 11] = [
    "session_input_accepted",
    "session_input_edited",
    "model_call_finished",
    "model_call_failed",
    "model_call_cancelled",
    "model_call_interrupted",
    "tool_call_requested",
    "tool_call_published",
    "tool_call_finished",
    "context_requested",
    "context_provided",
];

/// How many pages of the search index one commit goes through while it is cleaned.
const PAGES: i64 = 500;

impl SqliteStore {
    /// Erases words of a session, for good: afterwards they are not in the file either. The
    /// session has to be claimed, so that whoever drove it reads it again, and must be at rest.
    /// Returns the events whose bodies went.
    ///
    /// # Errors
    /// [`EraseError`]; nothing was erased then. Only when it is [`EraseError::Log`] the words may
    /// be erased and still lie in unused parts of the file; erasing again finishes it.
    pub async fn erase(&self, own: &Ownership, words: &Words) -> Result<Vec<Seq>, EraseError> {
        let (own, words) = (own.clone(), words.clone());
        // A refusal is not a failure of the commit: it goes through as a value.
        let erase = move |connection: &Connection| match erase(connection, &own, &words) {
            Ok(erased) => Ok(Ok(erased)),
            Err(EraseError::Log(error)) => Err(error),
            Err(refused) => Ok(Err(refused)),
        };
        let erased = self.writer.write(erase).await??;
        self.shelf.clear();
        while self.writer.write(clean_search).await? {}
        self.writer.write_alone(clean_file).await?;
        Ok(erased)
    }
}

fn erase(connection: &Connection, own: &Ownership, words: &Words) -> Result<Vec<Seq>, EraseError> {
    check_epoch(connection, own)?;
    // It can forget only what it knows.
    search::catch_up(connection)?;
    let place = lineage::find(connection, own.session.as_str())?.ok_or(EraseError::NotFound)?;
    let open = "SELECT 1 FROM round WHERE session = ?1 AND status = 'in-progress'";
    if exists(connection, open, [place.number])? {
        return Err(EraseError::Busy);
    }
    let mut seqs = match words {
        Words::Of(seqs) => seqs.clone(),
        Words::By(sender) => said_by(connection, &place, sender)?,
    };
    let about = seqs.iter().map(|seq| requests_about(connection, &place, *seq));
    let about: Vec<Vec<Seq>> = about.collect::<Result<_, _>>()?;
    seqs.extend(about.into_iter().flatten());
    seqs.sort_unstable();
    seqs.dedup();
    // All of them may go, or none does.
    let found = seqs.iter().map(|seq| find_words(connection, &place, *seq));
    for id in found.collect::<Result<Vec<i64>, EraseError>>()? {
        erase_body(connection, id)?;
    }
    if !seqs.is_empty() {
        forget_traces(connection, own, &place, &seqs)?;
    }
    Ok(seqs)
}

/// The events that hold what someone said: messages, and inputs that opened no round.
fn said_by(connection: &Connection, place: &Lineage, sender: &str) -> Result<Vec<Seq>, LogError> {
    let sql = "SELECT body & 0xffffffff FROM message WHERE session = ?1 AND sender = ?2 AND body >> 32 = ?1 \
               UNION SELECT id & 0xffffffff FROM event WHERE id BETWEEN ?1 << 32 AND (?1 << 32) | 0xffffffff \
               AND kind IN ('session_input_accepted', 'session_input_edited') AND body ->> '$.sender' = ?2";
    let mut statement = connection.prepare_cached(sql).map_err(|error| unavailable(&error))?;
    let seqs = statement
        .query_map(params![place.number, sender], |row| row.get(0).map(Seq))
        .and_then(Iterator::collect);
    seqs.map_err(|error| unavailable(&error))
}

/// The requests that repeat the arguments of a tool call: approvals and unknown outcomes show them.
fn requests_about(
    connection: &Connection,
    place: &Lineage,
    seq: Seq,
) -> Result<Vec<Seq>, LogError> {
    let Some(id) = event_id(place.number, seq) else { return Ok(Vec::new()) };
    let sql = "SELECT request.id & 0xffffffff FROM event AS call JOIN event AS request \
               ON request.tool_call = call.tool_call AND request.kind = 'context_requested' \
               AND request.id BETWEEN ?2 << 32 AND (?2 << 32) | 0xffffffff \
               WHERE call.id = ?1 AND call.kind = 'tool_call_requested'";
    let mut statement = connection.prepare_cached(sql).map_err(|error| unavailable(&error))?;
    let seqs = statement
        .query_map(params![id, place.number], |row| row.get(0).map(Seq))
        .and_then(Iterator::collect);
    seqs.map_err(|error| unavailable(&error))
}

/// The row of an event that may be erased.
fn find_words(connection: &Connection, place: &Lineage, seq: Seq) -> Result<i64, EraseError> {
    let id = event_id(place.number, seq).filter(|_| seq > place.base && seq <= place.head);
    let id = id.ok_or(EraseError::NotOwn { seq })?;
    let kind: Option<String> = connection
        .query_row("SELECT kind FROM event WHERE id = ?1", [id], |row| row.get(0))
        .optional()
        .map_err(|error| unavailable(&error))?;
    let kind = kind.ok_or(EraseError::NotOwn { seq })?;
    match WORDS.contains(&kind.as_str()) {
        true => Ok(id),
        false => Err(EraseError::NotWords { seq, kind }),
    }
}

fn erase_body(connection: &Connection, id: i64) -> Result<(), LogError> {
    // The search has to be told what it is to forget while it is still known, and gets the empty
    // text that is left. A fork may have the message too.
    let sql = "INSERT INTO message_text (message_text, rowid, text) \
               SELECT 'delete', message_content.id, message_content.text FROM message \
               JOIN message_content ON message_content.id = message.id \
               JOIN event ON event.id = message.body \
               WHERE message.body = ?1 AND event.body IS NOT NULL";
    execute(connection, sql, [id])?;
    let sql = "INSERT INTO message_text (rowid, text) SELECT message.id, '' FROM message \
               JOIN event ON event.id = message.body WHERE message.body = ?1 AND event.body IS NOT NULL";
    execute(connection, sql, [id])?;
    execute(connection, "UPDATE event SET salt = NULL, body = NULL WHERE id = ?1", [id])?;
    execute(connection, "DELETE FROM request WHERE body = ?1", [id])
}

/// What else was made of the words, or tells what they were.
fn forget_traces(
    connection: &Connection,
    own: &Ownership,
    place: &Lineage,
    seqs: &[Seq],
) -> Result<(), LogError> {
    let session = own.session.as_str();
    vectors::forget(connection, session)?;
    execute(connection, "DELETE FROM draft WHERE session = ?1", [session])?;
    execute(connection, "DELETE FROM snapshot WHERE session = ?1", [place.number])?;
    // What the inbox keeps of commands that are in the log. The others are not in it yet.
    let sql = "DELETE FROM inbox WHERE session = ?1 AND (answer IS NOT NULL \
               OR id IN (SELECT id FROM command WHERE session = ?2))";
    execute(connection, sql, params![session, place.number])?;
    // A command's digest has no salt. Without one, sending the command again is refused.
    for seq in seqs {
        let sql = "UPDATE command SET digest = '' WHERE session = ?1 \
                   AND receipt ->> '$.after' < ?2 AND receipt ->> '$.seq' >= ?2";
        execute(connection, sql, params![place.number, seq.0])?;
    }
    Ok(())
}

fn exists(
    connection: &Connection,
    sql: &str,
    values: impl rusqlite::Params,
) -> Result<bool, LogError> {
    let mut statement = connection.prepare_cached(sql).map_err(|error| unavailable(&error))?;
    statement.exists(values).map_err(|error| unavailable(&error))
}

/// Has the search drop what it marked as deleted, a part at a time. Says whether there is more.
pub(super) fn clean_search(connection: &Connection) -> Result<bool, LogError> {
    let before = connection.total_changes();
    // A negative number has all parts of the index merged into one, as the search's own
    // `optimize` does, but in steps that let others write in between.
    let sql = "INSERT INTO message_text (message_text, rank) VALUES ('merge', ?1)";
    execute(connection, sql, [-PAGES])?;
    Ok(connection.total_changes() - before >= 2)
}

/// Moves everything into the file and empties the write-ahead log, in which the words still are.
pub(super) fn clean_file(connection: &Connection) -> Result<(), LogError> {
    let busy = connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get(0));
    match busy.map_err(|error| unavailable(&error))? {
        0 => Ok(()),
        _ => Err(LogError::Unavailable(
            "another process keeps reading the file; the text is erased but still in the write-ahead log"
                .to_owned(),
        )),
    }
}
