//! An iteration: one model call, and the tool calls that it asked for.

use serde::{Deserialize, Serialize};

use crate::budget::Spend;
use crate::event::Seq;
use crate::id::{IterationId, ToolCallId};
use crate::tool_call::ToolCall;

/// How far an iteration is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// Its model call waits for room in the budgets, or for the engine to stop draining.
    Pending,
    /// The model is being asked.
    AwaitingModel {
        /// Which attempt.
        attempt: u32,
        /// What is set aside for it.
        reserved: Spend,
        /// Where the log says that it started.
        since: Seq,
    },
    /// The tools are being run. Never empty once the reply's events are all applied.
    AwaitingTools(Vec<ToolCall>),
    /// The model call is over and nothing else is to come.
    Over,
}

/// The open iteration of a turn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Iteration {
    /// Its id, and the key of its model call.
    pub id: IterationId,
    /// Its number in the turn, from 1.
    pub number: u32,
    /// How often its model call was started.
    pub attempts: u32,
    /// How far it is.
    pub phase: Phase,
}

impl Iteration {
    pub(crate) fn open(id: IterationId, number: u32) -> Self {
        Self { id, number, attempts: 0, phase: Phase::Pending }
    }

    /// Its tool calls, in the order in which the model asked for them.
    pub fn tool_calls(&self) -> &[ToolCall] {
        match &self.phase {
            Phase::AwaitingTools(calls) => calls,
            Phase::Pending | Phase::AwaitingModel { .. } | Phase::Over => &[],
        }
    }

    pub(crate) fn tool_calls_mut(&mut self) -> &mut [ToolCall] {
        match &mut self.phase {
            Phase::AwaitingTools(calls) => calls,
            Phase::Pending | Phase::AwaitingModel { .. } | Phase::Over => &mut [],
        }
    }

    pub(crate) fn find_call(&self, id: &ToolCallId) -> Option<&ToolCall> {
        self.tool_calls().iter().find(|call| call.id == *id)
    }

    /// Whether all tool calls that the model asked for are done.
    pub(crate) fn tools_done(&self) -> bool {
        matches!(&self.phase, Phase::AwaitingTools(calls) if calls.iter().all(|call| !call.is_open()))
    }
}
