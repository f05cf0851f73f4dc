//! What there is to read of a debate: documents of the product, and whose they are.

use roundtable::core::context_request::ContextRequest;
use roundtable::core::document::{self, Usage};
use roundtable::core::id::{AgentId, SessionId};
use roundtable::debate::{
    Consensus, DebateEntry, DebateStatus, FullResponse, RoundStatus, Source, Stance,
    SynthesisReport,
};
use schemars::JsonSchema;
use serde::Serialize;

/// Debates, newest first.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub(crate) struct DebateList {
    pub sessions: Vec<DebateEntry>,
}

/// An agent of the configuration.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ConfiguredAgent {
    /// Agent id. Pass it in `agents` to start a debate with this agent.
    pub agent_id: AgentId,
    pub name: String,
    pub provider: String,
    pub model: String,
    /// Whether the model of the agent is available.
    pub active: bool,
}

/// Configured agents and default models.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub(crate) struct ConfiguredAgents {
    pub agents: Vec<ConfiguredAgent>,
    /// Models of the default agents.
    pub models: Vec<String>,
}

/// Status of a synthesis.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Progress {
    /// The synthesis is being written.
    Running,
    /// The synthesis is complete.
    Completed,
}

/// A synthesis and its status.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SynthesisAnswer {
    pub session_id: SessionId,
    pub status: Progress,
    /// What to do next, while it is running.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_step: Option<&'static str>,
    /// The synthesis, once it is complete.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub synthesis: Option<SynthesisReport>,
}

impl SynthesisAnswer {
    /// Without a synthesis, it is still being written; a later request returns it.
    pub fn new(session: &SessionId, synthesis: Option<SynthesisReport>) -> Self {
        let next = "The synthesis is still being written. Send the same request again to get it. It is written and charged only once.";
        let (status, next_step) = match &synthesis {
            Some(_) => (Progress::Completed, None),
            None => (Progress::Running, Some(next)),
        };
        Self { session_id: session.clone(), status, next_step, synthesis }
    }
}

/// Status of a debate after a control action.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ControlAnswer {
    pub session_id: SessionId,
    pub status: DebateStatus,
    /// Number of finished rounds.
    pub current_round: u32,
    pub usage: Usage,
}

/// Responses of an agent over all rounds.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Thoughts {
    pub session_id: SessionId,
    pub agent_id: AgentId,
    pub responses: Vec<FullResponse>,
    /// Confidence per round.
    pub confidence_over_rounds: Vec<Confidence>,
}

/// Confidence of an agent in a round.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Confidence {
    pub round_number: u32,
    pub confidence: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stance: Option<Stance>,
}

/// Full responses.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Responses {
    pub session_id: SessionId,
    pub agent_id: AgentId,
    pub responses: Vec<FullResponse>,
}

/// A round with all responses and its consensus.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RoundDetail {
    pub session_id: SessionId,
    pub round_number: u32,
    pub status: RoundStatus,
    /// The focus question of the round.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub focus_question: Option<String>,
    pub responses: Vec<FullResponse>,
    pub consensus: Consensus,
    #[serde(serialize_with = "document::context_requests")]
    #[schemars(with = "Vec<document::ContextRequest>")]
    pub context_requests: Vec<ContextRequest>,
}

/// The sources of a debate without duplicates.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Citations {
    pub session_id: SessionId,
    pub total: usize,
    pub citations: Vec<Source>,
}
