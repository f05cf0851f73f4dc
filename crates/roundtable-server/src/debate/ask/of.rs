//! What is asked about a debate, and what is to happen to it.

use roundtable::core::id::AgentId;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::problem::Problem;

/// A round of a debate; the last one if none is named.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct LastRoundQuery {
    /// The round; the last one if none is named.
    #[serde(default)]
    pub round_number: Option<u32>,
}

/// A certain round of a debate.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct RoundQuery {
    /// The round.
    pub round_number: u32,
}

/// An agent of a debate.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct AgentQuery {
    /// The agent.
    #[schemars(length(max = 64))]
    pub agent_id: String,
}

/// What an agent said, in a round or in all of them.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct ResponsesQuery {
    /// The agent.
    #[schemars(length(max = 64))]
    pub agent_id: String,
    /// The round; all of them if none is named.
    #[serde(default)]
    pub round_number: Option<u32>,
}

/// Whose citations are asked for.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct CitationsQuery {
    /// Those of one round.
    #[serde(default)]
    pub round_number: Option<u32>,
    /// Those of one agent.
    #[serde(default)]
    #[schemars(length(max = 64))]
    pub agent_id: Option<String>,
}

/// Who is to sum a debate up.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SynthesisRequest {
    /// The agent that sums up; the analyst, the chair or the first agent if none is named.
    #[serde(default)]
    #[schemars(length(max = 64))]
    pub synthesizer: Option<String>,
}

/// How a debate is written out.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Format {
    /// Minutes that one would send to colleagues.
    #[default]
    Markdown,
    /// All of it; it can be imported again.
    Json,
}

/// A debate to be written out.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ExportQuery {
    #[serde(default)]
    pub format: Format,
}

/// What is to happen to a debate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Control {
    /// Begin no more rounds until it is resumed.
    Pause,
    /// Begin rounds again.
    Resume,
    /// End it; what exists is kept.
    Stop,
}

/// What is to happen to a debate.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ControlRequest {
    pub action: Control,
}

/// An agent's id, with its prefix or without.
pub(crate) fn agent_id(text: &str) -> Result<AgentId, Problem> {
    let id = text.parse().or_else(|_| AgentId::new(text));
    id.map_err(|_| {
        Problem::not_found("there is no such agent in this debate; its answers name them")
    })
}
