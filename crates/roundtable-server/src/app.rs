//! What every handler has: the sessions, who may call, and how much is allowed.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use crate::access::Access;
use crate::quota::{Admissions, Quotas};
use crate::schema::Schemas;
use crate::sessions::Sessions;

/// How much is allowed.
#[derive(Debug, Clone)]
pub struct Limits {
    /// How many connections may be open.
    pub connections: usize,
    /// How long the head of a request may take to come, and how long a connection may wait for one.
    pub head_time: Duration,
    /// How many bytes a body may have.
    pub body: usize,
    /// How long a body may take to come.
    pub body_time: Duration,
    /// How many answers to context requests may be given at once.
    pub results: usize,
    /// How long a call may wait for a round before it is told that the round is still running.
    pub wait_budget: Duration,
    /// How many streams may be open.
    pub streams: usize,
    /// How many streams may look at the log at once to catch up; the others wait for their turn.
    pub catching_up: usize,
    /// How long a reader may take to read what it was sent. A stream sends nothing more after that.
    pub patience: Duration,
    /// How long a connection is kept after that, so that a reader which reads again finds the `end` event.
    pub grace: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connections: 20 * 1024,
            head_time: Duration::from_secs(30),
            body: 1024 * 1024,
            body_time: Duration::from_secs(30),
            results: 256,
            wait_budget: Duration::from_secs(25),
            streams: 16 * 1024,
            catching_up: half_of_the_processors(),
            patience: Duration::from_secs(20),
            grace: Duration::from_secs(40),
        }
    }
}

/// The other half is for those who work: catching up is quick, and there may be ten thousand who do.
/// Never more than half of what a store reads at once.
fn half_of_the_processors() -> usize {
    std::thread::available_parallelism().map_or(1, |all| all.get() / 2).clamp(1, 4)
}

/// What the handlers share.
pub(crate) struct Shared {
    pub sessions: Sessions,
    /// Who may call just now.
    pub access: Access,
    pub limits: Limits,
    /// What callers may spend and hold.
    pub quotas: Quotas,
    /// Who begins something just now.
    pub admissions: Admissions,
    /// The validators of inputs.
    pub schemas: Schemas,
    /// The places of readers.
    pub seats: Arc<Semaphore>,
    /// Whose turn it is to catch up.
    pub turns: Semaphore,
    /// Cancelled when the server stops: what waits ends, and says where to go on.
    pub stopping: CancellationToken,
}

/// What the handlers share, in their hands.
#[derive(Clone)]
pub(crate) struct App(Arc<Shared>);

impl App {
    pub fn new(shared: Shared) -> Self {
        Self(Arc::new(shared))
    }

    /// An app without tokens, for tests.
    #[cfg(test)]
    pub fn of(engine: roundtable::Engine) -> Self {
        Self::new(Shared {
            sessions: Sessions::new(engine),
            access: Access::default(),
            limits: Limits::default(),
            quotas: Quotas::default(),
            admissions: Admissions::default(),
            schemas: Schemas::default(),
            seats: Arc::new(Semaphore::new(8)),
            turns: Semaphore::new(1),
            stopping: CancellationToken::new(),
        })
    }
}

impl std::ops::Deref for App {
    type Target = Shared;

    fn deref(&self) -> &Shared {
        &self.0
    }
}
