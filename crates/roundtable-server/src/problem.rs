//! What went wrong, as callers read it: `{"error": …, "reason": …}`, and what to do.

use axum::Json;
use axum::response::{IntoResponse, Response};
use http::header::{RETRY_AFTER, WWW_AUTHENTICATE};
use http::{HeaderValue, StatusCode};
use roundtable::Error;
use roundtable::core::Reject;
use roundtable::driver::EngineError;
use roundtable::ports::LogError;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::wire::ContextRequest;

/// After how many seconds something that is busy is worth another try.
const SOON: HeaderValue = HeaderValue::from_static("1");

/// The body of every answer that is not what was asked for.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "Problem")]
pub(crate) struct ProblemBody {
    /// What went wrong and what to do, for people.
    pub error: String,
    /// The same in one word, for programs.
    pub reason: String,
    /// What a program needs to go on.
    #[serde(flatten)]
    pub more: Map<String, Value>,
}

/// What went wrong.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Problem {
    pub status: StatusCode,
    pub body: ProblemBody,
    /// After how many seconds another try makes sense, where that is known.
    pub retry_after: Option<u64>,
}

impl Problem {
    pub fn new(status: StatusCode, reason: &str, error: impl Into<String>) -> Self {
        let (error, reason) = (error.into(), reason.to_owned());
        let body = ProblemBody { error, reason, more: Map::new() };
        Self { status, body, retry_after: None }
    }

    pub fn bad_request(reason: &str, error: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, reason, error)
    }

    /// Something that is not there.
    pub fn not_found(error: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, "not_found", error)
    }

    /// A session that is not there, or not the caller's, or no id at all.
    pub fn no_session(session: &str) -> Self {
        let shown: String = session.chars().filter(|c| !c.is_control()).take(64).collect();
        let what =
            format!("session {shown} was not found; list the sessions to see which there are");
        Self::not_found(what)
    }

    /// The same with something that a program needs to go on.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.body.more.insert(name.to_owned(), value.into());
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
        response
    }
}

impl From<Error> for Problem {
    fn from(error: Error) -> Self {
        match error {
            Error::Engine(error) => error.into(),
            Error::Id(error) => Self::bad_request("invalid", error.to_string()),
            other => Self::new(StatusCode::INTERNAL_SERVER_ERROR, "internal", other.to_string()),
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
            EngineError::CannotPlay { .. } => of(StatusCode::CONFLICT, "cannot_play"),
            EngineError::Stopping => of(StatusCode::SERVICE_UNAVAILABLE, "stopping"),
            EngineError::Lease(_) => of(StatusCode::SERVICE_UNAVAILABLE, "unavailable"),
            EngineError::Log(LogError::Damaged { .. }) => {
                of(StatusCode::INTERNAL_SERVER_ERROR, "damaged")
            }
            EngineError::Log(_) => of(StatusCode::SERVICE_UNAVAILABLE, "unavailable"),
            EngineError::UnknownModel { .. }
            | EngineError::UnknownTool { .. }
            | EngineError::WrongEffect { .. }
            | EngineError::BadSchema { .. }
            | EngineError::ToolTwice { .. } => {
                of(StatusCode::INTERNAL_SERVER_ERROR, "configuration")
            }
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
                let missing: Vec<_> = missing.iter().map(ContextRequest::of).collect();
                of(StatusCode::CONFLICT, "context_required").with("contextRequests", json!(missing))
            }
            Reject::NotActive { .. } => of(StatusCode::CONFLICT, "not_active"),
            Reject::Busy { round } => {
                let what = format!(
                    "Round {round} is still running. Ask for its result without anything new to say, \
                     and say it to the next round"
                );
                Self::new(StatusCode::CONFLICT, "busy", what).with("roundNumber", round)
            }
            Reject::Exists { .. } => of(StatusCode::CONFLICT, "exists"),
            Reject::Newer => of(StatusCode::CONFLICT, "newer"),
            Reject::Stale { .. } => of(StatusCode::CONFLICT, "stale"),
            Reject::QueueFull { .. } => of(StatusCode::TOO_MANY_REQUESTS, "queue_full"),
            Reject::UnknownAgent { .. } => {
                Self::not_found(format!("{text}; the session lists those who are"))
            }
            Reject::Invalid { .. } | Reject::BadId { .. } => of(StatusCode::BAD_REQUEST, "invalid"),
        }
    }
}
