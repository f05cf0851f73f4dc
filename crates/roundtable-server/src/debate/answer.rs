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

/// Status of a debate after a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Status {
    /// The round is over. Another round can follow.
    InProgress,
    /// contextRequests are pending. Only required ones block the next round. If there is no
    /// decision, the round is open and waits for a decision on a tool call.
    NeedsContext,
    /// The debate is over.
    Completed,
    /// The round is still running. Ask again with afterRound.
    Running,
    /// No agent could answer.
    Failed,
    /// An agent uses your own model. Answer turn.prompt and send the answer as contribution.
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

/// A turn that the caller's own model has to answer.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Turn {
    /// Send it together with contribution.
    #[schemars(with = "String")]
    pub turn_token: IterationId,
    #[schemars(with = "String")]
    pub agent_id: AgentId,
    pub agent_name: String,
    /// The complete prompt of the agent. Answer it as that agent, not as yourself.
    pub prompt: String,
}

/// The answer to a request for a round.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RoundAnswer {
    /// Session id. Send it in every further call about this debate.
    #[schemars(with = "String")]
    pub session_id: SessionId,
    pub topic: String,
    pub mode: Mode,
    /// Number of the round in this answer.
    pub round_number: u32,
    /// Maximum number of rounds.
    pub total_rounds: Option<u32>,
    /// Number of finished rounds.
    pub current_round: u32,
    pub status: Status,
    /// What to do next.
    pub next_step: String,
    /// Result of the round. Absent while the round is running.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decision: Option<Decision>,
    /// Names of the agents that are answering now.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(default)]
    pub speaking: Vec<String>,
    pub agent_responses: Vec<AgentResponse>,
    pub evidence: Evidence,
    pub metadata: Metadata,
    /// Ranking of the answers by the members of a council, best first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(default)]
    pub ranking: Vec<Place>,
    /// Requests of agents. Answer the required ones with contextResults before the next round.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(default)]
    pub context_requests: Vec<ContextRequest>,
    /// Why the debate ended early.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exit: Option<Exit>,
    /// The turn that your model has to answer, if status is needs_turn.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub turn: Option<Turn>,
    pub usage: Usage,
    /// Parts of the request that had no effect.
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
