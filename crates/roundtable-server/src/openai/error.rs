//! Errors in OpenAI's format, for everything below `/v1`: whatever part of the server refused.

use axum::Json;
use axum::extract::Request;
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use http::StatusCode;
use http::header::{CONTENT_LENGTH, CONTENT_TYPE};
use schemars::JsonSchema;
use serde::Serialize;

use crate::problem::Problem;

/// Where the format applies.
pub(crate) const BELOW: &str = "/v1/";

/// Rewrites problems below `/v1`; everything else passes as it is.
pub(crate) async fn rewrite(request: Request, next: Next) -> Response {
    let is_below = request.uri().path().starts_with(BELOW);
    let mut response = next.run(request).await;
    let problem = response.extensions_mut().remove::<Problem>();
    match problem.filter(|_| is_below) {
        None => response,
        Some(problem) => {
            let (status, body) = (problem.status, Json(ErrorBody::of(&problem)));
            let mut rewritten = (status, body).into_response();
            let kept = response.headers().iter();
            let kept = kept.filter(|(name, _)| ![CONTENT_LENGTH, CONTENT_TYPE].contains(name));
            rewritten.headers_mut().extend(kept.map(|(name, value)| (name.clone(), value.clone())));
            rewritten
        }
    }
}

/// What every answer below `/v1` has that is not what was asked for.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "OpenAiProblem")]
pub(crate) struct ErrorBody {
    error: ErrorDetails,
}

#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "OpenAiError")]
struct ErrorDetails {
    /// Error message for people.
    message: String,
    #[serde(rename = "type")]
    kind: &'static str,
    /// The field of the request that is wrong.
    param: Option<String>,
    /// Error code for programs.
    code: String,
}

impl ErrorBody {
    /// A problem, as clients of OpenAI read it.
    pub fn of(problem: &Problem) -> Self {
        let reason = problem.body.reason.as_str();
        let (kind, code) = match problem.status {
            StatusCode::UNAUTHORIZED => ("invalid_request_error", "invalid_api_key"),
            StatusCode::FORBIDDEN => ("permission_error", reason),
            StatusCode::TOO_MANY_REQUESTS => ("rate_limit_error", "rate_limit_exceeded"),
            status if status.is_server_error() => ("server_error", reason),
            _ => ("invalid_request_error", reason),
        };
        let param = problem.body.more.get("param").and_then(|it| it.as_str());
        let (message, param) = (problem.body.error.clone(), param.map(str::to_owned));
        Self { error: ErrorDetails { message, kind, param, code: code.to_owned() } }
    }
}
