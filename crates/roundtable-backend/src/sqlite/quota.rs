//! What the sessions of an owner spend and hold. The rows are written with the events that make them.

use async_trait::async_trait;
use jiff::Timestamp;
use roundtable_core::budget::Spend;
use roundtable_core::id::IterationId;
use roundtable_core::quota::{Day, Spending};
use roundtable_ports::{Holdings, LogError, Owner, Quotas};
use rusqlite::{Connection, Row, params};

use super::SqliteStore;
use super::append::execute;
use super::writer::unavailable;

/// Amounts are stored as signed numbers; what is larger counts as the largest.
fn stored(amount: u64) -> i64 {
    i64::try_from(amount).unwrap_or(i64::MAX)
}

/// Adds to what the session's owner spent on a day.
pub(super) fn spend(
    connection: &Connection,
    session: i64,
    amount: Spend,
    at: Timestamp,
) -> Result<(), LogError> {
    let sql = "INSERT INTO usage (day, owner, calls, tokens, cost) \
               SELECT ?2, json_array(tenant, actor), ?3, ?4, ?5 FROM session WHERE number = ?1 \
               ON CONFLICT (day, owner) DO UPDATE SET \
               calls = calls + excluded.calls, tokens = tokens + excluded.tokens, cost = cost + excluded.cost";
    let Spend { calls, tokens, cost } = amount;
    let day = Day::of(at).0;
    execute(connection, sql, params![session, day, stored(calls), stored(tokens), stored(cost)])
}

/// Sets an amount aside for a model call. One that is started again goes to the end of the line.
pub(super) fn reserve(
    connection: &Connection,
    session: i64,
    iteration: &IterationId,
    amount: Spend,
) -> Result<(), LogError> {
    let sql = "INSERT OR REPLACE INTO reservation (session, iteration, owner, calls, tokens, cost) \
               SELECT ?1, ?2, json_array(tenant, actor), ?3, ?4, ?5 FROM session WHERE number = ?1";
    let Spend { calls, tokens, cost } = amount;
    let iteration = iteration.as_str();
    let values = params![session, iteration, stored(calls), stored(tokens), stored(cost)];
    execute(connection, sql, values)
}

pub(super) fn release(
    connection: &Connection,
    session: i64,
    iteration: &IterationId,
) -> Result<(), LogError> {
    let sql = "DELETE FROM reservation WHERE session = ?1 AND iteration = ?2";
    execute(connection, sql, params![session, iteration.as_str()])
}

/// Sums are made as floating point numbers, which do not overflow.
const SUMS: &str = "total(calls), total(tokens), total(cost)";

fn sums(row: &Row<'_>) -> rusqlite::Result<Spend> {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "not negative")]
    let amount = |index: usize| row.get::<_, f64>(index).map(|sum| sum as u64);
    Ok(Spend { calls: amount(0)?, tokens: amount(1)?, cost: amount(2)? })
}

fn spending(
    connection: &Connection,
    owner: Option<&Owner>,
    day: Day,
    up_to: Option<&IterationId>,
) -> rusqlite::Result<Spending> {
    let (is_all, owner) = (owner.is_none(), owner.cloned().unwrap_or_default());
    let mine = if is_all { "?1 IS ?1 AND ?2 IS ?2" } else { "owner = json_array(?1, ?2)" };
    let spent = format!("SELECT {SUMS} FROM usage WHERE day = ?3 AND {mine}");
    let spent = connection
        .prepare_cached(&spent)?
        .query_row(params![owner.tenant, owner.actor, day.0], sums)?;
    // Without a reservation of its own, a call waits for all others.
    let reserved = format!(
        "SELECT {SUMS} FROM reservation WHERE {mine} AND number <= coalesce(\
         (SELECT number FROM reservation WHERE iteration = ?3), 9223372036854775807)"
    );
    let up_to = up_to.map(IterationId::as_str);
    let reserved = connection
        .prepare_cached(&reserved)?
        .query_row(params![owner.tenant, owner.actor, up_to], sums)?;
    Ok(Spending { spent, reserved })
}

fn holdings(connection: &Connection, owner: Option<&Owner>) -> rusqlite::Result<Holdings> {
    let (is_all, owner) = (owner.is_none(), owner.cloned().unwrap_or_default());
    let mine = if is_all { "?1 IS ?1 AND ?2 IS ?2" } else { "tenant IS ?1 AND actor IS ?2" };
    let sql = format!(
        "SELECT count(*), total(bytes), count(*) FILTER (WHERE has_work) FROM session WHERE {mine}"
    );
    let mut statement = connection.prepare_cached(&sql)?;
    statement.query_row(params![owner.tenant, owner.actor], |row| {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "not negative")]
        let bytes = row.get::<_, f64>(1)? as u64;
        Ok(Holdings { sessions: row.get(0)?, running: row.get(2)?, bytes })
    })
}

#[async_trait]
impl Quotas for SqliteStore {
    async fn spending(
        &self,
        owner: Option<&Owner>,
        day: Day,
        up_to: Option<&IterationId>,
    ) -> Result<Spending, LogError> {
        let (owner, up_to) = (owner.cloned(), up_to.cloned());
        let sum = move |connection: &Connection| {
            spending(connection, owner.as_ref(), day, up_to.as_ref())
                .map_err(|error| unavailable(&error))
        };
        self.readers.read(sum).await
    }

    async fn holdings(&self, owner: Option<&Owner>) -> Result<Holdings, LogError> {
        let owner = owner.cloned();
        let sum = move |connection: &Connection| {
            holdings(connection, owner.as_ref()).map_err(|error| unavailable(&error))
        };
        self.readers.read(sum).await
    }
}
