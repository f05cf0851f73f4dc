//! One append: checked against the epoch and the head, sealed, and projected, in one savepoint.

use std::sync::Arc;

use async_trait::async_trait;
use roundtable_core::budget::Spend;
use roundtable_core::digest::Digest;
use roundtable_core::event::chain::{Header, genesis};
use roundtable_core::event::{Event, Origin, Seq};
use roundtable_core::id::{CommandId, SessionId};
use roundtable_core::projection::{Row, Summary};
use roundtable_ports::{Batch, CommandRecord, LogError, Ownership, SessionLog, Snapshot};
use rusqlite::{Connection, OptionalExtension as _, params};

use super::lineage::Lineage;
use super::seal::{SealedEvent, seal};
use super::writer::unavailable;
use super::{SqliteStore, event_id, lineage, quota, row};

/// A batch that outlives its caller: the writer thread has it now.
struct OwnedBatch {
    expect: Seq,
    origin: Option<Origin>,
    events: Vec<SealedEvent>,
    rows: Vec<Row>,
    commands: Vec<CommandRecord>,
    summary: Summary,
    spent: Spend,
}

impl OwnedBatch {
    fn new(batch: &Batch<'_>) -> Result<Self, LogError> {
        batch.check()?;
        Ok(Self {
            expect: batch.expect,
            origin: batch.origin.cloned(),
            events: seal(batch.events)?,
            rows: batch.rows.to_vec(),
            commands: batch.commands.to_vec(),
            summary: batch.summary.clone(),
            spent: batch.spent,
        })
    }
}

#[async_trait]
impl SessionLog for SqliteStore {
    async fn append(&self, own: &Ownership, batch: Batch<'_>) -> Result<Seq, LogError> {
        let (own, batch) = (own.clone(), OwnedBatch::new(&batch)?);
        self.writer.write(move |connection| append(connection, &own, &batch)).await
    }

    async fn read(
        &self,
        session: &SessionId,
        from: Seq,
        most: usize,
    ) -> Result<Vec<Arc<Event>>, LogError> {
        let session = session.clone();
        self.readers
            .read(move |connection| super::read::events(connection, &session, from, most))
            .await
    }

    async fn find_command(
        &self,
        session: &SessionId,
        id: &CommandId,
    ) -> Result<Option<CommandRecord>, LogError> {
        let (session, id) = (session.clone(), id.clone());
        self.readers.read(move |connection| super::read::command(connection, &session, &id)).await
    }

    async fn find_snapshot(&self, session: &SessionId) -> Result<Option<Snapshot>, LogError> {
        let session = session.clone();
        self.readers.read(move |connection| super::read::snapshot(connection, &session)).await
    }

    async fn put_snapshot(&self, own: &Ownership, snapshot: Snapshot) -> Result<(), LogError> {
        let own = own.clone();
        let digest = Digest::of(&snapshot.state);
        let put = move |connection: &Connection| {
            check_epoch(connection, &own)?;
            let sql = "INSERT OR REPLACE INTO snapshot (session, version, seq, digest, state) \
                       SELECT number, ?2, ?3, ?4, ?5 FROM session WHERE id = ?1";
            let Snapshot { version, seq, state } = &snapshot;
            let values = params![own.session.as_str(), version, seq.0, digest.as_str(), state];
            execute(connection, sql, values)
        };
        self.writer.write(put).await
    }
}

pub(super) fn execute(
    connection: &Connection,
    sql: &str,
    values: impl rusqlite::Params,
) -> Result<(), LogError> {
    let mut statement = connection.prepare_cached(sql).map_err(|error| unavailable(&error))?;
    statement.execute(values).map(|_| ()).map_err(|error| unavailable(&error))
}

/// The fence: a writer whose epoch is old, or who has let go, gets no further than this, in the
/// commit itself. The owner counts too: a session that was never written forgets its epochs.
pub(super) fn check_epoch(connection: &Connection, own: &Ownership) -> Result<(), LogError> {
    let mut statement = connection
        .prepare_cached("SELECT epoch, owner FROM lease WHERE session = ?1")
        .map_err(|error| unavailable(&error))?;
    let found: Option<(u64, Option<String>)> = statement
        .query_row([own.session.as_str()], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()
        .map_err(|error| unavailable(&error))?;
    match found {
        Some((epoch, Some(owner))) if epoch == own.epoch && owner == own.node.as_str() => Ok(()),
        other => Err(LogError::Fenced { epoch: other.map_or(0, |(epoch, _)| epoch) }),
    }
}

fn append(connection: &Connection, own: &Ownership, batch: &OwnedBatch) -> Result<Seq, LogError> {
    check_epoch(connection, own)?;
    let place = match lineage::find(connection, own.session.as_str())? {
        Some(place) => place,
        None => create(connection, own, batch)?,
    };
    if place.head != batch.expect {
        return Err(LogError::Conflict { head: place.head });
    }
    for command in &batch.commands {
        put_command(connection, place.number, command)?;
    }
    let hash = put_events(connection, own, &place, &batch.events)?;
    for row in &batch.rows {
        row::put(connection, &place, row)?;
    }
    if let Some(last) = batch.events.last().filter(|_| batch.spent != Spend::default()) {
        quota::spend(connection, place.number, batch.spent, last.event.at)?;
    }
    let head = batch.events.last().map_or(place.head, |sealed| sealed.event.seq);
    put_summary(connection, &own.session, head, &hash, batch)?;
    Ok(head)
}

/// The row of a session that begins with this batch. A fork goes on from its origin's hash.
fn create(
    connection: &Connection,
    own: &Ownership,
    batch: &OwnedBatch,
) -> Result<Lineage, LogError> {
    let (head, hash) = match &batch.origin {
        None => (Seq(0), genesis()),
        Some(origin) => (origin.seq, lineage::hash_at(connection, &origin.session, origin.seq)?),
    };
    let at = batch.events.first().map_or(0, |sealed| nanoseconds(sealed.event.at));
    let sql = "INSERT INTO session (id, parent, parent_seq, head, head_hash, kind, topic, tenant, status, \
               rounds_completed, current_round, has_work, wake_at, created_at, updated_at, actor) \
               VALUES (?1, ?2, ?3, ?4, ?5, '', '', ?7, '', 0, 1, 0, NULL, ?6, ?6, \
               (SELECT actor FROM session WHERE id = ?2))";
    let parent = batch.origin.as_ref().map(|origin| origin.session.as_str());
    let base = batch.origin.as_ref().map_or(Seq(0), |origin| origin.seq);
    let (session, tenant) = (own.session.as_str(), &batch.summary.tenant);
    let values = params![session, parent, base.0, head.0, hash.as_str(), at, tenant];
    execute(connection, sql, values)?;
    let parent = parent.map(str::to_owned);
    Ok(Lineage { number: connection.last_insert_rowid(), parent, base, head, hash })
}

fn put_command(
    connection: &Connection,
    number: i64,
    command: &CommandRecord,
) -> Result<(), LogError> {
    let receipt = serde_json::to_string(&command.receipt).unwrap_or_default();
    let sql =
        "INSERT OR IGNORE INTO command (session, id, digest, receipt) VALUES (?1, ?2, ?3, ?4)";
    let mut statement = connection.prepare_cached(sql).map_err(|error| unavailable(&error))?;
    let values = params![number, command.id.as_str(), command.digest.as_str(), receipt];
    match statement.execute(values).map_err(|error| unavailable(&error))? {
        0 => Err(LogError::Duplicate { id: command.id.clone() }),
        _ => Ok(()),
    }
}

/// Chains and stores events, and returns the hash of the last one.
fn put_events(
    connection: &Connection,
    own: &Ownership,
    place: &Lineage,
    events: &[SealedEvent],
) -> Result<Digest, LogError> {
    let sql = "INSERT INTO event (id, epoch, at, kind, version, round, turn, iteration, tool_call, digest, hash, salt, body) \
               VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)";
    let mut statement = connection.prepare_cached(sql).map_err(|error| unavailable(&error))?;
    let (mut hash, mut expected) = (place.hash.clone(), place.head);
    for SealedEvent { event, version, body, salt, digest } in events {
        let kind = event.body.kind();
        expected = expected.next();
        if event.seq != expected {
            let what = format!("event {} does not follow event {expected}", event.seq);
            return Err(LogError::Unavailable(what));
        }
        let ids = event.place_ids();
        let at = nanoseconds(event.at);
        let header = Header {
            session: &own.session,
            seq: event.seq,
            epoch: own.epoch,
            at,
            kind,
            version: *version,
            place: ids,
            body: digest,
        };
        hash = header.hash(&hash);
        let [round, turn, iteration, tool_call] = ids;
        let id = event_id(place.number, event.seq).ok_or_else(too_long)?;
        let values = params![
            id,
            own.epoch,
            at,
            kind,
            version,
            round,
            turn,
            iteration,
            tool_call,
            digest.as_str(),
            hash.as_str(),
            salt,
            body
        ];
        statement.execute(values).map_err(|error| unavailable(&error))?;
    }
    Ok(hash)
}

/// A position that the table has no room for: after four thousand million events of one session.
fn too_long() -> LogError {
    LogError::Unavailable("the log is full; fork the session and continue there".to_owned())
}

fn put_summary(
    connection: &Connection,
    session: &SessionId,
    head: Seq,
    hash: &Digest,
    batch: &OwnedBatch,
) -> Result<(), LogError> {
    let summary = &batch.summary;
    let bytes: usize = batch.events.iter().map(|sealed| sealed.body.len()).sum();
    // The tenant stays what it was at the start, so its index is left alone.
    let sql = "UPDATE session SET head = ?2, head_hash = ?3, kind = ?4, topic = ?5, status = ?6, \
               rounds_completed = ?7, current_round = ?8, has_work = ?9, wake_at = ?10, \
               updated_at = coalesce(?11, updated_at), bytes = bytes + ?12, archived = ?13 WHERE id = ?1";
    let values = params![
        session.as_str(),
        head.0,
        hash.as_str(),
        word(&summary.kind),
        summary.topic,
        word(&summary.status),
        summary.rounds_completed,
        summary.current_round,
        summary.has_work,
        summary.wake_at.map(nanoseconds),
        batch.events.last().map(|sealed| nanoseconds(sealed.event.at)),
        bytes,
        summary.archived,
    ];
    execute(connection, sql, values)
}

/// A value by its name in JSON: one spelling everywhere.
pub(super) fn word(value: &impl serde::Serialize) -> String {
    let named = serde_json::to_value(value).ok();
    named.as_ref().and_then(serde_json::Value::as_str).unwrap_or_default().to_owned()
}

pub(super) fn nanoseconds(at: jiff::Timestamp) -> i64 {
    i64::try_from(at.as_nanosecond()).unwrap_or(i64::MAX)
}
