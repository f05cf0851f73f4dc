//! What an agent came to in a round.

use roundtable::core::id::AgentId;
use roundtable::core::message::Citation as CoreCitation;
use roundtable::debate::{Response, Stance as CoreStance};
use schemars::JsonSchema;
use serde::Serialize;

/// Stance of an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "UPPERCASE")]
pub(crate) enum Stance {
    Yes,
    No,
    Neutral,
}

impl From<CoreStance> for Stance {
    fn from(stance: CoreStance) -> Self {
        match stance {
            CoreStance::Yes => Self::Yes,
            CoreStance::No => Self::No,
            CoreStance::Neutral => Self::Neutral,
        }
    }
}

/// Response of an agent in a round.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct AgentResponse {
    #[schemars(with = "String")]
    pub agent_id: AgentId,
    pub agent_name: String,
    /// Role of the agent. In an expert panel, its perspective.
    pub role: String,
    /// The model that answered. Before an answer, the configured model.
    pub model: String,
    /// Stance of the agent, if the mode asks for one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stance: Option<Stance>,
    /// True if the agent did not take the side that its role requires.
    #[serde(skip_serializing_if = "is_false")]
    #[schemars(default)]
    pub off_stance: bool,
    pub position: String,
    pub key_points: Vec<String>,
    /// Confidence of the agent from 0 to 1, if it reported one.
    pub confidence: Option<f64>,
    /// Change of confidence since the agent's previous answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub confidence_change: Option<f64>,
    /// Sources that the agent cited.
    pub evidence_used: Vec<String>,
    /// A notice for people, for example that a demo model answered. Show it to the user.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub notice: Option<String>,
    /// The error, if the agent could not answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it with a reference")]
fn is_false(flag: &bool) -> bool {
    !flag
}

impl AgentResponse {
    pub fn of(response: &Response) -> Self {
        let position = &response.position;
        Self {
            agent_id: response.agent.clone(),
            agent_name: response.name.clone(),
            role: response.role.clone(),
            model: response.model.clone(),
            stance: position.stance.map(Into::into),
            off_stance: response.off_stance,
            position: position.position.clone(),
            key_points: position.key_points.clone(),
            confidence: position.confidence,
            confidence_change: response.confidence_change,
            evidence_used: response.citations.iter().filter_map(named).collect(),
            notice: response.notice.clone(),
            error: response.failure().map(str::to_owned),
        }
    }
}

/// A source by the best name that it has.
pub(crate) fn named(citation: &CoreCitation) -> Option<String> {
    citation.url.clone().or_else(|| citation.title.clone())
}
