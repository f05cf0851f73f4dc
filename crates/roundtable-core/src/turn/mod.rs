//! A turn: one participant's answer, in iterations. Its record is [`Context`]; this is its state.

mod context;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;

pub(crate) use context::exceeded;
pub use context::{Attributes, Context, Iteration as IterationRecord, ToolCallRecord};

use crate::budget::{Account, Limits};
use crate::event::{Seq, TurnOutcome};
use crate::id::{AgentId, ToolCallId, TurnId};
use crate::iteration::{Iteration, Phase};
use crate::tool_call::ToolCall;

/// An open turn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Turn {
    /// Its id.
    pub id: TurnId,
    /// Whose turn it is.
    pub agent: AgentId,
    /// The tool call that waits for it; none when it is a seat of the round.
    pub parent: Option<ToolCallId>,
    /// The stage that it is a seat of.
    pub stage: Option<u32>,
    /// How deep it is nested, from 1.
    pub depth: u32,
    /// The only tools that it offers, where its prompt chooses.
    pub tools: Option<Vec<String>>,
    /// When it began.
    pub started_at: Timestamp,
    /// What it has spent, its children included.
    pub account: Account,
    /// How many iterations it has opened.
    pub iterations: u32,
    /// The open one.
    pub iteration: Option<Iteration>,
    /// Where its last words are, if it said anything.
    pub words: Option<Seq>,
    /// How it will end, as soon as its iteration is closed.
    pub ending: Option<TurnOutcome>,
    /// The state of the program when it began, where that has changed since.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<Value>,
}

impl Turn {
    /// Whether a model call of it is under way.
    pub(crate) fn awaits_model(&self) -> bool {
        let phase = self.iteration.as_ref().map(|iteration| &iteration.phase);
        matches!(phase, Some(Phase::AwaitingModel { .. }))
    }

    /// The tool call with this id, if it belongs to the open iteration.
    pub fn find_call(&self, id: &ToolCallId) -> Option<&ToolCall> {
        self.iteration.as_ref()?.find_call(id)
    }

    pub(crate) fn find_call_mut(&mut self, id: &ToolCallId) -> Option<&mut ToolCall> {
        self.iteration.as_mut()?.tool_calls_mut().iter_mut().find(|call| call.id == *id)
    }

    /// When it has to be over.
    pub(crate) fn deadline(&self) -> Option<Timestamp> {
        deadline(self.started_at, self.account.limits)
    }
}

/// When something with these limits has to be over.
pub(crate) fn deadline(start: Timestamp, limits: Limits) -> Option<Timestamp> {
    let limit = i64::try_from(limits.time_ms?).ok()?;
    start.checked_add(jiff::SignedDuration::from_millis(limit)).ok()
}
