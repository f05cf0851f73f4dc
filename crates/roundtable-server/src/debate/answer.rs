//! What a round came to, as callers read it.

mod decision;
mod response;

use roundtable::core::id::{AgentId, IterationId, SessionId};
use roundtable::debate::{Findings, Standing};
use schemars::JsonSchema;
use serde::Serialize;

use super::ask::Mode;
use super::consent::Caller;
use super::detail::{Place, places};
use crate::host::HostTurn;
use crate::wire::ContextRequest;
pub(crate) use crate::wire::Usage;

use decision::{Decision, Evidence, Exit, Metadata, decision, evidence, exit, metadata};
pub(crate) use decision::{Level, Side};
pub(crate) use response::{AgentResponse, Stance};

/// How a debate stands after a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Status {
    /// The round is over and another may follow: call continue_roundtable.
    InProgress,
    /// contextRequests are pending. Only required ones hold the next round back. Without a decision
    /// the round is still open, and waits for a decision on a tool call.
    NeedsContext,
    /// The debate is over.
    Completed,
    /// The round is still under way: ask again with afterRound.
    Running,
    /// Nobody could answer.
    Failed,
    /// An agent speaks through your own model: answer turn.prompt and bring it in.
    NeedsTurn,
}

impl From<Standing> for Status {
    fn from(standing: Standing) -> Self {
        match standing {
            Standing::Running => Self::Running,
            Standing::InProgress => Self::InProgress,
            Standing::NeedsContext => Self::NeedsContext,
            Standing::Completed => Self::Completed,
            Standing::Failed => Self::Failed,
        }
    }
}

/// A turn that waits for the caller's own model.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Turn {
    /// Name it when you bring the turn in.
    #[schemars(with = "String")]
    pub turn_token: IterationId,
    #[schemars(with = "String")]
    pub agent_id: AgentId,
    pub agent_name: String,
    /// All that the agent is told. Answer it as that agent, and not as yourself.
    pub prompt: String,
}

/// What a call for a round is answered with.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RoundAnswer {
    /// Name it in every further call about this debate.
    #[schemars(with = "String")]
    pub session_id: SessionId,
    pub topic: String,
    pub mode: Mode,
    /// The round that this is about.
    pub round_number: u32,
    /// How many rounds there will be at most.
    pub total_rounds: Option<u32>,
    /// How many rounds are over.
    pub current_round: u32,
    pub status: Status,
    /// What to do now.
    pub next_step: String,
    /// What the round comes to; not while it is under way.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decision: Option<Decision>,
    /// Who is speaking, while the round is under way.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(default)]
    pub speaking: Vec<String>,
    pub agent_responses: Vec<AgentResponse>,
    pub evidence: Evidence,
    pub metadata: Metadata,
    /// How the members of a council ranked the answers, best first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(default)]
    pub ranking: Vec<Place>,
    /// What agents ask for. Required requests have to be answered with contextResults before the next
    /// round.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(default)]
    pub context_requests: Vec<ContextRequest>,
    /// Why the debate ended before its last round.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exit: Option<Exit>,
    /// The turn that waits for you, while status is needs_turn.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub turn: Option<Turn>,
    pub usage: Usage,
    /// What was accepted and not used.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(default)]
    pub warnings: Vec<String>,
}

impl RoundAnswer {
    pub fn of(
        findings: &Findings,
        caller: Caller,
        turn: Option<HostTurn>,
        warnings: Vec<String>,
    ) -> Self {
        let turn = turn.filter(|_| findings.open);
        let status = match &turn {
            Some(_) => Status::NeedsTurn,
            None => findings.standing.into(),
        };
        Self {
            session_id: findings.session.clone(),
            topic: findings.topic.clone(),
            mode: findings.mode.into(),
            round_number: findings.number,
            total_rounds: findings.total_rounds,
            current_round: findings.rounds_completed,
            status,
            next_step: caller.next_step(findings, status),
            decision: (!findings.open).then(|| decision(findings)),
            speaking: speaking(findings),
            agent_responses: findings.responses.iter().map(AgentResponse::of).collect(),
            evidence: evidence(findings),
            metadata: metadata(findings),
            ranking: findings.judgement.ranking.clone().map(places).unwrap_or_default(),
            context_requests: findings.requests.iter().map(ContextRequest::of).collect(),
            exit: findings.exit.filter(|_| status == Status::Completed).map(exit),
            turn: turn.map(|turn| Turn {
                turn_token: turn.token,
                agent_id: turn.agent,
                agent_name: turn.agent_name,
                prompt: turn.prompt,
            }),
            usage: Usage::of(findings.total_spent),
            warnings,
        }
    }
}

/// The names of those who speak.
pub(crate) fn speaking(findings: &Findings) -> Vec<String> {
    let name = |agent: &AgentId| {
        let known = findings.responses.iter().find(|response| response.agent == *agent);
        known.map_or_else(|| agent.suffix().to_owned(), |response| response.name.clone())
    };
    findings.speaking.iter().map(name).collect()
}
