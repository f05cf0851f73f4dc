//! Limits for the whole server and for each caller: what may be spent per day, and what may be held at once.
//!
//! What is spent is checked twice: here, before a round is begun, and by the engine before every model call.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

use http::StatusCode;
use roundtable::core::budget::{Exhausted, Limits};
use roundtable::core::quota::Day;
use roundtable::ports::{Allowances, Owner};
use tokio::sync::MutexGuard as Turn;

use crate::app::App;
use crate::problem::Problem;

/// What may be spent and held. Absent means unlimited.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Quota {
    /// Model calls, tokens and money per UTC day.
    pub daily: Limits,
    /// Rounds that run at once.
    pub running_rounds: Option<u64>,
    /// Sessions.
    pub sessions: Option<u64>,
    /// Bytes of events.
    pub stored_bytes: Option<u64>,
    /// Open event streams.
    pub streams: Option<u64>,
}

impl Quota {
    /// The stricter of two, limit by limit.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        let least = |one: Option<u64>, two: Option<u64>| one.into_iter().chain(two).min();
        let (daily, others) = (self.daily, other.daily);
        Self {
            daily: Limits {
                calls: least(daily.calls, others.calls),
                tokens: least(daily.tokens, others.tokens),
                cost: least(daily.cost, others.cost),
                time_ms: None,
            },
            running_rounds: least(self.running_rounds, other.running_rounds),
            sessions: least(self.sessions, other.sessions),
            stored_bytes: least(self.stored_bytes, other.stored_bytes),
            streams: least(self.streams, other.streams),
        }
    }
}

/// The limits of a server. Clones are the same: replace those of one, and all have them.
#[derive(Debug, Clone, Default)]
pub struct Quotas(Arc<RwLock<Table>>);

/// The limits of the whole server, and those of each caller.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Table {
    server: Quota,
    callers: BTreeMap<Owner, Quota>,
}

impl Table {
    /// Limits for all callers together.
    pub fn server(quota: Quota) -> Self {
        Self { server: quota, ..Self::default() }
    }

    /// The same with limits for what an actor of a tenant owns. Given twice, the stricter ones hold.
    #[must_use]
    pub fn caller(mut self, tenant: Option<&str>, actor: &str, quota: Quota) -> Self {
        let owner = Owner { tenant: tenant.map(str::to_owned), actor: Some(actor.to_owned()) };
        let known = self.callers.entry(owner).or_default();
        *known = known.and(quota);
        self
    }
}

impl Quotas {
    /// From now on these limits hold.
    pub fn replace(&self, table: Table) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = table;
    }

    fn server(&self) -> Quota {
        self.0.read().unwrap_or_else(PoisonError::into_inner).server
    }

    fn caller(&self, owner: &Owner) -> Quota {
        let table = self.0.read().unwrap_or_else(PoisonError::into_inner);
        table.callers.get(owner).copied().unwrap_or_default()
    }
}

impl Allowances for Quotas {
    fn of(&self, owner: &Owner) -> Limits {
        self.caller(owner).daily
    }

    fn total(&self) -> Limits {
        self.server().daily
    }
}

/// What someone wants to begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Begin {
    /// A session and its first round.
    Session,
    /// A round of a session that there is.
    Round,
}

/// Who begins something just now, and how many streams each caller reads.
#[derive(Default)]
pub(crate) struct Admissions {
    /// One after the other, so that two who begin at once do not both take the last place.
    turn: tokio::sync::Mutex<()>,
    streams: Arc<Mutex<HashMap<Owner, u64>>>,
}

/// Whose limit it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Scope {
    Caller,
    Server,
}

impl Scope {
    fn word(self) -> &'static str {
        match self {
            Self::Caller => "caller",
            Self::Server => "server",
        }
    }
}

impl App {
    /// Lets something begin, or names the limit that is reached. What it begins has to be committed while
    /// the result is held.
    pub async fn admit(
        &self,
        owner: &Owner,
        begin: Begin,
    ) -> Result<Option<Turn<'_, ()>>, Problem> {
        let checks = [
            (Scope::Caller, Some(owner), self.quotas.caller(owner)),
            (Scope::Server, None, self.quotas.server()),
        ];
        if checks.iter().all(|(_, _, quota)| *quota == Quota::default()) {
            return Ok(None);
        }
        let turn = self.admissions.turn.lock().await;
        for (scope, owner, quota) in checks {
            self.check(scope, owner, quota, begin).await?;
        }
        Ok(Some(turn))
    }

    async fn check(
        &self,
        scope: Scope,
        owner: Option<&Owner>,
        quota: Quota,
        begin: Begin,
    ) -> Result<(), Problem> {
        let quotas = self.sessions.quotas();
        if quota.daily != Limits::default() {
            let now = self.sessions.clock().now();
            let day = Day::of(now);
            let spending = quotas.spending(owner, day, None).await;
            let spending = spending.map_err(roundtable::driver::EngineError::from)?;
            if let Some(limit) = spending.exhausted(quota.daily) {
                let left = day.end().duration_since(now).as_secs().max(1);
                return Err(daily(scope, limit, quota.daily, day).retry_after(left.unsigned_abs()));
            }
        }
        let held = [quota.running_rounds, quota.stored_bytes, quota.sessions];
        if held.iter().all(Option::is_none) {
            return Ok(());
        }
        let holdings = quotas.holdings(owner).await;
        let holdings = holdings.map_err(roundtable::driver::EngineError::from)?;
        let sessions = quota.sessions.filter(|_| begin == Begin::Session);
        let checks = [
            ("running_rounds", quota.running_rounds, holdings.running, "wait until a round ends"),
            (
                "sessions",
                sessions,
                holdings.sessions,
                "continue an existing session, or ask the operator for a higher limit",
            ),
            (
                "stored_bytes",
                quota.stored_bytes,
                holdings.bytes,
                "ask the operator for a higher limit",
            ),
        ];
        for (name, limit, held, hint) in checks {
            if let Some(limit) = limit.filter(|limit| held >= *limit) {
                return Err(reached(scope, name, limit, hint));
            }
        }
        Ok(())
    }

    /// Takes a place among the streams that a caller reads.
    pub fn open_stream(&self, owner: &Owner) -> Result<Stream, Problem> {
        let mut streams = lock(&self.admissions.streams);
        let of_all: u64 = streams.values().sum();
        let own = streams.get(owner).copied().unwrap_or_default();
        let checks = [
            (Scope::Caller, self.quotas.caller(owner).streams, own),
            (Scope::Server, self.quotas.server().streams, of_all),
        ];
        for (scope, limit, open) in checks {
            if let Some(limit) = limit.filter(|limit| open >= *limit) {
                return Err(reached(
                    scope,
                    "streams",
                    limit,
                    "close a stream that you do not need",
                ));
            }
        }
        *streams.entry(owner.clone()).or_default() += 1;
        Ok(Stream { owner: owner.clone(), streams: self.admissions.streams.clone() })
    }
}

/// A stream that someone reads.
pub(crate) struct Stream {
    owner: Owner,
    streams: Arc<Mutex<HashMap<Owner, u64>>>,
}

impl Drop for Stream {
    fn drop(&mut self) {
        let mut streams = lock(&self.streams);
        if let Some(open) = streams.get_mut(&self.owner) {
            *open -= 1;
            if *open == 0 {
                streams.remove(&self.owner);
            }
        }
    }
}

fn lock(streams: &Mutex<HashMap<Owner, u64>>) -> MutexGuard<'_, HashMap<Owner, u64>> {
    streams.lock().unwrap_or_else(PoisonError::into_inner)
}

fn daily(scope: Scope, limit: Exhausted, limits: Limits, day: Day) -> Problem {
    let (name, allowed) = match limit {
        Exhausted::Calls => ("calls_per_day", limits.calls),
        Exhausted::Tokens => ("tokens_per_day", limits.tokens),
        Exhausted::Cost | Exhausted::Time => ("dollars_per_day", limits.cost),
    };
    let (word, ends) = (limit.word(), day.end());
    let whose = scope.word();
    let what = format!("daily limit reached: {word} of this {whose} ({name}); retry after {ends}");
    limited(scope, name, what).with("allowed", allowed).with("ends", ends.to_string())
}

fn reached(scope: Scope, name: &str, allowed: u64, hint: &str) -> Problem {
    let whose = scope.word();
    let what = format!("limit reached: {allowed} {name} per {whose}; {hint}");
    limited(scope, name, what).with("allowed", allowed)
}

fn limited(scope: Scope, name: &str, what: String) -> Problem {
    let problem = Problem::new(StatusCode::TOO_MANY_REQUESTS, "limit_reached", what);
    problem.with("limit", name).with("scope", scope.word())
}
