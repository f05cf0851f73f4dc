//! Commands for sessions that another process owns: rows that the owner drains and answers.

use async_trait::async_trait;
use roundtable_core::Reject;
use roundtable_core::context_request::ContextRequest;
use roundtable_core::digest::Digest;
use roundtable_core::event::Seq;
use roundtable_core::id::{CommandId, NodeId, SessionId};
use roundtable_core::input::Command;
use serde::{Deserialize, Serialize};

use super::bell::Rings;
use super::log::{LogError, Receipt};

/// A command on its way to the process that owns its session.
#[derive(Debug, Clone, PartialEq)]
pub struct PostedCommand {
    /// Its id: the owner commits it under this id, so it is done once.
    pub id: CommandId,
    /// The session.
    pub session: SessionId,
    /// What is wanted.
    pub command: Command,
    /// What the id stands for, if the sender says so.
    pub digest: Option<Digest>,
}

/// What the owner answered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Answered {
    /// It is committed.
    Done(Receipt),
    /// The session refused it.
    Rejected(Reject),
    /// The owner lacks what the session's agents need.
    #[serde(rename = "cannot_play")] // as earlier versions store it
    MissingDependency(String),
    /// The owner cannot read the session.
    Damaged {
        /// Where.
        seq: Seq,
        /// How.
        what: String,
    },
    /// Required context requests stand in the way. Written by earlier versions.
    ContextRequired(Vec<ContextRequest>),
    /// The id was used for another command.
    CommandReused,
    /// It was refused, in words.
    Refused(String),
}

/// Commands for sessions that another process owns.
#[async_trait]
pub trait Inbox: Send + Sync {
    /// Leaves a command for the owner. Leaving it again changes nothing.
    async fn post(&self, posted: &PostedCommand) -> Result<(), LogError>;
    /// The commands that wait for sessions that this node owns.
    async fn list_posted(&self, node: &NodeId) -> Result<Vec<PostedCommand>, LogError>;
    /// Answers a command. Ids are chosen per session: two sessions may have the same one.
    async fn answer(
        &self,
        session: &SessionId,
        id: &CommandId,
        answer: &Answered,
    ) -> Result<(), LogError>;
    /// Takes the answer to a command away, if there is one.
    async fn take_answer(
        &self,
        session: &SessionId,
        id: &CommandId,
    ) -> Result<Option<Answered>, LogError>;
    /// Rings when another process may have posted or answered something.
    async fn listen_inbox(&self) -> Rings;
}
