//! What went wrong, as callers read it: `{"error": …, "reason": …}`, and what to do.

use std::time::Duration;

use axum::Json;
use axum::response::{IntoResponse, Response};
use http::header::{RETRY_AFTER, WWW_AUTHENTICATE};
use http::{HeaderValue, StatusCode};
use roundtable::Error;
use roundtable::core::context_request::ContextRequest as Request;
use roundtable::core::document::ContextRequest;
use roundtable::core::{Reject, required_context};
use roundtable::driver::EngineError;
use roundtable::ports::{LeaseError, LogError};
use roundtable::search::SearchError;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::debate::Caller;

/// After how many seconds something that is busy is worth another try.
const SOON: HeaderValue = HeaderValue::from_static("1");

/// Body of every error response.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "Problem")]
pub(crate) struct ProblemBody {
    /// Error message for people.
    pub error: String,
    /// Error code for programs.
    pub reason: String,
    /// Details for programs.
    #[serde(flatten)]
    pub more: Map<String, Value>,
}

/// What went wrong.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Problem {
    pub status: StatusCode,
    pub body: Box<ProblemBody>,
    /// After how many seconds another try makes sense, where that is known.
    pub retry_after: Option<u64>,
    /// Required context requests without an answer. Each transport has its own way to answer them.
    missing: Box<[Request]>,
}

impl Problem {
    pub fn new(status: StatusCode, reason: &str, error: impl Into<String>) -> Self {
        let (error, reason) = (error.into(), reason.to_owned());
        let body = Box::new(ProblemBody { error, reason, more: Map::new() });
        Self { status, body, retry_after: None, missing: Box::default() }
    }

    pub fn bad_request(reason: &str, error: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, reason, error)
    }

    /// An unknown resource.
    pub fn not_found(error: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, "not_found", error)
    }

    /// An unknown session, a session of another caller, or an invalid id.
    pub fn no_session(session: &str) -> Self {
        let shown: String = session.chars().filter(|c| !c.is_control()).take(64).collect();
        let what = format!("session {shown} was not found; list the sessions to find its id");
        Self::not_found(what)
    }

    /// A store that fails. Its own message may name files of the server, so callers do not receive
    /// it.
    fn unavailable() -> Self {
        let what = "The store is unavailable. Retry; if the error persists, ask the operator of \
                    the server to check the store";
        Self::new(StatusCode::SERVICE_UNAVAILABLE, "unavailable", what)
    }

    /// A session that crashed repeatedly. No process continues it by itself.
    pub fn parked(reason: &str) -> Self {
        let what = format!(
            "The session is parked: {reason}. Continue it to retry; if it is parked again, ask \
             the operator of the server"
        );
        Self::new(StatusCode::CONFLICT, "parked", what).with("parked", reason)
    }

    /// Something that the store has not taken in time. It may still be stored.
    pub fn not_stored(waited: Duration) -> Self {
        let what = format!(
            "The store has not confirmed the request within {} s; another process may hold the \
             write lock. The request may still be stored. Retry with the same idempotency key or \
             the same afterRound",
            waited.as_secs()
        );
        Self::new(StatusCode::SERVICE_UNAVAILABLE, "store_busy", what)
    }

    /// The same with a detail for programs.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.body.more.insert(name.to_owned(), value.into());
        self
    }

    /// The same in the words of the transport that the caller uses.
    #[must_use]
    pub fn for_caller(mut self, caller: Caller) -> Self {
        if !self.missing.is_empty() {
            self.body.error = required_context(&self.missing, caller.answering());
        }
        self
    }
}

impl Problem {
    /// The same with the time after which another try makes sense.
    #[must_use]
    pub fn retry_after(mut self, seconds: u64) -> Self {
        self.retry_after = Some(seconds);
        self
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let mut response = (self.status, Json(&self.body)).into_response();
        match self.status {
            StatusCode::UNAUTHORIZED => {
                response.headers_mut().insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
            }
            StatusCode::SERVICE_UNAVAILABLE | StatusCode::TOO_MANY_REQUESTS => {
                let after = self.retry_after.map_or(SOON, HeaderValue::from);
                response.headers_mut().insert(RETRY_AFTER, after);
            }
            _ => {}
        }
        // Some routes have a format of their own for problems.
        response.extensions_mut().insert(self);
        response
    }
}

impl From<Error> for Problem {
    fn from(error: Error) -> Self {
        match error {
            Error::Engine(error) => error.into(),
            Error::Id(error) => Self::bad_request("invalid", error.to_string()),
            Error::Delete(error) => Self::new(StatusCode::CONFLICT, "conflict", error.to_string()),
            Error::Import(error) => Self::bad_request("invalid", error.to_string()),
            error @ (Error::Model(_) | Error::Image(_) | Error::File(_) | Error::Json(_)) => {
                Self::bad_request("invalid", error.to_string())
            }
            Error::Search(error) => error.into(),
            // It names files of the server.
            Error::Open(_) => Self::new(
                StatusCode::INTERNAL_SERVER_ERROR,
                "internal",
                "The server cannot use its data directory. Ask the operator of the server to check it",
            ),
            _ => Self::new(
                StatusCode::INTERNAL_SERVER_ERROR,
                "internal",
                "Internal error. Ask the operator of the server to check its log",
            ),
        }
    }
}

impl From<SearchError> for Problem {
    fn from(error: SearchError) -> Self {
        let text = error.to_string();
        match error {
            SearchError::Query(_) => Self::bad_request("invalid", text),
            SearchError::Cursor => Self::bad_request("unknown_cursor", text),
            SearchError::NoEmbedder => {
                let what = format!(
                    "{text}. Search with mode text, or ask the operator of the server to run \
                     `roundtable models fetch`"
                );
                Self::new(StatusCode::CONFLICT, "no_embedder", what)
            }
            // Its own words may name files of the server.
            SearchError::Unavailable(_) => {
                let what = "Semantic search is unavailable. Try again, or search with mode text";
                Self::new(StatusCode::SERVICE_UNAVAILABLE, "embedder_unavailable", what)
            }
        }
    }
}

impl From<EngineError> for Problem {
    fn from(error: EngineError) -> Self {
        let text = error.to_string();
        let of = |status, reason| Self::new(status, reason, text.clone());
        match error {
            EngineError::Reject(reject) => reject.into(),
            EngineError::CommandReused { .. } => {
                of(StatusCode::UNPROCESSABLE_ENTITY, "idempotency_key_reused")
            }
            EngineError::BeyondEnd { head, .. } => {
                of(StatusCode::CONFLICT, "beyond_end").with("head", head.0)
            }
            EngineError::MissingDependency { .. } => of(StatusCode::CONFLICT, "cannot_play"),
            EngineError::Stopping => of(StatusCode::SERVICE_UNAVAILABLE, "stopping"),
            EngineError::Lease(LeaseError::Held { .. } | LeaseError::Suspect) => {
                of(StatusCode::SERVICE_UNAVAILABLE, "unavailable")
            }
            EngineError::Lease(LeaseError::Parked { reason }) => Self::parked(&reason),
            EngineError::Forked { .. } => of(StatusCode::CONFLICT, "forked"),
            EngineError::Crashed => of(StatusCode::INTERNAL_SERVER_ERROR, "crashed"),
            EngineError::Lease(LeaseError::Unavailable(_)) => Self::unavailable(),
            EngineError::Log(LogError::Damaged { .. }) => {
                of(StatusCode::INTERNAL_SERVER_ERROR, "damaged")
            }
            EngineError::Log(LogError::Unstorable { .. }) => of(StatusCode::BAD_REQUEST, "invalid"),
            EngineError::Log(LogError::Unavailable(_)) => Self::unavailable(),
            EngineError::Log(LogError::Busy) => of(StatusCode::SERVICE_UNAVAILABLE, "store_busy"),
            EngineError::Log(LogError::Full) => of(StatusCode::SERVICE_UNAVAILABLE, "store_full"),
            EngineError::Log(
                LogError::Fenced { .. } | LogError::Conflict { .. } | LogError::Duplicate { .. },
            ) => of(StatusCode::SERVICE_UNAVAILABLE, "unavailable"),
            EngineError::UnknownModel { .. }
            | EngineError::UnknownTool { .. }
            | EngineError::WrongEffect { .. }
            | EngineError::BadSchema { .. }
            | EngineError::ToolTwice { .. } => {
                of(StatusCode::INTERNAL_SERVER_ERROR, "configuration")
            }
            _ => of(StatusCode::INTERNAL_SERVER_ERROR, "internal"),
        }
    }
}

impl From<Reject> for Problem {
    fn from(reject: Reject) -> Self {
        let text = reject.to_string();
        let of = |status, reason| Self::new(status, reason, text.clone());
        match reject {
            Reject::NotFound { session } => Self::no_session(session.as_str()),
            Reject::ContextRequired { missing } => {
                let listed: Vec<_> = missing.iter().map(ContextRequest::from).collect();
                let problem = of(StatusCode::CONFLICT, "context_required");
                Self { missing: missing.into(), ..problem.with("contextRequests", json!(listed)) }
            }
            Reject::NotActive { .. } => of(StatusCode::CONFLICT, "not_active"),
            Reject::Busy { round } => {
                let what = format!(
                    "Round {round} is still running. Fetch its result first, then send new input with \
                     the next round"
                );
                Self::new(StatusCode::CONFLICT, "busy", what).with("roundNumber", round)
            }
            Reject::Exists { .. } => of(StatusCode::CONFLICT, "exists"),
            Reject::Newer => of(StatusCode::CONFLICT, "newer"),
            Reject::Stale { .. } => of(StatusCode::CONFLICT, "stale"),
            Reject::QueueFull { .. } => of(StatusCode::TOO_MANY_REQUESTS, "queue_full"),
            Reject::UnknownAgent { .. } => {
                Self::not_found(format!("{text}; the session lists its agents"))
            }
            Reject::Invalid { .. } | Reject::BadId { .. } => of(StatusCode::BAD_REQUEST, "invalid"),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use roundtable::backend::OpenError;
    use roundtable::core::event::Seq;
    use roundtable::core::id::{CommandId, NodeId, SessionId};

    use super::*;

    const CANARY: &str = "/srv/canary/roundtable.db";

    #[test]
    fn store_errors_sent_to_callers_contain_no_paths() {
        let (text, path) = (|| CANARY.to_owned(), || PathBuf::from(CANARY));
        let session = SessionId::new("mine").unwrap();
        let logs = [
            LogError::Fenced { epoch: 1 },
            LogError::Conflict { head: Seq(1) },
            LogError::Duplicate { id: CommandId::new("c1").unwrap() },
            LogError::Unavailable(text()),
            LogError::Busy,
            LogError::Full,
            LogError::Damaged { session, seq: Seq(1), what: "event 1 is missing".to_owned() },
        ];
        let leases = [
            LeaseError::Held { node: NodeId::new("n1").unwrap() },
            LeaseError::Unavailable(text()),
        ];
        let opens = [
            OpenError::Missing { directory: path() },
            OpenError::Newer { file: path(), version: 9, newest: 1 },
            OpenError::Unusable { path: path(), why: text() },
        ];
        let errors = logs.into_iter().map(|error| Error::Engine(error.into()));
        let errors = errors.chain(leases.into_iter().map(|error| Error::Engine(error.into())));
        for error in errors.chain(opens.into_iter().map(Error::Open)) {
            let shown = error.to_string();
            let problem = Problem::from(error);
            let sent = serde_json::to_string(&problem.body).unwrap();
            assert!(!sent.contains("canary") && !sent.contains("/srv"), "{shown}: {sent}");
            assert!(problem.status.is_server_error(), "{shown}: {sent}");
        }
    }
}
