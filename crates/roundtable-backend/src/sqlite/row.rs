//! Rows as the core makes them, written down. Nothing is decided here.

use jiff::Timestamp;
use roundtable_core::event::Seq;
use roundtable_core::id::{AgentId, RoundId, TurnId};
use roundtable_core::projection::{Receivers, Row};
use roundtable_ports::LogError;
use rusqlite::{Connection, params};

use super::append::{execute as run, nanoseconds, word};
use super::lineage::{self, Lineage};
use super::quota;

pub(super) fn put(connection: &Connection, place: &Lineage, row: &Row) -> Result<(), LogError> {
    let session = place.number;
    match row {
        Row::Agent { agent, name } => {
            let sql = "INSERT OR REPLACE INTO agent (session, id, name) VALUES (?1, ?2, ?3)";
            run(connection, sql, params![session, agent.as_str(), name])
        }
        Row::Round { round, number, take, agents, at, .. } => {
            let sql = "INSERT INTO round (id, session, number, take, agents, started_at) \
                       VALUES (?1, ?2, ?3, ?4, (SELECT json_group_array(coalesce(agent.name, seat.value)) \
                       FROM json_each(?5) AS seat LEFT JOIN agent ON agent.session = ?2 AND agent.id = seat.value), ?6)";
            let seats = serde_json::to_string(agents).unwrap_or_default();
            run(
                connection,
                sql,
                params![round.as_str(), session, number, take, seats, nanoseconds(*at)],
            )
        }
        Row::Seats { round, agents } => put_seats(connection, session, round, agents),
        Row::RoundEnd { round, outcome, at } => {
            let sql = "UPDATE round SET status = ?2, completed_at = ?3 WHERE id = ?1";
            run(connection, sql, params![round.as_str(), word(outcome), nanoseconds(*at)])
        }
        Row::Take { number, take, active } => {
            // First those that do not count: of all takes, one may at any time.
            let sql = "UPDATE round SET active = 0 WHERE session = ?1 AND number = ?2 AND (take = ?3) <> ?4";
            run(connection, sql, params![session, number, take, active])?;
            let sql = "UPDATE round SET active = 1 WHERE session = ?1 AND number = ?2 AND take = ?3 AND ?4";
            run(connection, sql, params![session, number, take, active])
        }
        Row::Message { number, round, turn, body, receivers, at } => {
            let turn = turn.as_ref();
            let message = Message { number: *number, round, turn, receivers, at: *at };
            message.put(connection, place, *body)
        }
        Row::Request { request, agent, body, at } => {
            let sql = "INSERT OR REPLACE INTO request (session, id, agent, body, at) VALUES (?1, ?2, ?3, ?4, ?5)";
            let body = lineage::event_at(connection, place, *body)?;
            run(
                connection,
                sql,
                params![session, request.as_str(), agent.as_str(), body, nanoseconds(*at)],
            )
        }
        Row::Opened { actor } => {
            let sql = "UPDATE session SET actor = ?2 WHERE number = ?1";
            run(connection, sql, params![session, actor])
        }
        Row::Reservation { iteration, amount } => {
            quota::reserve(connection, session, iteration, *amount)
        }
        Row::ReservationGone { iteration } => quota::release(connection, session, iteration),
        Row::RequestGone { request } => run(
            connection,
            "DELETE FROM request WHERE session = ?1 AND id = ?2",
            params![session, request.as_str()],
        ),
    }
}

/// Adds the names of agents to those of a round.
fn put_seats(
    connection: &Connection,
    session: i64,
    round: &RoundId,
    agents: &[AgentId],
) -> Result<(), LogError> {
    let sql = "UPDATE round SET agents = (SELECT json_group_array(name) FROM (\
               SELECT value AS name FROM json_each(round.agents) UNION ALL \
               SELECT coalesce(agent.name, seat.value) FROM json_each(?3) AS seat \
               LEFT JOIN agent ON agent.session = ?2 AND agent.id = seat.value)) WHERE id = ?1";
    let seats = serde_json::to_string(agents).unwrap_or_default();
    run(connection, sql, params![round.as_str(), session, seats])
}

struct Message<'a> {
    number: u64,
    round: &'a RoundId,
    turn: Option<&'a TurnId>,
    receivers: &'a Receivers,
    at: Timestamp,
}

impl Message<'_> {
    /// A round that is run again has the same input: the message stays as it is, and so does what
    /// the search knows of it. Who sent it is looked up where its turn began, which is a few events
    /// before its text.
    fn put(&self, connection: &Connection, place: &Lineage, body: Seq) -> Result<(), LogError> {
        let (session, round) = (place.number, self.round.as_str());
        let body = lineage::event_at(connection, place, body)?;
        let turn = self.turn.map(TurnId::as_str);
        let sql = "INSERT INTO message (session, number, round, turn, cycle, sender, body, at, receivers, whisper, tokens) \
                   SELECT ?1, ?2, ?3, ?4, coalesce((SELECT number FROM round WHERE id = ?3), 1), \
                   coalesce(CASE WHEN ?4 IS NOT NULL THEN (SELECT agent.name FROM agent WHERE agent.session = ?1 AND agent.id = (\
                   SELECT started.body ->> '$.agent' FROM event AS started WHERE started.id BETWEEN (?5 & ~0xffffffff) AND ?5 \
                   AND started.turn = ?4 AND started.kind = 'turn_started' ORDER BY started.id DESC LIMIT 1)) END, \
                   event.body ->> '$.sender', ''), ?5, ?6, ?7, ?8, \
                   coalesce(event.body ->> '$.record.usage.output', 0) FROM event WHERE event.id = ?5 \
                   ON CONFLICT (session, number) DO NOTHING";
        let agents = self.receivers.agents.as_ref().map(serde_json::to_string);
        let agents = agents.map(|agents| agents.unwrap_or_else(|_| "[]".to_owned()));
        let (at, whisper) = (nanoseconds(self.at), self.receivers.is_whisper);
        let values = params![session, self.number, round, turn, body, at, agents, whisper];
        run(connection, sql, values)?;
        if self.turn.is_none() {
            let sql = "UPDATE round SET said = ?2 WHERE id = ?1";
            run(connection, sql, params![round, self.number])?;
        }
        Ok(())
    }
}
