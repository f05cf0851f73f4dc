//! What was said, in full, and the sources for it.

use roundtable::core::id::{AgentId, SessionId};
use roundtable::debate::{Response, Source};
use schemars::JsonSchema;
use serde::Serialize;

use super::Consensus;
use crate::debate::answer::{AgentResponse, Stance, Status, Usage};
use crate::wire::ContextRequest;

/// Full response of an agent in a round.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct FullResponse {
    pub round_number: u32,
    #[serde(flatten)]
    pub response: AgentResponse,
    /// Reasoning of the agent.
    pub reasoning: String,
    pub citations: Vec<Citation>,
    pub tools_used: Vec<String>,
    pub usage: Usage,
}

impl FullResponse {
    pub fn of(round: u32, response: &Response) -> Self {
        let citation = |it: &roundtable::core::message::Citation| Citation {
            url: it.url.clone(),
            title: it.title.clone(),
            quote: it.quote.clone(),
        };
        Self {
            round_number: round,
            response: AgentResponse::of(response),
            reasoning: response.position.reasoning.clone(),
            citations: response.citations.iter().map(citation).collect(),
            tools_used: response.tools.clone(),
            usage: Usage::of(response.spent),
        }
    }
}

/// A citation.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub(crate) struct Citation {
    pub url: Option<String>,
    pub title: Option<String>,
    pub quote: Option<String>,
}

/// Responses of an agent over all rounds.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Thoughts {
    #[schemars(with = "String")]
    pub session_id: SessionId,
    #[schemars(with = "String")]
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
    #[schemars(with = "String")]
    pub session_id: SessionId,
    #[schemars(with = "String")]
    pub agent_id: AgentId,
    pub responses: Vec<FullResponse>,
}

/// A round with all responses and its consensus.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RoundDetail {
    #[schemars(with = "String")]
    pub session_id: SessionId,
    pub round_number: u32,
    pub status: Status,
    /// The focus question of the round.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub focus_question: Option<String>,
    pub responses: Vec<FullResponse>,
    pub consensus: Option<Consensus>,
    pub context_requests: Vec<ContextRequest>,
}

/// A source with the agents and rounds that cite it.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Cited {
    #[serde(flatten)]
    pub citation: Citation,
    #[schemars(with = "Vec<String>")]
    pub agent_ids: Vec<AgentId>,
    pub rounds: Vec<u32>,
}

impl Cited {
    pub fn of(source: Source) -> Self {
        let citation = source.citation;
        Self {
            citation: Citation { url: citation.url, title: citation.title, quote: citation.quote },
            agent_ids: source.agents,
            rounds: source.rounds,
        }
    }
}

/// The sources of a debate without duplicates.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Citations {
    #[schemars(with = "String")]
    pub session_id: SessionId,
    pub total: usize,
    pub citations: Vec<Cited>,
}
