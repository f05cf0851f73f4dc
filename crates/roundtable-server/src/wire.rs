//! Sessions as HTTP and MCP spell them.

use jiff::Timestamp;
use roundtable::core::context_request as core;
use roundtable::core::document::{self, Usage};
use roundtable::core::event::Seq;
use roundtable::core::id::{AgentId, ContextRequestId, SessionId, TurnId};
use roundtable::core::projection::COMPLETION;
use roundtable::core::session::{Session, Status};
use roundtable::core::stage::Name;
use roundtable::core::turn as core_turn;
use roundtable::ports::SessionListing;
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

/// A session in a list.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SessionSummary {
    /// Session id.
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
    pub created_at: Timestamp,
    /// Time of the last event.
    pub updated_at: Timestamp,
    /// Why the session was parked: it crashed repeatedly. Continue it to try again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parked: Option<String>,
}

impl SessionSummary {
    pub fn of(listed: &SessionListing) -> Self {
        Self {
            session_id: listed.session.clone(),
            kind: listed.summary.kind.clone(),
            topic: listed.summary.topic.clone(),
            status: listed.summary.status,
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
    pub agent_ids: Vec<AgentId>,
    /// Agents in seat order.
    pub agents: Vec<AgentSummary>,
    /// Pending context requests. Required ones block the next round.
    #[serde(serialize_with = "document::context_requests")]
    #[schemars(with = "Vec<document::ContextRequest>")]
    pub pending_context_requests: Vec<core::ContextRequest>,
    pub usage: Usage,
}

impl SessionDetail {
    pub fn of(listed: &SessionListing, state: &Session) -> Self {
        let agent = |agent: &roundtable::core::agent::Agent| AgentSummary {
            agent_id: agent.id.clone(),
            name: agent.name.clone(),
            model: agent.model.clone(),
        };
        Self {
            summary: SessionSummary {
                topic: state.title().to_owned(),
                status: state.status,
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
            pending_context_requests: state.requests.clone(),
            usage: (&state.account).into(),
        }
    }
}

/// An agent of a session.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct AgentSummary {
    pub agent_id: AgentId,
    pub name: String,
    /// Model of the agent.
    pub model: String,
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
    pub decision: Option<core::Decision>,
    /// The result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 200000))]
    pub result: Option<String>,
    /// Why the request was not fulfilled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 20000))]
    pub error: Option<String>,
}

impl ContextResult {
    /// A decision without further words.
    pub fn decided(request: &ContextRequestId, decision: core::Decision) -> Self {
        let request_id = request.to_string();
        Self { request_id, success: None, decision: Some(decision), result: None, error: None }
    }
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
    pub started_at: Timestamp,
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
