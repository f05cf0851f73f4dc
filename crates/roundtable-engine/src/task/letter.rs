//! What a session's task is sent, and whom it has to answer.

use std::collections::BTreeMap;

use roundtable_core::event::NestedPrompt;
use roundtable_core::id::{CommandId, IterationId, ToolCallId, TurnId};
use roundtable_core::input::{Command, Report};
use roundtable_core::session::Session;
use roundtable_ports::{EvaluateError, Evaluation, Receipt};
use tokio::sync::oneshot;

use crate::error::EngineError;

/// What a session's task is sent.
pub(crate) enum Letter {
    /// A caller wants something.
    Command {
        command: Box<Command>,
        id: Option<CommandId>,
        reply: oneshot::Sender<Result<Receipt, EngineError>>,
    },
    /// A caller wants to know the state.
    State { reply: oneshot::Sender<Result<Session, EngineError>> },
    /// An effect is done. Partials are those of a process that is gone.
    Report { report: Report, partials: Option<BTreeMap<IterationId, String>> },
    /// A handler has something to tell.
    Publish { report: Report, reply: oneshot::Sender<Result<(), EvaluateError>> },
    /// A handler wants a prompt answered.
    Evaluate {
        tool_call: ToolCallId,
        ordinal: u32,
        prompt: NestedPrompt,
        reply: oneshot::Sender<Result<Evaluation, EvaluateError>>,
    },
    /// Something may be due.
    Wake,
    /// Nothing has happened for a while.
    Idle,
}

/// A handler that waits for its child turn.
pub(crate) struct Waiter {
    pub turn: TurnId,
    pub reply: oneshot::Sender<Result<Evaluation, EvaluateError>>,
}

impl Letter {
    /// Answers that it cannot be done.
    pub fn refuse(self, error: &EngineError) {
        match self {
            Self::Command { reply, .. } => drop(reply.send(Err(error.clone()))),
            Self::State { reply } => drop(reply.send(Err(error.clone()))),
            Self::Publish { reply, .. } => drop(reply.send(Err(EvaluateError::Stopping))),
            Self::Evaluate { reply, .. } => drop(reply.send(Err(EvaluateError::Stopping))),
            Self::Report { .. } | Self::Wake | Self::Idle => {}
        }
    }
}
