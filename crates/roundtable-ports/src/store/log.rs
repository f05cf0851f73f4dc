//! The truth: an ordered, fenced log per session.

use std::sync::Arc;

use async_trait::async_trait;
use roundtable_core::budget::Spend;
use roundtable_core::digest::Digest;
use roundtable_core::event::{Event, Origin, Seq};
use roundtable_core::id::{CommandId, SessionId};
use roundtable_core::projection::{Row, Summary};
use serde::{Deserialize, Serialize};

use super::Ownership;

/// What a caller is told of a command that was committed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Receipt {
    /// Everything that it caused comes after this event.
    pub after: Seq,
    /// The last event of the commit that it was part of.
    pub seq: Seq,
    /// What the caller should know, though it was accepted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

/// A command that was committed, so that it can be told from a new one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommandRecord {
    /// Its id, chosen by the caller.
    pub id: CommandId,
    /// What it said. The same id with another digest is another command, and is refused.
    pub digest: Digest,
    /// What the caller was told.
    pub receipt: Receipt,
}

/// The name of a command, chosen by its caller.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandKey {
    /// Its id.
    pub id: CommandId,
    /// What it stands for, where that is more than the command says: the request that it was made of.
    /// Without one, the digest of the command.
    pub digest: Option<Digest>,
}

impl From<CommandId> for CommandKey {
    fn from(id: CommandId) -> Self {
        Self { id, digest: None }
    }
}

/// One commit: all of it, or nothing.
#[derive(Debug, Clone)]
pub struct Batch<'a> {
    /// The head that the events follow on.
    pub expect: Seq,
    /// Where the session comes from, in the first commit of a fork.
    pub origin: Option<&'a Origin>,
    /// The events, numbered.
    pub events: &'a [Arc<Event>],
    /// The rows that they make.
    pub rows: &'a [Row],
    /// The commands that caused them.
    pub commands: &'a [CommandRecord],
    /// The session, as lists show it.
    pub summary: &'a Summary,
    /// How much the session's account went up. It counts for the day of the last event.
    pub spent: Spend,
}

impl Batch<'_> {
    /// Refuses events that hold a value which nests too deeply to be read again. Every store asks
    /// this before it writes.
    ///
    /// # Errors
    /// [`LogError::Unstorable`] for the first such event.
    pub fn check(&self) -> Result<(), LogError> {
        for event in self.events {
            event
                .body
                .check_levels()
                .map_err(|error| LogError::Unstorable { what: format!("a value is {error}") })?;
        }
        Ok(())
    }
}

/// Why the log cannot do something.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LogError {
    /// Another node has claimed the session since.
    #[error("another writer has taken over the session (epoch {epoch})")]
    Fenced {
        /// Its epoch.
        epoch: u64,
    },
    /// The head is not where the writer thought.
    #[error("the log has advanced to {head}")]
    Conflict {
        /// Where it is.
        head: Seq,
    },
    /// This command is in already.
    #[error("command {id} is already in the log")]
    Duplicate {
        /// The command.
        id: CommandId,
    },
    /// The store did not answer, and it is not known whether it did what it was asked.
    #[error("the store is unavailable: {0}")]
    Unavailable(String),
    /// A body that no reader could parse is never written. Trying again changes nothing.
    #[error("this cannot be stored: {what}")]
    Unstorable {
        /// What is wrong with it.
        what: String,
    },
    /// Another process holds the write lock of the store for too long. Nothing was written.
    #[error(
        "another process holds the write lock of the store; nothing was written. Retry; if the \
         error persists, end the process that keeps a long transaction open"
    )]
    Busy,
    /// There is no room for more. Nothing was written.
    #[error("the disk of the store is full; nothing was written. Free some space and try again")]
    Full,
    /// What is stored cannot be read.
    #[error("the log of {session} is damaged at {seq}: {what}")]
    Damaged {
        /// The session.
        session: SessionId,
        /// Where.
        seq: Seq,
        /// How.
        what: String,
    },
}

impl LogError {
    /// Whether the same may go through when it is tried again on fresh state.
    pub fn is_transient(&self) -> bool {
        match self {
            Self::Conflict { .. }
            | Self::Unavailable(_)
            | Self::Busy
            | Self::Full
            | Self::Duplicate { .. } => true,
            Self::Fenced { .. } | Self::Unstorable { .. } | Self::Damaged { .. } => false,
        }
    }
}

/// A state at some point of the log: a speed-up, rebuildable, one per session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Snapshot {
    /// The version of its form; another one is discarded.
    pub version: u32,
    /// The last event in it.
    pub seq: Seq,
    /// The state.
    pub state: Vec<u8>,
}

/// An ordered, fenced log per session.
#[async_trait]
pub trait SessionLog: Send + Sync {
    /// Commits a batch and returns the new head.
    async fn append(&self, own: &Ownership, batch: Batch<'_>) -> Result<Seq, LogError>;
    /// Events from this position on, through the session's lineage.
    async fn read(
        &self,
        session: &SessionId,
        from: Seq,
        limit: usize,
    ) -> Result<Vec<Arc<Event>>, LogError>;
    /// A command that was committed to this session.
    async fn find_command(
        &self,
        session: &SessionId,
        id: &CommandId,
    ) -> Result<Option<CommandRecord>, LogError>;
    /// The session's snapshot.
    async fn find_snapshot(&self, session: &SessionId) -> Result<Option<Snapshot>, LogError>;
    /// Overwrites the session's snapshot.
    async fn put_snapshot(&self, own: &Ownership, snapshot: Snapshot) -> Result<(), LogError>;
}
