//! Messages, found by their words, and what is needed to find them by their meaning.
//!
//! Whatever a store has to search quickly is derived from the log. What a filter does not let through
//! is never returned, and messages of takes that do not count are never found.

use async_trait::async_trait;
use jiff::Timestamp;
use roundtable_core::event::Seq;
use roundtable_core::id::{AgentId, SessionId};
use roundtable_core::projection::Receivers;
use roundtable_core::search::{Snippet, WordQuery};
use roundtable_core::stage::Name;

use super::{LogError, Selection, VectorScope, VectorsError};
use crate::embedder::Space;

/// Whose view of the messages a search has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SearchViewer {
    /// Nobody's in particular: all messages.
    Everything,
    /// A person's, by the name under which it sends messages: what is said among those present, and the
    /// person's own whispers.
    Person(String),
    /// An agent's: what it received.
    Agent(AgentId),
}

impl SearchViewer {
    /// Whether a message is for this viewer. `person` is who said it, when a person did.
    pub fn sees(&self, receivers: &Receivers, person: Option<&str>) -> bool {
        match self {
            Self::Everything => true,
            Self::Person(name) => {
                !receivers.is_whisper || (!name.is_empty() && person == Some(name))
            }
            Self::Agent(id) => receivers.agents.as_ref().is_none_or(|agents| agents.has(id)),
        }
    }
}

/// Which messages are searched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MessageFilter {
    /// Those of a tenant's sessions; nothing inside means those of no tenant.
    pub tenant: Option<Option<String>>,
    /// Those of sessions of a kind. Without one, of all but completions.
    pub kind: Option<Name>,
    /// Those of one session.
    pub session: Option<SessionId>,
    /// Those of archived sessions as well.
    pub archived: bool,
    /// Those that this viewer may read.
    pub viewer: SearchViewer,
    /// Those until this time: the pages of a search are about the same messages.
    pub until: Option<Timestamp>,
}

impl Default for MessageFilter {
    /// What everyone may read in sessions that are not archived.
    fn default() -> Self {
        Self {
            tenant: None,
            kind: None,
            session: None,
            archived: false,
            viewer: SearchViewer::Person(String::new()),
            until: None,
        }
    }
}

impl MessageFilter {
    /// The sessions that are searched.
    pub fn selection(&self) -> Selection {
        Selection {
            tenant: self.tenant.clone(),
            kind: self.kind.clone(),
            archived: (!self.archived).then_some(false),
            ..Selection::default()
        }
    }
}

/// A message: its session, and its number there.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MessageKey {
    /// The session.
    pub session: SessionId,
    /// Its number in the session.
    pub number: u64,
}

impl MessageKey {
    /// The scope of the vectors of a session's messages.
    ///
    /// # Errors
    /// [`VectorsError::Refused`] for an id that is too long.
    pub fn scope(session: &SessionId) -> Result<VectorScope, VectorsError> {
        VectorScope::of(["message", session.as_str()])
    }

    /// The key of its vector. The last one is the greatest.
    pub fn vector_key(&self) -> String {
        format!("{:020}", self.number)
    }
}

/// A message that was found.
#[derive(Debug, Clone, PartialEq)]
pub struct FoundMessage {
    /// Which one.
    pub key: MessageKey,
    /// The kind of its session.
    pub kind: Name,
    /// What lists call its session.
    pub title: String,
    /// The event that made it a message.
    pub seq: Seq,
    /// Its round.
    pub round: u32,
    /// What its sender is called.
    pub sender: String,
    /// Whether an agent said it.
    pub by_agent: bool,
    /// When.
    pub at: Timestamp,
    /// The part of it that was found.
    pub snippet: Snippet,
    /// How well it fits. Scores of one search can be compared with each other, and with no others.
    pub score: f64,
}

/// The text of a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MessageText {
    /// Which one.
    pub key: MessageKey,
    /// What it says.
    pub text: String,
}

/// The vector of a message.
#[derive(Debug, Clone, PartialEq)]
pub struct MessageVector {
    /// The text that it was made of. A message that says something else by now gets no vector.
    pub of: MessageText,
    /// The vector.
    pub vector: Vec<f32>,
}

/// Messages, found by words and by keys.
#[async_trait]
pub trait MessageSearch: Send + Sync {
    /// The messages with these words, the best first, of equals the newest; so many, after skipping so
    /// many.
    async fn find_messages(
        &self,
        words: &WordQuery,
        filter: &MessageFilter,
        skip: usize,
        limit: usize,
    ) -> Result<Vec<FoundMessage>, LogError>;

    /// Of these messages, those that the filter lets through, in their order. Scores are zero.
    async fn read_messages(
        &self,
        keys: &[MessageKey],
        words: &WordQuery,
        filter: &MessageFilter,
    ) -> Result<Vec<FoundMessage>, LogError>;

    /// Messages of these sessions that have no vector yet, in the order of the sessions, the oldest of
    /// each first.
    async fn list_unindexed(
        &self,
        space: &Space,
        sessions: &[SessionId],
        limit: usize,
    ) -> Result<Vec<MessageText>, LogError>;

    /// Keeps the vectors of messages. Those of messages that were erased or deleted meanwhile are left
    /// out: what is gone leaves no trace.
    async fn index_messages(
        &self,
        space: &Space,
        vectors: Vec<MessageVector>,
    ) -> Result<(), VectorsError>;
}
