//! Sessions as HTTP and MCP spell them.

use jiff::Timestamp;
use roundtable::core::context_request as core;
use roundtable::core::event::Seq;
use roundtable::core::id::{AgentId, ContextRequestId, SessionId, TurnId};
use roundtable::core::projection::COMPLETION;
use roundtable::core::session::{Session, Status as CoreStatus};
use roundtable::core::stage::Name;
use roundtable::core::turn as core_turn;
use roundtable::debate::Spent;
use roundtable::ports::Listed;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::camel::object;
use crate::problem::Problem;

/// Kind of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Kind {
    Debate,
    Scene,
    Chat,
    Completion,
}

impl From<Kind> for Name {
    fn from(kind: Kind) -> Self {
        match kind {
            Kind::Debate => Self::constant("debate"),
            Kind::Scene => Self::constant("scene"),
            Kind::Chat => Self::constant("chat"),
            Kind::Completion => COMPLETION,
        }
    }
}

/// Status of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Status {
    Active,
    Paused,
    Completed,
}

impl From<CoreStatus> for Status {
    fn from(status: CoreStatus) -> Self {
        match status {
            CoreStatus::Active => Self::Active,
            CoreStatus::Paused => Self::Paused,
            CoreStatus::Completed => Self::Completed,
        }
    }
}

impl From<Status> for CoreStatus {
    fn from(status: Status) -> Self {
        match status {
            Status::Active => Self::Active,
            Status::Paused => Self::Paused,
            Status::Completed => Self::Completed,
        }
    }
}

/// A session in a list.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SessionSummary {
    /// Session id.
    #[schemars(with = "String")]
    pub session_id: SessionId,
    #[schemars(with = "Kind")]
    pub kind: Name,
    /// Topic or title.
    pub topic: String,
    pub status: Status,
    /// Whether the session is archived.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[schemars(default)]
    pub archived: bool,
    /// Number of finished rounds.
    pub rounds_completed: u32,
    /// Number of finished rounds: the same as `roundsCompleted`. The running round is `activeRound`
    /// of the session.
    pub current_round: u32,
    /// Number of events in the log.
    #[schemars(with = "u64")]
    pub events: Seq,
    /// Start time.
    #[schemars(with = "String", extend("format" = "date-time"))]
    pub created_at: Timestamp,
    /// Time of the last event.
    #[schemars(with = "String", extend("format" = "date-time"))]
    pub updated_at: Timestamp,
    /// Why the session was parked: it crashed repeatedly. Continue it to try again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parked: Option<String>,
}

impl SessionSummary {
    pub fn of(listed: &Listed) -> Self {
        Self {
            session_id: listed.session.clone(),
            kind: listed.summary.kind.clone(),
            topic: listed.summary.topic.clone(),
            status: listed.summary.status.into(),
            archived: listed.summary.archived,
            rounds_completed: listed.summary.rounds_completed,
            current_round: listed.summary.rounds_completed,
            events: listed.head,
            created_at: listed.created_at,
            updated_at: listed.updated_at,
            parked: listed.parked.clone(),
        }
    }
}

/// A session.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SessionDetail {
    #[serde(flatten)]
    pub summary: SessionSummary,
    /// Total number of rounds, if it is fixed.
    pub total_rounds: Option<u32>,
    /// The running round.
    pub active_round: Option<u32>,
    /// Agent ids in seat order.
    #[schemars(with = "Vec<String>")]
    pub agent_ids: Vec<AgentId>,
    /// Agents in seat order.
    pub agents: Vec<AgentSummary>,
    /// Pending context requests. Required ones block the next round.
    pub pending_context_requests: Vec<ContextRequest>,
    pub usage: Usage,
}

impl SessionDetail {
    pub fn of(listed: &Listed, state: &Session) -> Self {
        let agent = |agent: &roundtable::core::agent::Agent| AgentSummary {
            agent_id: agent.id.clone(),
            name: agent.name.clone(),
            model: agent.model.clone(),
        };
        Self {
            summary: SessionSummary {
                topic: state.title().to_owned(),
                status: state.status.into(),
                archived: state.archived,
                rounds_completed: state.rounds_completed,
                current_round: state.rounds_completed,
                events: state.head,
                ..SessionSummary::of(listed)
            },
            total_rounds: state.settings.total_rounds,
            active_round: state.round.as_ref().map(|round| round.number),
            agent_ids: state.agents.iter().map(|agent| agent.id.clone()).collect(),
            agents: state.agents.iter().map(agent).collect(),
            pending_context_requests: state.requests.iter().map(ContextRequest::of).collect(),
            usage: Usage::of(Spent::of(&state.account)),
        }
    }
}

/// An agent of a session.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct AgentSummary {
    #[schemars(with = "String")]
    pub agent_id: AgentId,
    pub name: String,
    /// Model of the agent.
    pub model: String,
}

/// Usage: model calls, tokens and cost.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub(crate) struct Usage {
    /// Requests to providers, including retries and failed requests.
    pub calls: u64,
    /// Tokens of prompts and replies.
    pub tokens: u64,
    /// Cost in dollars. Null if a price is unknown.
    pub cost: Option<f64>,
    /// Whether part of the usage is estimated because a provider did not report it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[schemars(default)]
    pub estimated: bool,
}

impl Usage {
    pub fn of(spent: Spent) -> Self {
        let Spent { calls, tokens, cost, estimated } = spent;
        Self { calls, tokens, cost: cost.map(dollars), estimated }
    }
}

/// Millionths of a dollar as dollars.
#[expect(clippy::cast_precision_loss, reason = "dollars for people")]
pub(crate) fn dollars(cost: u64) -> f64 {
    cost as f64 / 1e6
}

/// Priority of a context request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Priority {
    Required,
    Optional,
}

/// Kind of a context request. It determines the form of the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum RequestKind {
    /// A question. Answer with success and result, or error.
    Question,
    /// Approval of a tool call. Answer with the decision approve or deny.
    Approval,
    /// Outcome of a tool call that was interrupted. Answer with the decision happened,
    /// did_not_happen or unknown.
    UnknownOutcome,
}

/// The tool call to decide on.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RequestedCall {
    pub tool: String,
    /// All arguments. Absent only for an unknown outcome with more than 64 KiB of arguments.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub arguments: Option<Value>,
    /// SHA-256 digest of tool name and arguments.
    pub digest: String,
}

/// A context request of an agent.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ContextRequest {
    /// Request id. Send it in contextResults.
    #[schemars(with = "String")]
    pub id: ContextRequestId,
    pub kind: RequestKind,
    /// Id of the agent that asks.
    #[schemars(with = "String")]
    pub agent_id: AgentId,
    /// Name of the agent. Present for tool calls.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent_name: Option<String>,
    /// The tool call. Absent for questions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub call: Option<RequestedCall>,
    /// The question.
    pub query: String,
    /// Why the agent asks.
    pub reason: String,
    /// Required requests block the next round.
    pub priority: Priority,
    #[schemars(with = "String", extend("format" = "date-time"))]
    pub timestamp: Timestamp,
}

impl ContextRequest {
    pub fn of(request: &core::ContextRequest) -> Self {
        let call = request.about.call();
        Self {
            id: request.id.clone(),
            kind: match request.kind() {
                core::RequestKind::Question => RequestKind::Question,
                core::RequestKind::Approval => RequestKind::Approval,
                core::RequestKind::UnknownOutcome => RequestKind::UnknownOutcome,
            },
            agent_id: request.agent.clone(),
            agent_name: call.map(|call| call.agent_name.clone()),
            call: call.map(|call| RequestedCall {
                tool: call.tool.clone(),
                arguments: call.arguments.clone(),
                digest: call.digest.as_str().to_owned(),
            }),
            query: request.query.clone(),
            reason: request.reason.clone(),
            priority: match request.priority {
                core::Priority::Required => Priority::Required,
                core::Priority::Optional => Priority::Optional,
            },
            timestamp: request.at,
        }
    }
}

/// A decision on a tool call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Decision {
    Approve,
    Deny,
    Happened,
    DidNotHappen,
    Unknown,
}

impl From<Decision> for core::Decision {
    fn from(decision: Decision) -> Self {
        match decision {
            Decision::Approve => Self::Approve,
            Decision::Deny => Self::Deny,
            Decision::Happened => Self::Happened,
            Decision::DidNotHappen => Self::DidNotHappen,
            Decision::Unknown => Self::Unknown,
        }
    }
}

/// An answer to a context request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct ContextResult {
    /// Request id.
    #[schemars(length(max = 64))]
    pub request_id: String,
    /// Whether the request was fulfilled. Required for questions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub success: Option<bool>,
    /// Decision on a tool call: approve or deny for an approval; happened, did_not_happen or
    /// unknown for an unknown outcome.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decision: Option<Decision>,
    /// The result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 200000))]
    pub result: Option<String>,
    /// Why the request was not fulfilled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 20000))]
    pub error: Option<String>,
}

/// Answers for a session, and warnings about unknown requests.
pub(crate) struct Answers {
    pub results: Vec<core::ContextResult>,
    pub warnings: Vec<String>,
}

impl Answers {
    /// A text that is not an id was never issued as one: it is ignored with a warning.
    ///
    /// # Errors
    /// An answer that has neither success nor a decision.
    pub fn of(results: Vec<ContextResult>) -> Result<Self, Problem> {
        let (mut found, mut warnings) = (Vec::new(), Vec::new());
        for ContextResult { request_id, success, decision, result, error } in results {
            let shown =
                || -> String { request_id.chars().filter(|c| !c.is_control()).take(64).collect() };
            let decision = decision.map(core::Decision::from);
            let implied = || decision.map(|it| it != core::Decision::Deny);
            let Some(success) = success.or_else(implied) else {
                let what = format!(
                    "contextResults for {}: missing success; a question needs success, an approval or an unknown outcome needs decision",
                    shown()
                );
                return Err(Problem::bad_request("invalid", what));
            };
            match request_id.parse() {
                Ok(request) => {
                    found.push(core::ContextResult { request, success, result, error, decision });
                }
                Err(_) => {
                    let shown = shown();
                    warnings
                        .push(format!("unknown context request {shown}; its result was ignored"));
                }
            }
        }
        Ok(Self { results: found, warnings })
    }
}

/// Details of a turn.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Turn {
    #[schemars(with = "String")]
    pub turn_id: TurnId,
    /// Number of the running or last iteration.
    pub current_iteration: u32,
    pub iterations: Vec<Iteration>,
}

/// One model call with its tool calls.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Iteration {
    /// Number, from 1.
    pub number: u32,
    /// Messages in order.
    pub messages: Vec<Map<String, Value>>,
    /// Tool calls with results.
    pub tool_calls: Vec<Map<String, Value>>,
    #[schemars(with = "String", extend("format" = "date-time"))]
    pub started_at: Timestamp,
    #[schemars(with = "Option<String>", extend("format" = "date-time"))]
    pub completed_at: Option<Timestamp>,
    /// Model, latency, usage, cost and stop reason.
    pub metadata: Map<String, Value>,
}

impl Iteration {
    pub fn of(iteration: &core_turn::IterationRecord) -> Self {
        Self {
            number: iteration.number,
            messages: iteration.messages.iter().map(object).collect(),
            tool_calls: iteration.tool_calls.iter().map(object).collect(),
            started_at: iteration.started_at,
            completed_at: iteration.completed_at,
            metadata: object(&iteration.metadata()),
        }
    }
}
