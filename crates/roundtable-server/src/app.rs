//! What every handler has: the sessions, who may call, and how much is allowed.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::access::Access;
use crate::problem::Problem;
use crate::quota::{Admissions, Quotas};
use crate::schema::Schemas;
use crate::sessions::Sessions;

/// How many answers may be given at once: more than can be pending, because a round may need all.
pub(crate) const MAX_RESULTS: usize = 4096;

/// Who decides on tool calls when an MCP client asks for rounds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Approvals {
    /// A person: asked by the client (elicitation), at the terminal or over HTTP.
    #[default]
    Person,
    /// The model that calls may decide, too.
    Caller,
}

/// How much is allowed.
#[derive(Debug, Clone)]
pub struct Limits {
    /// How many connections may be open.
    pub connections: usize,
    /// How long the head of a request may take to come, and how long a connection may wait for one.
    pub head_time: Duration,
    /// How many bytes a body may have.
    pub body: usize,
    /// How many bytes more a message with files may have.
    pub files: usize,
    /// How long a body may take to come.
    pub body_time: Duration,
    /// How many answers to context requests may be given at once.
    pub results: usize,
    /// How long a call may wait for a round before it is told that the round is still running.
    pub wait_budget: Duration,
    /// How long a call may wait until its request is stored before it is told to try again.
    pub store_wait: Duration,
    /// How many streams may be open.
    pub streams: usize,
    /// How many streams may look at the log at once to catch up; the others wait for their turn.
    pub catching_up: usize,
    /// How long a reader may take to read what it was sent. A stream sends nothing more after that.
    pub patience: Duration,
    /// How many debates may be exported at once, from folding to the last byte; the others wait.
    pub exports: usize,
    /// How long a connection is kept after that, so that a reader which reads again finds the `end` event.
    pub grace: Duration,
    /// What one WebSocket may do.
    pub sockets: SocketLimits,
}

/// How much is allowed on one WebSocket.
#[derive(Debug, Clone)]
pub struct SocketLimits {
    /// How many bytes a frame of a client may have. A larger one is refused; one above four times as
    /// much ends the connection.
    pub frame: usize,
    /// How many frames per second a client may send. More are not lost: they are read later.
    pub frames_per_second: u32,
    /// How many requests of a client may be under way. While there are as many, nothing more is read.
    pub requests: usize,
    /// How many conversations a client may follow.
    pub subscriptions: usize,
    /// How many frames may wait until a client takes them.
    pub outgoing: usize,
    /// How often a client is pinged. One that sends nothing for two such periods is disconnected.
    pub ping: Duration,
}

impl Default for SocketLimits {
    fn default() -> Self {
        Self {
            frame: 1024 * 1024,
            frames_per_second: 100,
            requests: 64,
            subscriptions: 256,
            outgoing: 64,
            ping: Duration::from_secs(20),
        }
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connections: CONNECTIONS,
            head_time: Duration::from_secs(30),
            body: 1024 * 1024,
            files: 9 * 1024 * 1024,
            body_time: Duration::from_secs(30),
            results: MAX_RESULTS,
            wait_budget: Duration::from_secs(25),
            store_wait: Duration::from_secs(10),
            streams: 16 * 1024,
            catching_up: half_of_the_processors(),
            patience: Duration::from_secs(20),
            exports: 2,
            grace: Duration::from_secs(40),
            sockets: SocketLimits::default(),
        }
    }
}

/// How many connections are served at most, however many files may be open.
const CONNECTIONS: usize = 20 * 1024;

/// How many open files are kept for providers, the store and the process itself, at least.
const RESERVED_FILES: usize = 96;

impl Limits {
    /// The same for a process that may have so many files open: a quarter of them, and not too few,
    /// are kept for providers and the store.
    #[must_use]
    pub fn with_open_files(self, files: usize) -> Self {
        let reserved = (files / 4).max(RESERVED_FILES);
        let connections = files.saturating_sub(reserved).clamp(1, self.connections);
        Self { connections, ..self }
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
    /// Who decides on tool calls over MCP.
    pub approvals: Approvals,
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
    /// The places of those who export.
    pub exports: Arc<Semaphore>,
    /// The open WebSockets, which the server waits for when it stops.
    pub open_sockets: TaskTracker,
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

    /// Waits for something that the store has to take, but not for longer than a caller waits: another
    /// process may hold the store's lock. What was sent to a session stays sent.
    pub async fn stored<T, E: Into<Problem>>(
        &self,
        work: impl Future<Output = Result<T, E>>,
    ) -> Result<T, Problem> {
        match tokio::time::timeout(self.limits.store_wait, work).await {
            Ok(done) => done.map_err(Into::into),
            Err(_) => Err(Problem::not_stored(self.limits.store_wait)),
        }
    }

    /// An app without tokens, for tests.
    #[cfg(test)]
    pub fn of(engine: roundtable::Engine) -> Self {
        Self::new(Shared {
            sessions: Sessions::new(engine),
            access: Access::default(),
            limits: Limits::default(),
            approvals: Approvals::default(),
            quotas: Quotas::default(),
            admissions: Admissions::default(),
            schemas: Schemas::default(),
            seats: Arc::new(Semaphore::new(8)),
            turns: Semaphore::new(1),
            exports: Arc::new(Semaphore::new(1)),
            open_sockets: TaskTracker::new(),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_leave_files_to_providers_and_the_store() {
        let connections = |files| Limits::default().with_open_files(files).connections;
        let limits = [10, 256, 1024, 4096, usize::MAX].map(connections);
        assert_eq!(limits, [1, 160, 768, 3072, 20 * 1024]);
    }
}
