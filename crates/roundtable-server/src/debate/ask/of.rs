//! What is asked about a debate, and what is to happen to it.

use roundtable::core::id::AgentId;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::problem::Problem;

/// A round of a debate. Default: the last round.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct LastRoundQuery {
    /// Round number. Default: the last round.
    #[serde(default)]
    pub round_number: Option<u32>,
}

/// A round of a debate.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct RoundQuery {
    /// Round number.
    pub round_number: u32,
}

/// An agent of a debate.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct AgentQuery {
    /// Agent id.
    #[schemars(length(max = 64))]
    pub agent_id: String,
}

/// Full responses of one agent.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct ResponsesQuery {
    /// Agent id.
    #[schemars(length(max = 64))]
    pub agent_id: String,
    /// Round number. Default: all rounds.
    #[serde(default)]
    pub round_number: Option<u32>,
}

/// Filters for citations.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct CitationsQuery {
    /// Filter by round.
    #[serde(default)]
    pub round_number: Option<u32>,
    /// Filter by agent id.
    #[serde(default)]
    #[schemars(length(max = 64))]
    pub agent_id: Option<String>,
}

/// Request for a synthesis.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SynthesisRequest {
    /// Id of the agent that writes the synthesis. Default: the analyst, the chair or the first
    /// agent.
    #[serde(default)]
    #[schemars(length(max = 64))]
    pub synthesizer: Option<String>,
}

/// Export format.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Format {
    /// Minutes as Markdown text.
    #[default]
    Markdown,
    /// The complete debate as JSON, for import.
    Json,
}

/// Request for an export.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ExportQuery {
    #[serde(default)]
    pub format: Format,
}

/// Action on a debate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Control {
    /// Start no new rounds until the debate is resumed.
    Pause,
    /// Resume a paused debate.
    Resume,
    /// End the debate. Its rounds are kept.
    Stop,
}

/// Action on a debate.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ControlRequest {
    pub action: Control,
}

/// An agent's id, with its prefix or without.
pub(crate) fn agent_id(text: &str) -> Result<AgentId, Problem> {
    let id = text.parse().or_else(|_| AgentId::new(text));
    id.map_err(|_| {
        Problem::not_found("unknown agent; the responses of the debate list the agent ids")
    })
}
