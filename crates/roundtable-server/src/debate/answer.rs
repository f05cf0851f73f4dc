//! What a round came to, as callers read it.

use roundtable::core::id::{AgentId, IterationId, SessionId};
use roundtable::core::message::Citation as CoreCitation;
use roundtable::debate::{
    Action as CoreAction, Exit as CoreExit, Findings, Response, Spent, Stance as CoreStance,
    Standing,
};
use schemars::JsonSchema;
use serde::Serialize;

use super::ask::Mode;
use crate::host::HostTurn;
use crate::wire::ContextRequest;

/// How a debate stands after a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Status {
    /// The round is over and another may follow: call continue_roundtable.
    InProgress,
    /// Required contextRequests have to be answered before the next round.
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

/// For, against, or neither.
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

/// How far the panel agrees, in a word: high from 0.7, medium from 0.4.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Level {
    High,
    Medium,
    Low,
}

impl From<roundtable::debate::Level> for Level {
    fn from(level: roundtable::debate::Level) -> Self {
        match level {
            roundtable::debate::Level::High => Self::High,
            roundtable::debate::Level::Medium => Self::Medium,
            roundtable::debate::Level::Low => Self::Low,
        }
    }
}

/// What to do with the result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Action {
    /// Act on it.
    Proceed,
    /// Check it first.
    Verify,
    /// Look at the answers themselves: get_response_detail.
    QueryDetail,
}

/// What to do with the result, and why.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub(crate) struct Recommendation {
    #[serde(rename = "type")]
    pub kind: Action,
    pub reason: String,
}

/// What the round comes to.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Decision {
    pub consensus_level: Level,
    /// From 0 (opposed) to 1 (of one mind).
    pub agreement_score: f64,
    pub action_recommendation: Recommendation,
}

/// What an agent came to in a round.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct AgentResponse {
    #[schemars(with = "String")]
    pub agent_id: AgentId,
    pub agent_name: String,
    /// What its seat is there for.
    pub role: String,
    /// For, against, or neither, where that was asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stance: Option<Stance>,
    /// Whether it took another side than its role has to.
    #[serde(skip_serializing_if = "is_false")]
    #[schemars(default)]
    pub off_stance: bool,
    pub position: String,
    pub key_points: Vec<String>,
    /// How sure it is, from 0 to 1, if it said so.
    pub confidence: Option<f64>,
    /// How much surer it is than in its last answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub confidence_change: Option<f64>,
    /// The sources that it named.
    pub evidence_used: Vec<String>,
    /// Why it did not answer, if it did not.
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
            role: response.role.to_owned(),
            stance: position.stance.map(Into::into),
            off_stance: response.off_stance,
            position: position.position.clone(),
            key_points: position.key_points.clone(),
            confidence: position.confidence,
            confidence_change: response.confidence_change,
            evidence_used: response.citations.iter().filter_map(named).collect(),
            error: response.failure().map(str::to_owned),
        }
    }
}

/// A source by the best name that it has.
pub(crate) fn named(citation: &CoreCitation) -> Option<String> {
    citation.url.clone().or_else(|| citation.title.clone())
}

/// Agents who hold opposite views on something.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub(crate) struct Conflict {
    pub issue: String,
    pub sides: Vec<Side>,
}

/// Who holds what.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Side {
    #[schemars(with = "String")]
    pub agent_id: AgentId,
    pub view: String,
}

/// What the result rests on.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Evidence {
    pub total_citations: usize,
    pub conflicts: Vec<Conflict>,
    pub consensus_summary: String,
}

/// Where there is more.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Metadata {
    /// A resource with everything that was said in the round.
    pub detail_reference: String,
    /// What to check before the result is relied on.
    pub verification_hints: Vec<String>,
    pub has_more_details: bool,
}

/// What the debate took so far.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub(crate) struct Usage {
    /// Model calls.
    pub calls: u64,
    /// Tokens, prompts and replies together.
    pub tokens: u64,
    /// Dollars; null where a price is not known.
    pub cost: Option<f64>,
}

impl Usage {
    pub fn of(spent: Spent) -> Self {
        #[expect(clippy::cast_precision_loss, reason = "dollars for people")]
        let cost = spent.cost.map(|cost| cost as f64 / 1e6);
        Self { calls: spent.calls, tokens: spent.tokens, cost }
    }
}

/// Why a debate ended before its last round.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub(crate) struct Exit {
    pub criterion: &'static str,
    pub reason: &'static str,
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
    /// What agents want to know. Required ones have to be answered with contextResults before the next
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
    /// What was accepted, but not understood.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(default)]
    pub warnings: Vec<String>,
}

impl RoundAnswer {
    pub fn of(findings: &Findings, turn: Option<HostTurn>, warnings: Vec<String>) -> Self {
        let running = findings.standing == Standing::Running;
        let turn = turn.filter(|_| running);
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
            next_step: next_step(findings, status),
            decision: (!running).then(|| decision(findings)),
            speaking: speaking(findings),
            agent_responses: findings.responses.iter().map(AgentResponse::of).collect(),
            evidence: evidence(findings),
            metadata: metadata(findings),
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

fn decision(findings: &Findings) -> Decision {
    let decision = &findings.decision;
    let kind = match decision.action {
        CoreAction::Proceed => Action::Proceed,
        CoreAction::Verify => Action::Verify,
        CoreAction::QueryDetail => Action::QueryDetail,
    };
    Decision {
        consensus_level: decision.level.into(),
        agreement_score: decision.agreement,
        action_recommendation: Recommendation { kind, reason: decision.reason.clone() },
    }
}

fn evidence(findings: &Findings) -> Evidence {
    let side =
        |(agent, view): &(AgentId, String)| Side { agent_id: agent.clone(), view: view.clone() };
    let conflicts = findings.conflicts.iter().map(|conflict| Conflict {
        issue: conflict.issue.clone(),
        sides: conflict.sides.iter().map(side).collect(),
    });
    Evidence {
        total_citations: findings.sources.len(),
        conflicts: conflicts.collect(),
        consensus_summary: findings.judgement.summary.clone(),
    }
}

fn metadata(findings: &Findings) -> Metadata {
    let failed = findings.responses.iter().filter_map(|response| {
        Some(format!("{} did not answer: {}", response.name, response.failure()?))
    });
    let astray = findings.responses.iter().filter(|response| response.off_stance);
    let astray =
        astray.map(|response| format!("{} took another side than its role has to", response.name));
    let hints = findings.judgement.groupthink.clone().into_iter().chain(failed).chain(astray);
    Metadata {
        detail_reference: format!(
            "roundtable://sessions/{}/rounds/{}",
            findings.session, findings.number
        ),
        verification_hints: hints.collect(),
        has_more_details: !findings.responses.is_empty(),
    }
}

fn exit(exit: CoreExit) -> Exit {
    let criterion = match exit {
        CoreExit::Agreement => "agreement",
        CoreExit::Convergence => "convergence",
        CoreExit::Confidence => "confidence",
    };
    Exit { criterion, reason: exit.reason() }
}

/// What whoever reads the answer should do now.
fn next_step(findings: &Findings, status: Status) -> String {
    let (session, number) = (&findings.session, findings.number);
    match status {
        Status::Running => format!(
            "The round is still running and goes on by itself. Call continue_roundtable with sessionId {session} and afterRound {} to get its result.",
            number.saturating_sub(1)
        ),
        Status::NeedsContext => format!(
            "Find out what contextRequests ask for (web search, files, the user), then call continue_roundtable with sessionId {session}, afterRound {number} and one contextResults entry per request."
        ),
        Status::InProgress => format!(
            "Call continue_roundtable with sessionId {session} and afterRound {number} for the next round, with a focusQuestion if something is open; or stop here and use the decision."
        ),
        Status::NeedsTurn => format!(
            "An agent speaks through your own model. Answer turn.prompt as that agent, then call continue_roundtable with sessionId {session}, turnToken and contribution."
        ),
        Status::Completed => {
            "The debate is over. Report the decision; synthesize_debate sums it up, export_session writes the minutes."
                .to_owned()
        }
        Status::Failed => format!(
            "No agent could answer; agentResponses say why. Mend that, then call continue_roundtable with sessionId {session} to try another round."
        ),
    }
}
