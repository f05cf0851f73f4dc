//! Reading: a few connections that only read, and the chain checked on the way.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use jiff::Timestamp;
use roundtable_core::digest::Digest;
use roundtable_core::event::chain::{Header, body_digest, genesis};
use roundtable_core::event::{Body, Event, Seq};
use roundtable_core::id::{CommandId, SessionId};
use roundtable_core::scope::Place;
use roundtable_ports::{CommandRecord, LogError, Snapshot};
use rusqlite::{Connection, OptionalExtension as _, params};

use super::writer::unavailable;
use super::{connect_to_read, event_id};

/// Connections that only read, as many as are used at once.
pub(super) struct Readers {
    file: PathBuf,
    idle: Arc<Mutex<Vec<Connection>>>,
}

/// How many idle connections are kept.
const KEPT: usize = 8;

impl Readers {
    pub fn new(file: PathBuf) -> Self {
        Self { file, idle: Arc::default() }
    }

    /// Reads something on a thread that may wait for the disk.
    pub async fn read<T: Send + 'static>(
        &self,
        read: impl FnOnce(&Connection) -> Result<T, LogError> + Send + 'static,
    ) -> Result<T, LogError> {
        let (file, idle) = (self.file.clone(), self.idle.clone());
        let work = move || {
            let kept = idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
            let connection = match kept {
                Some(connection) => connection,
                None => connect_to_read(&file).map_err(|error| unavailable(&error))?,
            };
            let value = read(&connection);
            let mut idle = idle.lock().unwrap_or_else(PoisonError::into_inner);
            if idle.len() < KEPT {
                idle.push(connection);
            }
            value
        };
        tokio::task::spawn_blocking(work)
            .await
            .unwrap_or_else(|error| Err(LogError::Unavailable(error.to_string())))
    }
}

/// A session's number and where it comes from.
struct Lineage {
    number: i64,
    parent: Option<String>,
    base: Seq,
}

fn lineage(connection: &Connection, session: &str) -> Result<Option<Lineage>, LogError> {
    let sql = "SELECT number, parent, parent_seq FROM session WHERE id = ?1";
    let mut statement = connection.prepare_cached(sql).map_err(|error| unavailable(&error))?;
    let found = statement.query_row([session], |row| {
        Ok(Lineage { number: row.get(0)?, parent: row.get(1)?, base: Seq(row.get(2)?) })
    });
    found.optional().map_err(|error| unavailable(&error))
}

/// Events from a position on, through the lineage: a fork's past is its origin's.
pub(super) fn events(
    connection: &Connection,
    session: &SessionId,
    from: Seq,
    most: usize,
) -> Result<Vec<Arc<Event>>, LogError> {
    // One snapshot of the file for all of it, or a fork could be read half before and half after.
    let reading = connection.unchecked_transaction().map_err(|error| unavailable(&error))?;
    let mut spans = Vec::new();
    let (mut next, mut until) = (Some(session.as_str().to_owned()), Seq(u64::from(u32::MAX)));
    while let Some(id) = next.take() {
        let Some(found) = lineage(&reading, &id)? else { break };
        if from <= found.base {
            next.clone_from(&found.parent);
        }
        let base = found.base;
        spans.push((id, found, until));
        until = until.min(base);
    }
    let mut events = Vec::new();
    for (id, found, until) in spans.into_iter().rev() {
        let first = from.max(found.base.next());
        if events.len() < most && first <= until {
            let room = most - events.len();
            span(&reading, &id, &found, (first, until), room, &mut events)?;
        }
    }
    Ok(events)
}

/// A stretch of one session's own events, with the chain checked from the event before it.
fn span(
    connection: &Connection,
    session: &str,
    lineage: &Lineage,
    (first, until): (Seq, Seq),
    most: usize,
    events: &mut Vec<Arc<Event>>,
) -> Result<(), LogError> {
    let session: SessionId =
        session.parse().map_err(|error| LogError::Unavailable(format!("{error}")))?;
    let mut before = match first.0 - lineage.base.0 {
        1 => match &lineage.parent {
            None => genesis(),
            Some(parent) => {
                let parent =
                    parent.parse().map_err(|error| LogError::Unavailable(format!("{error}")))?;
                hash_at(connection, &parent, lineage.base)?
            }
        },
        _ => hash_of(connection, lineage.number, Seq(first.0 - 1))?.unwrap_or_else(genesis),
    };
    let sql = "SELECT id, epoch, at, kind, version, round, turn, iteration, tool_call, digest, hash, salt, body \
               FROM event WHERE id BETWEEN ?1 AND ?2 ORDER BY id LIMIT ?3";
    let mut statement = connection.prepare_cached(sql).map_err(|error| unavailable(&error))?;
    let range = params![event_id(lineage.number, first.0), event_id(lineage.number, until.0), most];
    let mut rows = statement.query(range).map_err(|error| unavailable(&error))?;
    let mut expected = first;
    while let Some(row) = rows.next().map_err(|error| unavailable(&error))? {
        let damaged = |what: &str| LogError::Damaged {
            session: session.clone(),
            seq: expected,
            what: what.to_owned(),
        };
        let stored = Stored::read(row).map_err(|error| damaged(&error.to_string()))?;
        if stored.seq != expected {
            return Err(damaged("the event is missing"));
        }
        before = stored.check(&session, &before).map_err(damaged)?;
        events.push(Arc::new(stored.event().map_err(|what| damaged(&what))?));
        expected = expected.next();
    }
    Ok(())
}

struct Stored {
    seq: Seq,
    epoch: u64,
    at: i64,
    kind: String,
    version: u32,
    place: [String; 4],
    digest: Digest,
    hash: Digest,
    body: Option<(Vec<u8>, String)>,
}

impl Stored {
    fn read(row: &rusqlite::Row<'_>) -> rusqlite::Result<Self> {
        let id: i64 = row.get(0)?;
        let salt: Option<Vec<u8>> = row.get(11)?;
        let body: Option<String> = row.get(12)?;
        Ok(Self {
            seq: Seq(u64::try_from(id & 0xffff_ffff).unwrap_or_default()),
            epoch: row.get(1)?,
            at: row.get(2)?,
            kind: row.get(3)?,
            version: row.get(4)?,
            place: [row.get(5)?, row.get(6)?, row.get(7)?, row.get(8)?],
            digest: Digest::from_stored(row.get(9)?),
            hash: Digest::from_stored(row.get(10)?),
            body: salt.zip(body),
        })
    }

    /// Checks the seal, and returns the hash that the next event has to follow on.
    fn check(&self, session: &SessionId, before: &Digest) -> Result<Digest, &'static str> {
        if let Some((salt, body)) = &self.body
            && body_digest(salt, body.as_bytes()) != self.digest
        {
            return Err("the body is not the one that was written");
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
            Some((_, body)) => {
                let data = serde_json::from_str(&body).map_err(|error| error.to_string())?;
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

/// The hash of the event at a position, through the lineage.
pub(super) fn hash_at(
    connection: &Connection,
    session: &SessionId,
    seq: Seq,
) -> Result<Digest, LogError> {
    let mut next = session.as_str().to_owned();
    while let Some(found) = lineage(connection, &next)? {
        if seq > found.base {
            let missing = || LogError::Damaged {
                session: session.clone(),
                seq,
                what: "the event is missing".to_owned(),
            };
            return hash_of(connection, found.number, seq)?.ok_or_else(missing);
        }
        let Some(parent) = found.parent else { break };
        next = parent;
    }
    Ok(genesis())
}

fn hash_of(connection: &Connection, number: i64, seq: Seq) -> Result<Option<Digest>, LogError> {
    let mut statement = connection
        .prepare_cached("SELECT hash FROM event WHERE id = ?1")
        .map_err(|error| unavailable(&error))?;
    let hash =
        statement.query_row([event_id(number, seq.0)], |row| row.get(0).map(Digest::from_stored));
    hash.optional().map_err(|error| unavailable(&error))
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

pub(super) fn snapshot(
    connection: &Connection,
    session: &SessionId,
) -> Result<Option<Snapshot>, LogError> {
    let sql = "SELECT version, seq, state FROM snapshot JOIN session ON session.number = snapshot.session WHERE id = ?1";
    let mut statement = connection.prepare_cached(sql).map_err(|error| unavailable(&error))?;
    let found = statement.query_row([session.as_str()], |row| {
        Ok(Snapshot { version: row.get(0)?, seq: Seq(row.get(1)?), state: row.get(2)? })
    });
    found.optional().map_err(|error| unavailable(&error))
}
