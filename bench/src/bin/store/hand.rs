//! What appends are compared with: a loop written by hand that puts the same rows into the same
//! tables of a copy of the same file, one transaction for the next commit of every session. It
//! has all values ready, or encodes the bodies as JSON first; either way no hashes, no fence, no
//! savepoints, nobody who waits.

use std::path::Path;
use std::time::{Duration, Instant};

use roundtable::core::projection::Row;
use rusqlite::{Connection, params};

use super::append::Load;
use super::turn::Commit;

/// A row of an event, as the store has it.
struct Event {
    id: i64,
    texts: [String; 7],
    numbers: [i64; 3],
    salt: Vec<u8>,
    body: String,
}

/// Whether the bodies of events are JSON text before the clock starts.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Bodies {
    Ready,
    Encoded,
}

/// What one session has in one transaction.
struct Portion<'a> {
    commit: &'a Commit,
    events: &'a [Event],
    text: &'a str,
    bodies: Bodies,
}

fn events(connection: &Connection) -> rusqlite::Result<Vec<Event>> {
    let sql = "SELECT id, kind, round, turn, iteration, tool_call, digest, hash, epoch, at, version, salt, body \
               FROM event ORDER BY id";
    let mut statement = connection.prepare(sql)?;
    let rows = statement.query_map([], |row| {
        let mut texts: [String; 7] = Default::default();
        for (index, text) in texts.iter_mut().enumerate() {
            *text = row.get(index + 1)?;
        }
        let numbers = [row.get(8)?, row.get(9)?, row.get(10)?];
        Ok(Event { id: row.get(0)?, texts, numbers, salt: row.get(11)?, body: row.get(12)? })
    })?;
    rows.collect()
}

/// Writes to `copy` what `stored` has more than it, and returns how long one append took in the end.
pub fn by_hand(
    stored: &Path,
    copy: &Path,
    load: &Load,
    bodies: Bodies,
) -> anyhow::Result<Duration> {
    let events = events(&Connection::open(stored.join("roundtable.db"))?)?;
    let connection = Connection::open(copy.join("roundtable.db"))?;
    connection.pragma_update(None, "journal_mode", "WAL")?;
    connection.pragma_update(None, "synchronous", "FULL")?;
    connection.pragma_update(None, "secure_delete", true)?;
    connection.set_prepared_statement_cache_capacity(64);
    let transactions = transactions(&events, load, bodies);
    let started = Instant::now();
    for transaction in &transactions {
        connection.execute_batch("BEGIN IMMEDIATE")?;
        for portion in transaction {
            portion.append(&connection)?;
        }
        connection.execute_batch("COMMIT")?;
    }
    Ok(started.elapsed() / load.count())
}

/// The next commit of every session, again and again.
fn transactions<'a>(events: &'a [Event], load: &'a Load, bodies: Bodies) -> Vec<Vec<Portion<'a>>> {
    let mut transactions: Vec<Vec<Portion<'_>>> = Vec::new();
    let mut rest = events;
    for (talk, commits) in &load.talks {
        for (index, commit) in commits.iter().enumerate() {
            let (events, later) = rest.split_at(commit.events.len());
            rest = later;
            if index > transactions.len() {
                transactions.push(Vec::new());
            }
            if index > 0 {
                transactions[index - 1].push(Portion { commit, events, text: talk.text(), bodies });
            }
        }
    }
    transactions
}

fn nanoseconds(at: impl std::borrow::Borrow<roundtable::core::event::Event>) -> i64 {
    i64::try_from(at.borrow().at.as_nanosecond()).unwrap_or_default()
}

impl Portion<'_> {
    fn append(&self, connection: &Connection) -> rusqlite::Result<()> {
        let sql = "INSERT INTO event (id, epoch, at, kind, version, round, turn, iteration, tool_call, digest, hash, salt, body) \
                   VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)";
        let mut statement = connection.prepare_cached(sql)?;
        for (Event { id, texts, numbers, salt, body }, event) in
            self.events.iter().zip(&self.commit.events)
        {
            let encoded = (self.bodies == Bodies::Encoded).then(|| {
                let parts = event.body.to_parts();
                parts.map_or_else(|_| String::new(), |(_, _, data)| data.to_string())
            });
            let body = encoded.as_ref().unwrap_or(body);
            let [kind, round, turn, iteration, tool_call, digest, hash] = texts;
            let [epoch, at, version] = numbers;
            statement.execute(params![
                id, epoch, at, kind, version, round, turn, iteration, tool_call, digest, hash,
                salt, body
            ])?;
        }
        let last = &self.events[self.events.len() - 1];
        let (session, head, hash) = (last.id >> 32, last.id & 0xffff_ffff, &last.texts[6]);
        for row in &self.commit.rows {
            self.put(connection, session, row)?;
        }
        let summary = &self.commit.summary;
        let sql = "UPDATE session SET head = ?2, head_hash = ?3, rounds_completed = ?4, current_round = ?5, \
                   has_work = ?6, updated_at = ?7 WHERE number = ?1";
        let (rounds, current) = (summary.rounds_completed, summary.current_round);
        connection.prepare_cached(sql)?.execute(params![
            session,
            head,
            hash,
            rounds,
            current,
            summary.has_work,
            last.numbers[1]
        ])?;
        Ok(())
    }

    fn put(&self, connection: &Connection, session: i64, row: &Row) -> rusqlite::Result<()> {
        let at = nanoseconds(&*self.commit.events[0]);
        let run = |sql: &str, values: &[&dyn rusqlite::ToSql]| {
            connection.prepare_cached(sql)?.execute(values).map(|_| ())
        };
        match row {
            Row::Round { round, number, take, .. } => run(
                "INSERT INTO round (id, session, number, take, agents, started_at) VALUES (?1, ?2, ?3, ?4, '[\"Ann\"]', ?5)",
                params![round.as_str(), session, number, take, at],
            ),
            Row::RoundEnd { round, .. } => run(
                "UPDATE round SET status = 'completed', completed_at = ?2 WHERE id = ?1",
                params![round.as_str(), at],
            ),
            Row::Message { number, round, turn, body, .. } => {
                let (cycle, body) = (number.div_ceil(2), session << 32 | body.0 as i64);
                let sender = if turn.is_some() { "Ann" } else { "User" };
                let turn = turn.as_ref().map(|turn| turn.as_str());
                run(
                    "INSERT INTO message (session, number, round, turn, cycle, sender, body, at, tokens) \
                     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, 20)",
                    params![session, number, round.as_str(), turn, cycle, sender, body, at],
                )?;
                let id = connection.last_insert_rowid();
                if turn.is_none() {
                    let sql = "UPDATE round SET said = ?2 WHERE id = ?1";
                    run(sql, params![round.as_str(), number])?;
                }
                let sql = "INSERT INTO message_text (rowid, text) VALUES (?1, ?2)";
                run(sql, params![id, self.text])
            }
            Row::Reservation { iteration, amount } => run(
                "INSERT OR REPLACE INTO reservation (session, iteration, owner, calls, tokens, cost) \
                 VALUES (?1, ?2, '[null,null]', ?3, ?4, ?5)",
                params![
                    session,
                    iteration.as_str(),
                    amount.calls as i64,
                    amount.tokens as i64,
                    amount.cost as i64
                ],
            ),
            Row::ReservationGone { iteration } => run(
                "DELETE FROM reservation WHERE session = ?1 AND iteration = ?2",
                params![session, iteration.as_str()],
            ),
            Row::Seats { .. }
            | Row::Agent { .. }
            | Row::Opened { .. }
            | Row::Take { .. }
            | Row::Request { .. }
            | Row::RequestGone { .. } => Ok(()),
        }
    }
}
