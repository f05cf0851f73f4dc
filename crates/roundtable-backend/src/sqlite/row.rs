//! Rows as the core makes them, written down. Nothing is decided here.

use roundtable_core::projection::Row;
use rusqlite::{Connection, params};

use super::append::{nanoseconds, word};
use super::event_id;

pub(super) fn put(connection: &Connection, session: i64, row: &Row) -> rusqlite::Result<()> {
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
        Row::RoundEnd { round, outcome, at } => {
            let sql = "UPDATE round SET status = ?2, completed_at = ?3 WHERE id = ?1";
            run(connection, sql, params![round.as_str(), word(outcome), nanoseconds(*at)])
        }
        Row::Take { number, take, active } => {
            let sql = "UPDATE round SET active = (take = ?3) = ?4 WHERE session = ?1 AND number = ?2 \
                       AND (take = ?3 OR ?4)";
            run(connection, sql, params![session, number, take, active])
        }
        Row::Turn { turn, round, agent, parent, first, at } => {
            let sql = "INSERT INTO turn (id, session, round, agent, parent, first, at) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
            let parent = parent.as_ref().map(|call| call.as_str());
            let values = params![
                turn.as_str(),
                session,
                round.as_str(),
                agent.as_str(),
                parent,
                first.0,
                nanoseconds(*at)
            ];
            run(connection, sql, values)
        }
        Row::TurnEnd { turn, last } => run(
            connection,
            "UPDATE turn SET last = ?2 WHERE id = ?1",
            params![turn.as_str(), last.0],
        ),
        Row::Message { number, round, turn, body, at } => {
            let body = event_id(session, body.0);
            let turn = turn.as_ref().map(|turn| turn.as_str());
            let sql = "INSERT INTO message (session, number, round, turn, cycle, sender, body, at, tokens) \
                       SELECT ?1, ?2, ?3, ?4, coalesce((SELECT number FROM round WHERE id = ?3), 1), \
                       coalesce((SELECT agent.name FROM turn JOIN agent ON agent.session = turn.session AND agent.id = turn.agent \
                       WHERE turn.id = ?4), event.body ->> '$.sender', ''), ?5, ?6, \
                       coalesce(event.body ->> '$.record.usage.output', 0) FROM event WHERE event.id = ?5 \
                       ON CONFLICT (session, number) DO NOTHING";
            run(
                connection,
                sql,
                params![session, number, round.as_str(), turn, body, nanoseconds(*at)],
            )?;
            if turn.is_none() {
                run(
                    connection,
                    "UPDATE round SET said = ?2 WHERE id = ?1",
                    params![round.as_str(), number],
                )?;
            }
            let sql = "INSERT OR REPLACE INTO message_text (rowid, text) SELECT message.id, message_content.text \
                       FROM message JOIN message_content ON message_content.id = message.id \
                       WHERE message.session = ?1 AND message.number = ?2";
            run(connection, sql, params![session, number])
        }
        Row::Request { request, agent, body, at } => {
            let sql = "INSERT OR REPLACE INTO request (session, id, agent, body, at) VALUES (?1, ?2, ?3, ?4, ?5)";
            let body = event_id(session, body.0);
            run(
                connection,
                sql,
                params![session, request.as_str(), agent.as_str(), body, nanoseconds(*at)],
            )
        }
        Row::RequestGone { request } => run(
            connection,
            "DELETE FROM request WHERE session = ?1 AND id = ?2",
            params![session, request.as_str()],
        ),
    }
}

fn run(connection: &Connection, sql: &str, values: impl rusqlite::Params) -> rusqlite::Result<()> {
    connection.prepare_cached(sql)?.execute(values).map(|_| ())
}
