//! Reading a log, with its chain checked on the way.

use std::sync::Arc;

use jiff::Timestamp;
use roundtable_core::digest::Digest;
use roundtable_core::event::chain::{Header, body_digest};
use roundtable_core::event::{Body, Event, Seq};
use roundtable_core::id::{CommandId, SessionId};
use roundtable_core::json::parse_stored;
use roundtable_core::scope::Place;
use roundtable_ports::{CommandRecord, LogError, Snapshot};
use rusqlite::{Connection, ErrorCode, OptionalExtension as _, params};

use super::lineage::{self, Lineage, parsed};
use super::writer::unavailable;
use super::{LAST, event_id, limit};

/// Events from a position on, through the lineage: a fork's past is its origin's.
pub(super) fn events(
    connection: &Connection,
    session: &SessionId,
    from: Seq,
    most: usize,
) -> Result<Vec<Arc<Event>>, LogError> {
    let mut events = Vec::new();
    for span in spans(connection, session, from)?.into_iter().rev() {
        if events.len() < most {
            span.read(connection, most - events.len(), &mut events)?;
        }
    }
    Ok(events)
}

/// A stretch of one session's own events.
struct Span {
    session: SessionId,
    lineage: Lineage,
    first: Seq,
    /// The last event that belongs to it.
    last: Seq,
}

/// The stretches of a session's past from a position on, the session's own first.
fn spans(connection: &Connection, session: &SessionId, from: Seq) -> Result<Vec<Span>, LogError> {
    let from = from.max(Seq(1));
    let mut spans = Vec::new();
    let (mut next, mut until) = (Some(session.as_str().to_owned()), LAST);
    while let Some(id) = next.take() {
        let Some(lineage) = lineage::find(connection, &id)? else {
            if spans.is_empty() {
                break;
            }
            let what = format!("its origin {id} is missing");
            return Err(LogError::Damaged { session: session.clone(), seq: from, what });
        };
        let last = lineage.head.min(until);
        let base = lineage.base;
        if from <= base {
            next.clone_from(&lineage.parent);
        }
        let first = from.max(base.next());
        spans.push(Span { session: parsed(&id)?, lineage, first, last });
        until = until.min(base);
    }
    Ok(spans)
}

impl Span {
    fn damaged(&self, seq: Seq, what: &str) -> LogError {
        LogError::Damaged { session: self.session.clone(), seq, what: what.to_owned() }
    }

    fn row_of(&self, seq: Seq) -> i64 {
        event_id(self.lineage.number, seq).unwrap_or(i64::MAX)
    }

    /// Reads it, with the chain checked from the event before it.
    fn read(
        &self,
        connection: &Connection,
        most: usize,
        events: &mut Vec<Arc<Event>>,
    ) -> Result<(), LogError> {
        let own = self.last == self.lineage.head;
        // Of one's own log, what lies beyond the head is looked at too: nothing may be there.
        let until = if own { LAST } else { self.last };
        if self.first > until {
            return Ok(());
        }
        let (mut before, mut expected) = (self.hash_before(connection, self.first)?, self.first);
        let sql = "SELECT id, epoch, at, kind, version, round, turn, iteration, tool_call, digest, hash, salt, body \
                   FROM event WHERE id BETWEEN ?1 AND ?2 ORDER BY id LIMIT ?3";
        let mut statement = connection.prepare_cached(sql).map_err(|error| unavailable(&error))?;
        let range = params![self.row_of(self.first), self.row_of(until), limit(most)];
        let mut rows = statement.query(range).map_err(|error| unavailable(&error))?;
        let torn = |seq: Seq, error: &rusqlite::Error| self.trouble(seq, error);
        while let Some(row) = rows.next().map_err(|error| torn(expected, &error))? {
            let stored = StoredRow::read(row)
                .map_err(|error| self.damaged(expected, &format!("read error: {error}")))?;
            if expected > self.last {
                return Err(self.damaged(expected, "the log has events after the recorded end"));
            }
            if stored.seq != expected {
                return Err(self.damaged(expected, "the event is missing"));
            }
            before = match stored.check(&self.session, &before) {
                Ok(hash) => hash,
                Err(what) => return Err(self.damaged(self.blame(connection, expected)?, what)),
            };
            events.push(Arc::new(stored.event().map_err(|what| self.damaged(expected, &what))?));
            expected = expected.next();
        }
        let read = usize::try_from(expected.0 - self.first.0).unwrap_or(usize::MAX);
        if read < most && expected <= self.last {
            return Err(self.damaged(expected, "the event is missing"));
        }
        if own && expected == self.last.next() && before != self.lineage.hash {
            return Err(self.damaged(self.last, "the last event does not match its hash"));
        }
        Ok(())
    }

    /// The hash that the event at a position follows on.
    fn hash_before(&self, connection: &Connection, seq: Seq) -> Result<Digest, LogError> {
        if seq == self.lineage.base.next() {
            return self.lineage.hash_before(connection);
        }
        let before = Seq(seq.0 - 1);
        if before > self.last {
            return Ok(self.lineage.hash.clone());
        }
        let hash = lineage::hash_of(connection, self.row_of(before))?;
        hash.ok_or_else(|| self.damaged(before, "the event is missing"))
    }

    /// Which event is at fault when the one at this position does not follow on the one before
    /// it: if that one is damaged itself, it is that one.
    fn blame(&self, connection: &Connection, seq: Seq) -> Result<Seq, LogError> {
        let mut bad = seq;
        while bad > self.lineage.base.next() {
            let earlier = Seq(bad.0 - 1);
            let sql = "SELECT id, epoch, at, kind, version, round, turn, iteration, tool_call, digest, hash, salt, body \
                       FROM event WHERE id = ?1";
            let mut statement =
                connection.prepare_cached(sql).map_err(|error| unavailable(&error))?;
            let stored = statement.query_row([self.row_of(earlier)], StoredRow::read);
            let before = self.hash_before(connection, earlier)?;
            if stored.is_ok_and(|stored| stored.check(&self.session, &before).is_ok()) {
                break;
            }
            bad = earlier;
        }
        Ok(bad)
    }

    /// A page that cannot be read is damage; a file that cannot be reached may be back soon.
    fn trouble(&self, seq: Seq, error: &rusqlite::Error) -> LogError {
        match error.sqlite_error_code() {
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => {
                self.damaged(seq, &error.to_string())
            }
            _ => unavailable(error),
        }
    }
}

struct StoredRow {
    seq: Seq,
    epoch: u64,
    at: i64,
    kind: String,
    version: u32,
    place: [String; 4],
    digest: Digest,
    hash: Digest,
    salt: Option<Vec<u8>>,
    body: Option<String>,
}

impl StoredRow {
    fn read(row: &rusqlite::Row<'_>) -> rusqlite::Result<Self> {
        let id: i64 = row.get(0)?;
        Ok(Self {
            seq: Seq(u64::try_from(id & 0xffff_ffff).unwrap_or_default()),
            epoch: row.get(1)?,
            at: row.get(2)?,
            kind: row.get(3)?,
            version: row.get(4)?,
            place: [row.get(5)?, row.get(6)?, row.get(7)?, row.get(8)?],
            digest: Digest::from_stored(row.get(9)?),
            hash: Digest::from_stored(row.get(10)?),
            salt: row.get(11)?,
            body: row.get(12)?,
        })
    }

    /// Checks the seal, and returns the hash that the next event has to follow on.
    fn check(&self, session: &SessionId, before: &Digest) -> Result<Digest, &'static str> {
        match (&self.salt, &self.body) {
            // It was erased.
            (None, None) => {}
            (Some(salt), Some(body)) if body_digest(salt, body.as_bytes()) == self.digest => {}
            (_, _) => return Err("the body does not match its digest"),
        }
        let [round, turn, iteration, tool_call] = &self.place;
        let header = Header {
            session,
            seq: self.seq,
            epoch: self.epoch,
            at: self.at,
            kind: &self.kind,
            version: self.version,
            place: [round, turn, iteration, tool_call],
            body: &self.digest,
        };
        if header.hash(before) == self.hash {
            Ok(self.hash.clone())
        } else {
            Err("the chain is broken")
        }
    }

    fn event(self) -> Result<Event, String> {
        let [round, turn, iteration, tool_call] = self.place;
        let at =
            Timestamp::from_nanosecond(i128::from(self.at)).map_err(|error| error.to_string())?;
        let body = match self.body {
            None => Body::Redacted,
            Some(body) => {
                let data = parse_stored(&body).map_err(|error| error.to_string())?;
                Body::from_parts(&self.kind, self.version, data)
                    .map_err(|error| error.to_string())?
            }
        };
        let place = Place {
            round: id(&round)?,
            turn: id(&turn)?,
            iteration: id(&iteration)?,
            tool_call: id(&tool_call)?,
        };
        Ok(Event { seq: self.seq, at, place, body })
    }
}

/// An id that may be absent.
fn id<T: std::str::FromStr<Err = E>, E: std::fmt::Display>(
    text: &str,
) -> Result<Option<T>, String> {
    if text.is_empty() {
        return Ok(None);
    }
    text.parse().map(Some).map_err(|error: E| error.to_string())
}

pub(super) fn command(
    connection: &Connection,
    session: &SessionId,
    id: &CommandId,
) -> Result<Option<CommandRecord>, LogError> {
    let sql = "SELECT command.digest, command.receipt FROM command JOIN session ON session.number = command.session \
               WHERE session.id = ?1 AND command.id = ?2";
    let mut statement = connection.prepare_cached(sql).map_err(|error| unavailable(&error))?;
    let found = statement
        .query_row([session.as_str(), id.as_str()], |row| {
            Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?))
        })
        .optional()
        .map_err(|error| unavailable(&error))?;
    let Some((digest, receipt)) = found else { return Ok(None) };
    let receipt =
        serde_json::from_str(&receipt).map_err(|error| LogError::Unavailable(error.to_string()))?;
    Ok(Some(CommandRecord { id: id.clone(), digest: Digest::from_stored(digest), receipt }))
}

/// The snapshot. One that is damaged, or ahead of the log, is none: it can be had again.
pub(super) fn snapshot(
    connection: &Connection,
    session: &SessionId,
) -> Result<Option<Snapshot>, LogError> {
    let sql = "SELECT version, seq, state, digest FROM snapshot JOIN session ON session.number = snapshot.session \
               WHERE id = ?1 AND seq <= head";
    let mut statement = connection.prepare_cached(sql).map_err(|error| unavailable(&error))?;
    let found = statement.query_row([session.as_str()], |row| {
        let snapshot = Snapshot { version: row.get(0)?, seq: Seq(row.get(1)?), state: row.get(2)? };
        Ok((snapshot, Digest::from_stored(row.get(3)?)))
    });
    let found = found.optional().map_err(|error| unavailable(&error))?;
    let whole = |(snapshot, digest): &(Snapshot, Digest)| Digest::of(&snapshot.state) == *digest;
    Ok(found.filter(whole).map(|(snapshot, _)| snapshot))
}
