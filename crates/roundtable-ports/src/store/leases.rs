//! Who may write a session. The epoch is the fencing token.

use async_trait::async_trait;
use jiff::{SignedDuration, Timestamp};
use roundtable_core::id::{NodeId, SessionId};

/// The right to write a session, until someone else claims it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ownership {
    /// The session.
    pub session: SessionId,
    /// The node that owns it.
    pub node: NodeId,
    /// Grows with every claim. An append with an old one fails in the commit itself.
    pub epoch: u64,
    /// How many owners in a row died before the session was under way.
    pub takeovers: u32,
}

/// After how many crashes a session is parked.
pub const CRASH_LIMIT: u32 = 3;

/// In which time panics are counted.
pub const CRASH_WINDOW: SignedDuration = SignedDuration::from_mins(10);

/// How a session's task crashed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Crash {
    /// When.
    pub at: Timestamp,
    /// What it said. It is shown to callers.
    pub message: String,
}

/// What is known of a session's crashes. The rules of parking are here, for every store.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Crashes {
    /// How many owners in a row died before the session was under way.
    pub takeovers: u32,
    /// How often its task panicked since `since`.
    pub panics: u32,
    /// The first of these panics.
    pub since: Option<Timestamp>,
    /// Why it is parked.
    pub parked: Option<String>,
}

impl Crashes {
    /// What is known when an owner was found dead.
    #[must_use]
    pub fn after_death(self) -> Self {
        let takeovers = self.takeovers + 1;
        let parked = (takeovers >= CRASH_LIMIT)
            .then(|| format!("{takeovers} processes in a row ended while they owned it"));
        Self { takeovers, parked: self.parked.or(parked), ..self }
    }

    /// What is known when its task panicked.
    #[must_use]
    pub fn after_panic(self, crash: &Crash) -> Self {
        let within = |since: &Timestamp| crash.at.duration_since(*since) <= CRASH_WINDOW;
        let (since, panics) = match self.since.filter(within) {
            Some(since) => (since, self.panics + 1),
            None => (crash.at, 1),
        };
        let parked = (panics >= CRASH_LIMIT).then(|| {
            format!("it failed {panics} times within 10 minutes; last error: {}", crash.message)
        });
        Self { panics, since: Some(since), parked: self.parked.or(parked), takeovers: 0 }
    }

    /// Whether the next owner takes care that it has no other such session under way.
    pub fn is_suspect(&self) -> bool {
        self.takeovers + 1 >= CRASH_LIMIT
    }
}

/// Why a session cannot be claimed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LeaseError {
    /// A living node owns it.
    #[error(
        "the session is owned by {node}; send the command there, or wait until it releases the lease"
    )]
    Held {
        /// That node.
        node: NodeId,
    },
    /// Its last owners died before it was under way. It is claimed with [`Leases::claim_alone`].
    #[error("the last owners of the session crashed while loading it; try again")]
    Suspect,
    /// It crashed again and again, and is left alone until someone wants it to go on.
    #[error("the session is parked: {reason}. Continue it to try again")]
    Parked {
        /// What happened.
        reason: String,
    },
    /// The store did not answer.
    #[error("the store is unavailable: {0}")]
    Unavailable(String),
}

/// Who may write which session.
#[async_trait]
pub trait Leases: Send + Sync {
    /// Takes a session over from nobody, or from a node that is gone.
    async fn claim_one(&self, session: &SessionId, node: &NodeId) -> Result<Ownership, LeaseError>;
    /// Says that a node lives. Once per node, never per step.
    async fn renew(&self, node: &NodeId) -> Result<(), LeaseError>;
    /// Lets a session go. Letting go of what another has claimed since changes nothing.
    async fn release(&self, own: &Ownership) -> Result<(), LeaseError>;
    /// The same as [`Leases::claim_one`] for a session that it calls suspect. Whoever claims in this
    /// way has no second one under way that is not settled: if the process dies, it is known of what.
    async fn claim_alone(
        &self,
        session: &SessionId,
        node: &NodeId,
    ) -> Result<Ownership, LeaseError>;
    /// Says that a session is under way: the owners that died before did not die of it.
    async fn settle(&self, own: &Ownership) -> Result<(), LeaseError>;
    /// Notes that the session's task panicked on this node, and lets the session go. Says why it is
    /// parked, if it is from now on. What another node owns is left as it is.
    async fn crashed(
        &self,
        session: &SessionId,
        node: &NodeId,
        crash: &Crash,
    ) -> Result<Option<String>, LeaseError>;
    /// Forgets the crashes of a session that is parked, so that it can be claimed again. Says whether it
    /// was parked.
    async fn unpark(&self, session: &SessionId) -> Result<bool, LeaseError>;
}
