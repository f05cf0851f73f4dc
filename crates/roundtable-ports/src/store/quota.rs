//! What the sessions of an owner spend and hold, for limits that are about more than one session.

use async_trait::async_trait;
use roundtable_core::budget::Limits;
use roundtable_core::id::IterationId;
use roundtable_core::quota::{Day, Spending};

use super::log::LogError;

/// Whose sessions are meant: those that an actor opened for a tenant.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Owner {
    /// The tenant.
    pub tenant: Option<String>,
    /// The actor.
    pub actor: Option<String>,
}

/// What there is of an owner.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Holdings {
    /// How many sessions.
    pub sessions: u64,
    /// How many of them have a round that runs.
    pub running: u64,
    /// How many bytes their events have.
    pub bytes: u64,
}

/// What the sessions of an owner spend and hold. It is written in the same commit as their events.
#[async_trait]
pub trait Quotas: Send + Sync {
    /// What was spent on a day, and what is reserved: up to the reservation of this model call, or all of
    /// it. Without an owner, that of all sessions.
    async fn spending(
        &self,
        owner: Option<&Owner>,
        day: Day,
        up_to: Option<&IterationId>,
    ) -> Result<Spending, LogError>;
    /// The sessions of an owner; without one, all of them.
    async fn holdings(&self, owner: Option<&Owner>) -> Result<Holdings, LogError>;
}

/// How much may be spent per day. It may change while an engine runs.
pub trait Allowances: std::fmt::Debug + Send + Sync {
    /// What the sessions of an owner may spend per day.
    fn of(&self, owner: &Owner) -> Limits;
    /// What all sessions together may spend per day.
    fn total(&self) -> Limits;
}
