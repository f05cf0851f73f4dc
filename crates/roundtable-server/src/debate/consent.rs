//! Who decides on tool calls.

use roundtable::core::context_request::{ContextRequest, ContextResult, RequestKind};
use roundtable::core::id::SessionId;
use roundtable::core::session::Session;

use crate::app::{App, Approvals};
use crate::problem::Problem;

/// How a call came, and whether whoever made it may decide on tool calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Caller {
    /// Over HTTP: a program or a page that acts for a person.
    Http,
    /// The same over a WebSocket.
    WebSocket,
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
            "Request {} must be decided by a person; nothing was recorded. {}",
            request.id,
            ways(&state.id)
        );
        Err(Problem::new(http::StatusCode::FORBIDDEN, "person_required", what))
    }
}

/// Whether a request is a decision on a tool call.
pub(super) fn is_decision(request: &ContextRequest) -> bool {
    request.kind() != RequestKind::Question
}

/// The ways by which a person can decide.
pub(super) fn ways(session: &SessionId) -> String {
    format!(
        "Ask the user to run `roundtable continue {session}` in a terminal, or to send POST /api/sessions/{session}/context-results to `roundtable serve` with {{\"contextResults\": [{{\"requestId\": …, \"decision\": …}}]}}."
    )
}
