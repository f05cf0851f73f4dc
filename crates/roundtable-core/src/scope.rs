//! Where something happens and for whom: ids that travel as one immutable value.

use serde::{Deserialize, Serialize};

use crate::id::{AgentId, IterationId, RoundId, SessionId, ToolCallId, TurnId};
use crate::message_context::MessageContext;

/// The scopes around an event, inside its session: the header's ids.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    /// The round, unless the event concerns the session as a whole.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub round: Option<RoundId>,
    /// The turn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn: Option<TurnId>,
    /// The iteration.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub iteration: Option<IterationId>,
    /// The tool call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_call: Option<ToolCallId>,
}

impl Place {
    /// The session as a whole.
    pub fn session() -> Self {
        Self::default()
    }

    /// A round.
    pub fn round(round: &RoundId) -> Self {
        Self { round: Some(round.clone()), ..Self::default() }
    }

    /// A turn of this round.
    pub fn turn(&self, turn: &TurnId) -> Self {
        Self { round: self.round.clone(), turn: Some(turn.clone()), ..Self::default() }
    }

    /// An iteration of this turn.
    pub fn iteration(&self, iteration: &IterationId) -> Self {
        let (round, turn) = (self.round.clone(), self.turn.clone());
        Self { round, turn, iteration: Some(iteration.clone()), ..Self::default() }
    }

    /// A tool call of this iteration.
    pub fn tool_call(&self, tool_call: &ToolCallId) -> Self {
        Self { tool_call: Some(tool_call.clone()), ..self.clone() }
    }
}

/// What a model call or a tool call knows of where and for whom it runs (R004-13).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scope {
    /// The session.
    pub session: SessionId,
    /// Round, turn, iteration and, inside a tool, tool call.
    pub place: Place,
    /// The round's number.
    pub round_number: u32,
    /// The iteration's number inside its turn.
    pub iteration_number: u32,
    /// The agent whose turn it is.
    pub agent: AgentId,
    /// The configuration namespace that registers the agent and its tools.
    pub domain: String,
    /// The person or program on whose behalf the session runs, if known.
    pub actor: Option<String>,
    /// The tenant, if there is one.
    pub tenant: Option<String>,
    /// The message that caused the round, if a message did.
    pub message: Option<MessageContext>,
}
