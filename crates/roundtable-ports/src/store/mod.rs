//! Where sessions are kept: a log, leases on it, a bell, and two things that can be lost.

mod bell;
mod inbox;
mod leases;
mod log;

use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;
use jiff::Timestamp;
use roundtable_core::event::Seq;
use roundtable_core::id::{IterationId, SessionId};
use roundtable_core::projection::Summary;

pub use bell::{Bell, Rings};
pub use inbox::{Answered, Inbox, Posted};
pub use leases::{LeaseError, Leases, Ownership};
pub use log::{Batch, CommandRecord, LogError, Receipt, SessionLog, Snapshot};

/// What running model calls have said so far: overwritable rows, not events.
#[async_trait]
pub trait Drafts: Send + Sync {
    /// Notes how far a model call is.
    async fn put_draft(
        &self,
        own: &Ownership,
        iteration: &IterationId,
        text: &str,
    ) -> Result<(), LogError>;
    /// What is noted of a session's model calls.
    async fn list_drafts(
        &self,
        session: &SessionId,
    ) -> Result<BTreeMap<IterationId, String>, LogError>;
    /// Forgets what is noted of a session's model calls.
    async fn clear_drafts(&self, own: &Ownership) -> Result<(), LogError>;
}

/// A session in a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    /// Its id.
    pub session: SessionId,
    /// The last event of its log.
    pub head: Seq,
    /// What there is to know of it.
    pub summary: Summary,
}

/// Which sessions there are, and which of them need someone.
#[async_trait]
pub trait Directory: Send + Sync {
    /// The session with this id.
    async fn find(&self, session: &SessionId) -> Result<Option<Listed>, LogError>;
    /// The newest sessions.
    async fn list(&self, most: usize) -> Result<Vec<Listed>, LogError>;
    /// Sessions that have work, or whose time has come, and that no living node owns.
    async fn list_due(&self, now: Timestamp, most: usize) -> Result<Vec<SessionId>, LogError>;
    /// When the next session that nobody owns becomes due.
    async fn next_wake(&self) -> Result<Option<Timestamp>, LogError>;
}

/// A place to keep sessions: the six sides of one backend.
#[derive(Clone)]
pub struct Store {
    /// The truth.
    pub log: Arc<dyn SessionLog>,
    /// Who may write.
    pub leases: Arc<dyn Leases>,
    /// Who wants to know.
    pub bell: Arc<dyn Bell>,
    /// What is being said.
    pub drafts: Arc<dyn Drafts>,
    /// What there is.
    pub directory: Arc<dyn Directory>,
    /// What other processes want.
    pub inbox: Arc<dyn Inbox>,
}

impl Store {
    /// A store whose sides are one and the same thing.
    pub fn of<B>(backend: Arc<B>) -> Self
    where
        B: SessionLog + Leases + Bell + Drafts + Directory + Inbox + 'static,
    {
        Self {
            log: backend.clone(),
            leases: backend.clone(),
            bell: backend.clone(),
            drafts: backend.clone(),
            directory: backend.clone(),
            inbox: backend,
        }
    }
}
