//! What a session's task is sent, and whom it has to answer.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use roundtable_core::Live;
use roundtable_core::event::NestedPrompt;
use roundtable_core::id::{IterationId, ToolCallId, TurnId};
use roundtable_core::input::{Command, Input};
use roundtable_ports::{CommandKey, EvaluateError, Evaluation, Receipt};
use tokio::sync::oneshot;

use crate::error::EngineError;

/// What a session's task is sent. Its variants are boxed where they are large: a mailbox keeps room
/// for several dozen envelopes, and most sessions wait with an empty one.
pub(crate) enum Envelope {
    /// A caller wants something.
    Command { command: Arc<Command>, key: Option<CommandKey>, reply: Reply },
    /// A caller wants to look at the state.
    Look(Look),
    /// An effect is done. Partials are those of a process that is gone.
    Report { report: Input, partials: Option<BTreeMap<IterationId, String>> },
    /// Something that is committed before whoever sends it goes on: a handler publishes, or a model
    /// call is about to make another request.
    Commit { report: Input, reply: oneshot::Sender<Result<(), EvaluateError>> },
    /// A handler wants a prompt answered.
    Evaluate {
        tool_call: ToolCallId,
        ordinal: u32,
        prompt: Box<NestedPrompt>,
        reply: oneshot::Sender<Result<Evaluation, EvaluateError>>,
    },
    /// Something may be due.
    Wake,
    /// Nothing has happened for a while.
    Idle,
    /// What is known of the session here counts no more.
    Discard,
}

/// Takes what it wants to know of the state, or why it cannot be known.
pub(crate) type Look = Box<dyn FnOnce(Result<&Live, EngineError>) + Send + Sync>;

/// How a command is answered.
pub(crate) enum Reply {
    /// When it is committed.
    Committed(oneshot::Sender<Result<Receipt, EngineError>>),
    /// When the round of its message is over, or waits for a person.
    RoundOver {
        message_id: String,
        /// Where the receipt is put when it is committed: a task that goes before the round is
        /// over takes the reply with it, and what is committed is acknowledged all the same.
        committed: Arc<OnceLock<Receipt>>,
        reply: oneshot::Sender<Result<Receipt, EngineError>>,
    },
}

impl Reply {
    pub fn refuse(self, error: EngineError) {
        let (Self::Committed(reply) | Self::RoundOver { reply, .. }) = self;
        // A caller who does not wait any more has no use for the answer.
        let _ = reply.send(Err(error));
    }
}

/// A caller who waits for the end of a round.
pub(crate) struct Asker {
    pub message_id: String,
    pub receipt: Receipt,
    pub reply: oneshot::Sender<Result<Receipt, EngineError>>,
}

/// A handler that waits for its child turn.
pub(crate) struct Waiter {
    pub turn: TurnId,
    pub reply: oneshot::Sender<Result<Evaluation, EvaluateError>>,
}

impl Envelope {
    /// Answers that it cannot be done.
    pub fn refuse(self, error: &EngineError) {
        match self {
            Self::Command { reply, .. } => reply.refuse(error.clone()),
            Self::Look(look) => look(Err(error.clone())),
            Self::Commit { reply, .. } => drop(reply.send(Err(EvaluateError::Stopping))),
            Self::Evaluate { reply, .. } => drop(reply.send(Err(EvaluateError::Stopping))),
            Self::Report { .. } | Self::Wake | Self::Idle | Self::Discard => {}
        }
    }
}
