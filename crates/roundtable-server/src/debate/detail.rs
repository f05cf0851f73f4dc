//! What there is to read of a debate.

use jiff::Timestamp;
use roundtable::core::id::{AgentId, SessionId};
use roundtable::debate::{
    Added as CoreAdded, DebateEntry, Judgement, Response, Source, Spent, Summed, Vote as CoreVote,
};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::answer::{AgentResponse, Level, Stance, Usage};
use super::ask::{Format, Mode, Stands};
use crate::wire::ContextRequest;

/// A debate in a list.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Debate {
    #[schemars(with = "String")]
    pub session_id: SessionId,
    pub topic: String,
    pub mode: Mode,
    pub status: Stands,
    /// How many rounds are over.
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
    /// Name it in `agents` of start_roundtable.
    #[schemars(with = "String")]
    pub agent_id: AgentId,
    pub name: String,
    pub provider: String,
    pub model: String,
    /// Whether everything is there to ask its model.
    pub active: bool,
}

/// The agents of the configuration, and what speaks for those that are made when none is named.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub(crate) struct ConfiguredAgents {
    pub agents: Vec<ConfiguredAgent>,
    /// The models that agents are spread over when none are named.
    pub models: Vec<String>,
}

/// Agents who hold one view.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub(crate) struct Cluster {
    #[schemars(with = "Vec<String>")]
    pub agents: Vec<AgentId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub view: Option<String>,
}

/// Something that agents disagree on.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub(crate) struct Disagreement {
    pub issue: String,
    pub views: Vec<super::answer::Side>,
}

/// The measure without a model: it sees what positions are about, and not a negation in them.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub(crate) struct Measured {
    /// What made the vectors.
    pub by: String,
    pub agreement: f64,
    pub clusters: Vec<Cluster>,
    /// How far each moved since the round before, from 0 to 1.
    pub drift: Vec<Drift>,
}

/// How far an agent moved.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Drift {
    #[schemars(with = "String")]
    pub agent_id: AgentId,
    pub change: f64,
}

/// How far the panel agreed in a round.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Consensus {
    #[schemars(with = "String")]
    pub session_id: SessionId,
    pub round_number: u32,
    pub consensus_level: Level,
    /// The figure that counts: the analyst's, else the measured one.
    pub agreement: f64,
    /// In a few sentences.
    pub summary: String,
    pub clusters: Vec<Cluster>,
    pub common_ground: Vec<String>,
    pub disagreements: Vec<Disagreement>,
    pub partial_agreements: Vec<String>,
    pub conditions: Vec<String>,
    pub uncertainties: Vec<String>,
    /// Why the agreement may be worth less than it looks.
    pub groupthink_warning: Option<String>,
    /// The verdict of a council's chair.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verdict: Option<String>,
    /// The measure without a model.
    pub measured: Option<Measured>,
    /// Why no model judged, if none did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub analysis_error: Option<String>,
    /// What the debate added to its first round, once there is a second one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub added: Option<Added>,
}

impl Consensus {
    pub fn of(session: &SessionId, judgement: Judgement, added: Option<CoreAdded>) -> Self {
        let consensus = judgement.consensus.unwrap_or_default();
        let measure = judgement.measure;
        let told = consensus.clusters.into_iter();
        let told = told.map(|cluster| Cluster { agents: cluster.agents, view: Some(cluster.view) });
        let clusters: Vec<Cluster> = told.collect();
        let measured = measure.map(|measure| Measured {
            by: measure.by,
            agreement: measure.agreement,
            clusters: measure
                .clusters
                .into_iter()
                .map(|agents| Cluster { agents, view: None })
                .collect(),
            drift: measure
                .drift
                .into_iter()
                .map(|it| Drift { agent_id: it.agent, change: it.change })
                .collect(),
        });
        let usual =
            || measured.as_ref().map(|measured| measured.clusters.clone()).unwrap_or_default();
        let disagreement = |it: roundtable::debate::Disagreement| Disagreement {
            issue: it.issue,
            views: it.views.into_iter().map(side).collect(),
        };
        Self {
            session_id: session.clone(),
            round_number: judgement.number,
            consensus_level: roundtable::debate::Level::of(judgement.agreement).into(),
            agreement: judgement.agreement,
            summary: judgement.summary,
            clusters: if clusters.is_empty() { usual() } else { clusters },
            common_ground: consensus.common_ground,
            disagreements: consensus.disagreements.into_iter().map(disagreement).collect(),
            partial_agreements: consensus.partial_agreements,
            conditions: consensus.conditions,
            uncertainties: consensus.uncertainties,
            groupthink_warning: judgement.groupthink,
            verdict: judgement.verdict.map(|verdict| verdict.position),
            measured,
            analysis_error: judgement.failure,
            added: added.map(Added::of),
        }
    }
}

fn side(view: roundtable::debate::View) -> super::answer::Side {
    super::answer::Side { agent_id: view.agent, view: view.view }
}

/// How many take which side.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct Vote {
    pub yes: u32,
    pub no: u32,
    pub neutral: u32,
    /// Without a side.
    pub open: u32,
}

impl From<CoreVote> for Vote {
    fn from(vote: CoreVote) -> Self {
        Self { yes: vote.yes, no: vote.no, neutral: vote.neutral, open: vote.open }
    }
}

/// An agent that changed its position.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Changed {
    #[schemars(with = "String")]
    pub agent_id: AgentId,
    pub before: String,
    pub after: String,
}

/// What the debate added: the vote before any exchange against the last one, and what that took.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Added {
    pub first_vote: Vote,
    pub last_vote: Vote,
    pub agreement_before: f64,
    pub agreement_after: f64,
    pub changed: Vec<Changed>,
    /// What all rounds after the first took.
    pub usage: Usage,
}

impl Added {
    fn of(added: CoreAdded) -> Self {
        let changed = added.changed.into_iter().map(|changed| Changed {
            agent_id: changed.agent,
            before: changed.before.position,
            after: changed.after.position,
        });
        Self {
            first_vote: added.first.into(),
            last_vote: added.last.into(),
            agreement_before: added.agreement_before,
            agreement_after: added.agreement_after,
            changed: changed.collect(),
            usage: Usage::of(added.spent),
        }
    }
}

/// Everything that an agent said in a round.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct FullResponse {
    pub round_number: u32,
    #[serde(flatten)]
    pub response: AgentResponse,
    /// Why it holds what it holds.
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

/// A source.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub(crate) struct Citation {
    pub url: Option<String>,
    pub title: Option<String>,
    pub quote: Option<String>,
}

/// What an agent said over the rounds.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Thoughts {
    #[schemars(with = "String")]
    pub session_id: SessionId,
    #[schemars(with = "String")]
    pub agent_id: AgentId,
    pub responses: Vec<FullResponse>,
    /// How sure it was, round by round.
    pub confidence_over_rounds: Vec<Confidence>,
}

/// How sure an agent was in a round.
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

/// A round: what everyone said, and how far they agree.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RoundDetail {
    #[schemars(with = "String")]
    pub session_id: SessionId,
    pub round_number: u32,
    pub status: super::answer::Status,
    /// What was put to the panel besides the topic.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub focus_question: Option<String>,
    pub responses: Vec<FullResponse>,
    pub consensus: Option<Consensus>,
    pub context_requests: Vec<ContextRequest>,
}

/// A source of a debate.
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

/// The sources of a debate, each once.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Citations {
    #[schemars(with = "String")]
    pub session_id: SessionId,
    pub total: usize,
    pub citations: Vec<Cited>,
}

/// A debate summed up.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Synthesis {
    #[schemars(with = "String")]
    pub session_id: SessionId,
    /// The last round that it covers.
    pub round_number: u32,
    /// Who summed up.
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
    pub fn of(session: &SessionId, summed: Summed) -> Self {
        let synthesis = summed.synthesis;
        Self {
            session_id: session.clone(),
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

/// A debate written out.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Exported {
    #[schemars(with = "String")]
    pub session_id: SessionId,
    pub format: Format,
    /// Markdown text, or an object.
    pub content: Value,
}

/// How a debate stands after it was told something.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Controlled {
    #[schemars(with = "String")]
    pub session_id: SessionId,
    pub status: Stands,
    /// How many rounds are over.
    pub current_round: u32,
    pub usage: Usage,
}

impl Controlled {
    pub fn new(session: &SessionId, status: Stands, current_round: u32, spent: Spent) -> Self {
        Self { session_id: session.clone(), status, current_round, usage: Usage::of(spent) }
    }
}
