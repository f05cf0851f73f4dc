//! Where a session comes from, and whose table rows its past is: a fork's past is its origin's.

use roundtable_core::digest::Digest;
use roundtable_core::event::Seq;
use roundtable_core::event::chain::genesis;
use roundtable_core::id::SessionId;
use roundtable_ports::LogError;
use rusqlite::{Connection, OptionalExtension as _};

use super::event_id;
use super::writer::unavailable;

/// A session's row, as far as its log is concerned.
pub(super) struct Lineage {
    pub number: i64,
    pub parent: Option<String>,
    /// The last event that is the parent's; 0 without one.
    pub base: Seq,
    pub head: Seq,
    /// The hash of the event at the head.
    pub hash: Digest,
}

pub(super) fn find(connection: &Connection, session: &str) -> Result<Option<Lineage>, LogError> {
    let sql = "SELECT number, parent, parent_seq, head, head_hash FROM session WHERE id = ?1";
    let mut statement = connection.prepare_cached(sql).map_err(|error| unavailable(&error))?;
    let found = statement.query_row([session], |row| {
        Ok(Lineage {
            number: row.get(0)?,
            parent: row.get(1)?,
            base: Seq(row.get(2)?),
            head: Seq(row.get(3)?),
            hash: Digest::from_stored(row.get(4)?),
        })
    });
    found.optional().map_err(|error| unavailable(&error))
}

impl Lineage {
    /// The hash that the first event of its own follows on.
    pub fn hash_before(&self, connection: &Connection) -> Result<Digest, LogError> {
        match &self.parent {
            None => Ok(genesis()),
            Some(parent) => hash_at(connection, &parsed(parent)?, self.base),
        }
    }
}

/// An id that was stored.
pub(super) fn parsed(session: &str) -> Result<SessionId, LogError> {
    session.parse().map_err(|error| LogError::Unavailable(format!("{error}")))
}

/// The row of an event in the table, through the lineage.
pub(super) fn event_at(
    connection: &Connection,
    place: &Lineage,
    seq: Seq,
) -> Result<i64, LogError> {
    let (mut number, mut base, mut next) = (place.number, place.base, place.parent.clone());
    while seq <= base
        && let Some(id) = next
    {
        let Some(parent) = find(connection, &id)? else { break };
        (number, base, next) = (parent.number, parent.base, parent.parent);
    }
    let beyond = || LogError::Unavailable(format!("there is no event {seq}"));
    event_id(number, seq).ok_or_else(beyond)
}

/// The hash of the event at a position, through the lineage.
pub(super) fn hash_at(
    connection: &Connection,
    session: &SessionId,
    seq: Seq,
) -> Result<Digest, LogError> {
    if seq == Seq(0) {
        return Ok(genesis());
    }
    let missing = || LogError::Damaged {
        session: session.clone(),
        seq,
        what: "the event is missing".to_owned(),
    };
    let place = find(connection, session.as_str())?.ok_or_else(missing)?;
    hash_of(connection, event_at(connection, &place, seq)?)?.ok_or_else(missing)
}

/// The hash of the event in this row.
pub(super) fn hash_of(connection: &Connection, event: i64) -> Result<Option<Digest>, LogError> {
    let mut statement = connection
        .prepare_cached("SELECT hash FROM event WHERE id = ?1")
        .map_err(|error| unavailable(&error))?;
    let hash = statement.query_row([event], |row| row.get(0).map(Digest::from_stored));
    hash.optional().map_err(|error| unavailable(&error))
}
