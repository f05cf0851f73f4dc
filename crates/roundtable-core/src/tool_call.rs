//! A tool call: opened by a reply, started, finished exactly once.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::context_request::CallDetails;
use crate::digest::Digest;
use crate::event::{Seq, TurnOutcome};
use crate::id::{ContextRequestId, ToolCallId, TurnId};
use crate::tool::{Effect, Runs, ToolOutcome};

/// How far a call is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// It may be started.
    Ready,
    /// A person has to agree first.
    AwaitingApproval(ContextRequestId),
    /// The person has to answer: the answer is the result.
    AwaitingAnswer(ContextRequestId),
    /// It is being run.
    Started {
        /// Which attempt.
        attempt: u32,
        /// Where the log says so.
        since: Seq,
    },
    /// It is over.
    Finished,
}

/// A turn that the call is waiting for, or was.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Child {
    /// Which of the handler's requests; 0 for a delegation.
    pub ordinal: u32,
    /// The turn.
    pub turn: TurnId,
    /// What has to stay the same when the handler runs again.
    pub digest: Option<Digest>,
    /// How it ended, once it did.
    pub outcome: Option<TurnOutcome>,
}

/// A tool call of an open iteration.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolCall {
    /// Its id, and its key.
    pub id: ToolCallId,
    /// The tool.
    pub name: String,
    /// Tool and arguments: what makes two calls the same action.
    pub action: Digest,
    /// The arguments of an effectful call, while it is open: if its outcome is unknown, a person is
    /// asked about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arguments: Option<Value>,
    /// What repeating it would do.
    pub effect: Effect,
    /// Who carries it out.
    pub runs: Runs,
    /// How far it is.
    pub phase: Phase,
    /// How often it was started.
    pub attempts: u32,
    /// How much its handler has published.
    pub published: u32,
    /// The turns that it waits for, or did.
    pub children: Vec<Child>,
}

impl ToolCall {
    /// The call as a person reads it. Arguments that nobody can read through are left out.
    pub(crate) fn details(&self, agent_name: &str) -> CallDetails {
        let readable = |arguments: &&Value| argument_bytes(arguments) <= CallDetails::MAX_BYTES;
        CallDetails {
            agent_name: agent_name.to_owned(),
            tool: self.name.clone(),
            arguments: self.arguments.as_ref().filter(readable).cloned(),
            digest: self.action.clone(),
        }
    }

    /// The request that a person has to answer before the call goes on.
    pub(crate) fn awaited_request(&self) -> Option<&ContextRequestId> {
        match &self.phase {
            Phase::AwaitingApproval(request) | Phase::AwaitingAnswer(request) => Some(request),
            Phase::Ready | Phase::Started { .. } | Phase::Finished => None,
        }
    }

    pub(crate) fn is_open(&self) -> bool {
        self.phase != Phase::Finished
    }

    /// Whether the core may note its start together with what caused it. An effectful call is
    /// noted on its own, immediately before it is made.
    pub(crate) fn starts_with_its_cause(&self) -> bool {
        self.phase == Phase::Ready && self.runs == Runs::Handler && self.effect != Effect::Effectful
    }

    pub(crate) fn wants_own_start(&self) -> bool {
        self.phase == Phase::Ready && self.runs == Runs::Handler && self.effect == Effect::Effectful
    }

    /// What is known of a call that is given up: an effectful one that started may have happened.
    pub(crate) fn may_have_happened(&self) -> bool {
        matches!(self.phase, Phase::Started { .. }) && self.effect == Effect::Effectful
    }

    pub(crate) fn find_child(&self, ordinal: u32) -> Option<&Child> {
        self.children.iter().find(|child| child.ordinal == ordinal)
    }

    /// What a finished delegate's turn makes of the call.
    pub(crate) fn delegate_outcome(&self) -> Option<ToolOutcome> {
        if self.runs != Runs::Delegate || !self.is_open() {
            return None;
        }
        let child = self.children.first()?;
        let outcome = match child.outcome.as_ref()? {
            TurnOutcome::Answered => {
                return Some(ToolOutcome::Answered { turn: child.turn.clone() });
            }
            TurnOutcome::Failed { error } => format!("The delegate failed: {error}"),
            TurnOutcome::Cancelled => "The delegate was stopped.".to_owned(),
            TurnOutcome::Exhausted { budget } => {
                format!("The delegate ran out of its budget ({}).", budget.word())
            }
        };
        Some(ToolOutcome::Returned(crate::tool::ToolResult::failed(outcome)))
    }
}

/// How long arguments are as JSON text.
pub(crate) fn argument_bytes(arguments: &Value) -> usize {
    arguments.to_string().len()
}
