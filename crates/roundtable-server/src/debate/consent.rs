//! Who decides on tool calls, and how a caller is told to go on while one waits.

use roundtable::core::context_request::{ContextRequest, ContextResult, RequestKind};
use roundtable::core::id::SessionId;
use roundtable::core::session::Session;
use roundtable::debate::Findings;

use crate::app::{App, Approvals};
use crate::problem::Problem;

/// How a call came, and whether whoever made it may decide on tool calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Caller {
    /// Over HTTP: a program or a page that acts for a person.
    Http,
    /// A model over MCP, where the operator lets it decide.
    Model,
    /// A model over MCP that has to leave decisions to a person.
    ModelForPerson,
}

impl Caller {
    /// A model that calls over MCP.
    pub fn mcp(app: &App) -> Self {
        match app.approvals {
            Approvals::Caller => Self::Model,
            Approvals::Person => Self::ModelForPerson,
        }
    }

    /// Refuses decisions that are not this caller's to make.
    pub fn check(self, state: &Session, results: &[ContextResult]) -> Result<(), Problem> {
        if self != Self::ModelForPerson {
            return Ok(());
        }
        let answered =
            |request: &&ContextRequest| results.iter().any(|result| result.request == request.id);
        let Some(request) = state.requests.iter().filter(|it| is_decision(it)).find(answered)
        else {
            return Ok(());
        };
        let what = format!(
            "Request {} has to be decided by a person; nothing was recorded. {}",
            request.id,
            ways(&state.id)
        );
        Err(Problem::new(http::StatusCode::FORBIDDEN, "person_required", what))
    }

    /// What to do while requests are pending.
    pub fn next_step(self, findings: &Findings) -> String {
        let (session, number) = (&findings.session, findings.number);
        let before = number.saturating_sub(1);
        let decisions = findings.requests.iter().any(is_decision);
        let questions = findings.requests.iter().any(|request| !is_decision(request));
        let after = if findings.open { before } else { number };
        let go_on = match self {
            Self::Http => {
                format!("send POST /api/debates/{session}/continue with afterRound {after}")
            }
            Self::Model | Self::ModelForPerson => {
                format!("call continue_roundtable with sessionId {session} and afterRound {after}")
            }
        };
        let mut steps = Vec::new();
        if decisions {
            steps.push(match self {
                Self::ModelForPerson => format!(
                    "A person has to decide on the tool calls in contextRequests; you cannot. {} Then {go_on}.",
                    ways(session)
                ),
                Self::Http | Self::Model => format!(
                    "Decide on the tool calls in contextRequests: {go_on} and one contextResults entry per request, {{requestId, decision}}. decision is approve or deny for an approval; happened, did_not_happen or unknown for an unknown outcome."
                ),
            });
        }
        if questions && !findings.open {
            let required = findings.requests.iter().any(|it| {
                !is_decision(it)
                    && it.priority == roundtable::core::context_request::Priority::Required
            });
            steps.push(if required {
                format!(
                    "Find out what contextRequests ask for (web search, files, the user), then {go_on} and one contextResults entry per request."
                )
            } else {
                format!(
                    "The questions in contextRequests are optional: {go_on}, with contextResults for those that you can answer, or without."
                )
            });
        }
        steps.join(" ")
    }
}

/// Whether a request is a decision on a tool call.
pub(crate) fn is_decision(request: &ContextRequest) -> bool {
    request.kind() != RequestKind::Question
}

/// The ways by which a person can decide.
fn ways(session: &SessionId) -> String {
    format!(
        "Ask the user to run `roundtable continue {session}` in a terminal, or to send POST /api/sessions/{session}/context-results to `roundtable serve` with {{\"contextResults\": [{{\"requestId\": …, \"decision\": …}}]}}."
    )
}
