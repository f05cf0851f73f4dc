//! What there is to read of a debate.

mod consensus;
mod said;

use jiff::Timestamp;
use roundtable::core::id::{AgentId, SessionId};
use roundtable::debate::{DebateEntry, Quote, Spent, SynthesisReport};
use schemars::JsonSchema;
use serde::Serialize;

use super::answer::Usage;
use super::ask::{Mode, Stands};
use crate::wire::dollars;

pub(crate) use consensus::{Consensus, Place, places};
pub(crate) use said::{
    Citations, Cited, Confidence, FullResponse, Responses, RoundDetail, Thoughts,
};

/// A debate in a list.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Debate {
    #[schemars(with = "String")]
    pub session_id: SessionId,
    pub topic: String,
    pub mode: Mode,
    pub status: Stands,
    /// Number of finished rounds.
    pub current_round: u32,
    pub total_rounds: Option<u32>,
    pub agents: Vec<String>,
    #[schemars(with = "String", extend("format" = "date-time"))]
    pub created_at: Timestamp,
}

impl Debate {
    pub fn of(entry: &DebateEntry) -> Self {
        let seats = entry.members.iter().filter(|member| member.seat.is_some());
        Self {
            session_id: entry.session.clone(),
            topic: entry.topic.clone(),
            mode: entry.mode.into(),
            status: entry.status.into(),
            current_round: entry.rounds_completed,
            total_rounds: entry.total_rounds,
            agents: seats.map(|member| member.name.clone()).collect(),
            created_at: entry.created_at,
        }
    }
}

/// Debates, newest first.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub(crate) struct DebateList {
    pub sessions: Vec<Debate>,
}

/// An agent of the configuration.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ConfiguredAgent {
    /// Agent id. Pass it in `agents` to start a debate with this agent.
    #[schemars(with = "String")]
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

/// Estimated maximum cost: one model call per turn and replies of maximum length. Tool calls are
/// extra.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct QuoteAnswer {
    /// Model calls.
    pub calls: u64,
    /// Input tokens.
    pub input_tokens: u64,
    /// Output tokens.
    pub output_tokens: u64,
    /// Cost in dollars. Null if a price is unknown.
    pub cost: Option<f64>,
}

impl QuoteAnswer {
    pub fn of(quote: Quote) -> Self {
        Self {
            calls: quote.calls,
            input_tokens: quote.input,
            output_tokens: quote.output,
            cost: quote.cost.map(dollars),
        }
    }
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
    #[schemars(with = "String")]
    pub session_id: SessionId,
    pub status: Progress,
    /// What to do next, while it is running.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_step: Option<String>,
    /// The synthesis, once it is complete.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub synthesis: Option<Synthesis>,
}

impl SynthesisAnswer {
    pub fn completed(session: &SessionId, summed: SynthesisReport) -> Self {
        let synthesis = Some(Synthesis::of(summed));
        Self {
            session_id: session.clone(),
            status: Progress::Completed,
            next_step: None,
            synthesis,
        }
    }

    /// The synthesis continues and is stored; a later request returns it.
    pub fn running(session: &SessionId) -> Self {
        let next = "The synthesis is still being written. Send the same request again to get it. It is written and charged only once.";
        let next_step = Some(next.to_owned());
        Self { session_id: session.clone(), status: Progress::Running, next_step, synthesis: None }
    }
}

/// Synthesis of a debate.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Synthesis {
    /// Last round that the synthesis covers.
    pub round_number: u32,
    /// Id of the agent that wrote it.
    #[schemars(with = "String")]
    pub synthesizer: AgentId,
    pub common_ground: Vec<String>,
    pub key_differences: Vec<String>,
    pub evolution_summary: String,
    pub conclusion: String,
    pub recommendation: String,
    pub confidence: Option<f64>,
    pub usage: Usage,
}

impl Synthesis {
    fn of(summed: SynthesisReport) -> Self {
        let synthesis = summed.synthesis;
        Self {
            round_number: summed.number,
            synthesizer: summed.agent,
            common_ground: synthesis.common_ground,
            key_differences: synthesis.key_differences,
            evolution_summary: synthesis.evolution_summary,
            conclusion: synthesis.conclusion,
            recommendation: synthesis.recommendation,
            confidence: synthesis.confidence,
            usage: Usage::of(summed.spent),
        }
    }
}

/// Status of a debate after a control action.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Controlled {
    #[schemars(with = "String")]
    pub session_id: SessionId,
    pub status: Stands,
    /// Number of finished rounds.
    pub current_round: u32,
    pub usage: Usage,
}

impl Controlled {
    pub fn new(session: &SessionId, status: Stands, current_round: u32, spent: Spent) -> Self {
        Self { session_id: session.clone(), status, current_round, usage: Usage::of(spent) }
    }
}
