//! Where sessions are kept: a log, leases on it, a bell, vectors, and two things that can be lost.

mod bell;
mod inbox;
mod leases;
mod log;
mod quota;
mod search;
mod vectors;

use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;
use jiff::Timestamp;
use roundtable_core::event::Seq;
use roundtable_core::id::{IterationId, SessionId};
use roundtable_core::projection::{COMPLETION, Summary};
use roundtable_core::session::Status;
use roundtable_core::stage::Name;

pub use bell::{Bell, Rings};
pub use inbox::{Answered, Inbox, PostedCommand};
pub use leases::{CRASH_LIMIT, CRASH_WINDOW, Crash, Crashes, LeaseError, Leases, Ownership};
pub use log::{Batch, CommandKey, CommandRecord, LogError, Receipt, SessionLog, Snapshot};
pub use quota::{Allowances, Holdings, Owner, Quotas};
pub use search::{
    FoundMessage, MessageFilter, MessageKey, MessageSearch, MessageText, MessageVector,
    SearchViewer,
};
pub use vectors::{FoundVector, NewVector, VectorScope, VectorSearch, Vectors, VectorsError};

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
pub struct SessionListing {
    /// Its id.
    pub session: SessionId,
    /// The last event of its log.
    pub head: Seq,
    /// When it began.
    pub created_at: Timestamp,
    /// When something last happened in it.
    pub updated_at: Timestamp,
    /// Why nobody goes on with it by itself, if it crashed again and again.
    pub parked: Option<String>,
    /// What there is to know of it.
    pub summary: Summary,
}

/// Which sessions someone asks for. What is not said leaves nothing out.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Selection {
    /// Those of a tenant; nothing inside means those of no tenant.
    pub tenant: Option<Option<String>>,
    /// Those of a kind. Without one, all but completions.
    pub kind: Option<Name>,
    /// Those in a state.
    pub status: Option<Status>,
    /// Those with this in their topic, in capitals or not.
    pub topic: Option<String>,
    /// Those that are archived, or those that are not.
    pub archived: Option<bool>,
    /// Those that began at this time or later.
    pub from: Option<Timestamp>,
    /// Those that began at this time or earlier.
    pub to: Option<Timestamp>,
    /// Those that began before this one: where a page of a list goes on.
    pub before: Option<SessionId>,
}

impl Selection {
    /// Whether a session is among them; which of two began before the other is not looked at.
    pub fn has(&self, listed: &SessionListing) -> bool {
        let summary = &listed.summary;
        self.tenant.as_ref().is_none_or(|tenant| summary.tenant == *tenant)
            && match &self.kind {
                Some(kind) => summary.kind == *kind,
                None => summary.kind != COMPLETION,
            }
            && self.status.is_none_or(|status| summary.status == status)
            && self.archived.is_none_or(|archived| summary.archived == archived)
            && self.from.is_none_or(|from| listed.created_at >= from)
            && self.to.is_none_or(|to| listed.created_at <= to)
            && self.has_topic(&summary.topic)
    }

    fn has_topic(&self, topic: &str) -> bool {
        let part = self.topic.as_ref().map(|part| part.to_lowercase());
        part.is_none_or(|part| topic.to_lowercase().contains(&part))
    }
}

/// Which sessions there are, and which of them need someone.
#[async_trait]
pub trait Directory: Send + Sync {
    /// The session with this id.
    async fn find(&self, session: &SessionId) -> Result<Option<SessionListing>, LogError>;
    /// The newest sessions.
    async fn list(&self, limit: usize) -> Result<Vec<SessionListing>, LogError>;
    /// The newest of these sessions.
    async fn select(
        &self,
        selection: &Selection,
        limit: usize,
    ) -> Result<Vec<SessionListing>, LogError>;
    /// Sessions that have work, or whose time has come, and that no living node owns. Those that
    /// are parked are left out.
    async fn list_due(&self, now: Timestamp, limit: usize) -> Result<Vec<SessionId>, LogError>;
    /// When the next session that nobody owns becomes due.
    async fn next_wake(&self) -> Result<Option<Timestamp>, LogError>;
    /// A session that was forked from this one, and reads its past from it.
    async fn find_fork(&self, session: &SessionId) -> Result<Option<SessionId>, LogError>;
    /// Deletes a session for good, with everything that was made of it. A writer of the past stays
    /// fenced. Says whether it did: a session with an open round or a fork is left as it is.
    async fn delete(&self, own: &Ownership) -> Result<bool, LogError>;
}

/// A place to keep sessions: the nine sides of one backend.
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
    /// What texts mean.
    pub vectors: Arc<dyn Vectors>,
    /// What sessions spend and hold.
    pub quotas: Arc<dyn Quotas>,
    /// Where words are.
    pub messages: Arc<dyn MessageSearch>,
}

impl Store {
    /// A store whose sides are one and the same thing.
    pub fn of<B>(backend: Arc<B>) -> Self
    where
        B: SessionLog
            + Leases
            + Bell
            + Drafts
            + Directory
            + Inbox
            + Vectors
            + Quotas
            + MessageSearch
            + 'static,
    {
        Self {
            log: backend.clone(),
            leases: backend.clone(),
            bell: backend.clone(),
            drafts: backend.clone(),
            directory: backend.clone(),
            inbox: backend.clone(),
            vectors: backend.clone(),
            quotas: backend.clone(),
            messages: backend,
        }
    }
}
