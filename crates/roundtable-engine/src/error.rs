//! Why the engine did not do what it was asked.

use roundtable_core::Reject;
use roundtable_core::event::Seq;
use roundtable_core::id::{CommandId, SessionId};
use roundtable_ports::{LeaseError, LogError};

/// Why the engine did not do what it was asked. Nothing changed, unless it says otherwise.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EngineError {
    /// The session refused it.
    #[error(transparent)]
    Reject(#[from] Reject),
    /// The log could not be read or written. With a command id, sending it again is safe.
    #[error(transparent)]
    Log(#[from] LogError),
    /// Another process drives the session.
    #[error(transparent)]
    Lease(#[from] LeaseError),
    /// The id was used for another command.
    #[error("command id {id} was already used with other content; use a new id")]
    CommandReused {
        /// The id.
        id: CommandId,
    },
    /// No model with this name is registered.
    #[error("unknown model \"{model}\"; registered: {known}")]
    UnknownModel {
        /// The name that was given.
        model: String,
        /// The names that there are.
        known: String,
    },
    /// No tool with this name is registered.
    #[error("unknown tool \"{tool}\"; registered: {known}")]
    UnknownTool {
        /// The name that was given.
        tool: String,
        /// The names that there are.
        known: String,
    },
    /// What the session's agents need is not there, so it is left to a process that has it.
    #[error(
        "this process cannot continue the session: {what}. Register it, use a process that has it, or fork the session with other agents"
    )]
    MissingDependency {
        /// What is missing.
        what: String,
    },
    /// An agent's declaration makes a tool look more harmless than it says itself.
    #[error(
        "{agent} declares tool \"{tool}\" as safer to repeat than the tool itself does; use the tool's effect class"
    )]
    WrongEffect {
        /// The tool.
        tool: String,
        /// The agent.
        agent: String,
    },
    /// A tool's schema is not one.
    #[error("invalid JSON Schema for the parameters of tool \"{tool}\": {what}")]
    BadSchema {
        /// The tool.
        tool: String,
        /// What is wrong.
        what: String,
    },
    /// Two tools have one name.
    #[error("duplicate tool \"{tool}\"; give each tool its own name")]
    ToolTwice {
        /// The name.
        tool: String,
    },
    /// There is no such position in the log yet.
    #[error("event {from} does not exist yet; the last event is {head}")]
    BeyondEnd {
        /// The position that was asked for.
        from: Seq,
        /// The last event that there is.
        head: Seq,
    },
    /// The session's task panicked. What it had not answered may be committed or not.
    #[error(
        "internal error before the session answered. Read the session to see what was stored; a \
         retry with the same command id is safe"
    )]
    Crashed,
    /// A session cannot be deleted, because another one reads its past from it.
    #[error("{fork} was forked from it and needs its history; delete the fork first")]
    Forked {
        /// The fork.
        fork: SessionId,
    },
    /// The engine is stopping.
    #[error("the engine is stopping; retry when it is running again")]
    Stopping,
}

impl EngineError {
    /// Whether the same may go through later, because the store was out of reach.
    pub(crate) fn is_transient(&self) -> bool {
        match self {
            Self::Log(error) => error.is_transient(),
            Self::Lease(error) => matches!(error, LeaseError::Unavailable(_)),
            _ => false,
        }
    }
}
