//! What a provider's refusal means for the caller: one list for all vendors, because they borrow
//! each other's words.

use std::time::Duration;

use jiff::Timestamp;
use reqwest::header::HeaderMap;
use roundtable_ports::ModelError;
use serde_json::Value;

/// The longest text of a provider that goes into an error.
const LONGEST: usize = 500;

/// A refusal, as it came.
#[derive(Debug, Default)]
pub struct Failure {
    /// The HTTP status; none when it came inside a stream.
    pub status: Option<u16>,
    /// When to try again, if the headers say so.
    pub retry_after: Option<Duration>,
    /// The vendor's words for the kind of error.
    pub kinds: Vec<String>,
    /// The vendor's words for people.
    pub message: String,
}

impl Failure {
    /// A refusal with a status.
    pub fn of_response(status: u16, headers: &HeaderMap, body: &str) -> Self {
        let json: Value = serde_json::from_str(body).unwrap_or(Value::Null);
        let mut failure = Self::of_json(&json);
        failure.status = Some(status);
        failure.retry_after = retry_after(headers).or(failure.retry_after);
        if failure.message.is_empty() {
            failure.message = format!("status {status} {}", body.trim()).trim().to_owned();
        }
        failure
    }

    /// A refusal inside a stream, or the body of one.
    pub fn of_json(json: &Value) -> Self {
        // Gemini wraps errors of streams in a list; some vendors have no envelope.
        let json = json.get(0).unwrap_or(json);
        let error = json.get("error").filter(|error| !error.is_null()).unwrap_or(json);
        let words = ["type", "code", "status"].map(|field| error.get(field).and_then(word));
        let details = error.get("details").and_then(Value::as_array).into_iter().flatten();
        let reasons = details.clone().filter_map(|detail| detail.get("reason").and_then(word));
        let delay = { details }.find_map(|detail| seconds(detail.get("retryDelay")?.as_str()?));
        let message = ["message", "detail", "msg"].iter().find_map(|field| error.get(*field));
        let message = message.unwrap_or(error);
        let message = match message {
            Value::String(text) => text.clone(),
            Value::Null => String::new(),
            other => other.to_string(),
        };
        Self {
            status: error.get("code").and_then(Value::as_u64).and_then(|code| code.try_into().ok()),
            retry_after: delay,
            kinds: words.into_iter().flatten().chain(reasons).collect(),
            message,
        }
    }

    /// What it means.
    pub fn error(&self) -> ModelError {
        let text = || shown(&self.message);
        if self.is_about(TOO_LONG_KINDS, TOO_LONG_WORDS) {
            return ModelError::TooLong(text());
        }
        if self.is_about(REFUSED_KINDS, REFUSED_WORDS) {
            return ModelError::Refused(text());
        }
        // Out of money is no matter of waiting.
        if self.is_about(AUTH_KINDS, AUTH_WORDS) || matches!(self.status, Some(401..=403)) {
            return ModelError::Auth(text());
        }
        let busy =
            self.is_about(BUSY_KINDS, &[]) || matches!(self.status, Some(409 | 425 | 500..=599));
        let limited = self.status == Some(429) || self.is_about(LIMITED_KINDS, &[]);
        if limited || (busy && self.retry_after.is_some()) {
            return ModelError::RateLimited { retry_after: self.retry_after };
        }
        match self.status {
            Some(408 | 504) => ModelError::Timeout,
            _ if busy => ModelError::Overloaded(text()),
            Some(413) => ModelError::TooLong(text()),
            _ => ModelError::BadRequest(text()),
        }
    }

    fn is_about(&self, kinds: &[&str], words: &[&str]) -> bool {
        let message = self.message.to_lowercase();
        self.kinds.iter().any(|kind| kinds.contains(&kind.to_lowercase().as_str()))
            || words.iter().any(|words| message.contains(words))
    }
}

const TOO_LONG_KINDS: &[&str] =
    &["context_length_exceeded", "request_too_large", "string_above_max_length"];
const TOO_LONG_WORDS: &[&str] = &[
    "context length",
    "context window",
    "maximum context",
    "prompt is too long",
    "input is too long",
    "input token count",
    "exceed context limit",
    "too many input tokens",
];
const REFUSED_KINDS: &[&str] =
    &["content_filter", "content_policy_violation", "invalid_prompt", "safety", "moderation"];
const REFUSED_WORDS: &[&str] =
    &["content management policy", "flagged as potentially violating", "content policy"];
const AUTH_KINDS: &[&str] = &[
    "authentication_error",
    "permission_error",
    "invalid_api_key",
    "api_key_invalid",
    "invalid_authentication",
    "permission_denied",
    "unauthenticated",
    "insufficient_quota",
    "billing_error",
    "payment_required",
    "insufficient_balance",
];
const AUTH_WORDS: &[&str] = &["api key not valid", "invalid api key", "credit balance is too low"];
const LIMITED_KINDS: &[&str] = &[
    "rate_limit_error",
    "rate_limit_exceeded",
    "rate_limited",
    "requests",
    "tokens",
    "resource_exhausted",
    "too_many_requests",
];
const BUSY_KINDS: &[&str] = &[
    "overloaded_error",
    "overloaded",
    "api_error",
    "server_error",
    "internal_server_error",
    "internal",
    "unavailable",
    "service_unavailable",
];

/// A text of a provider as it may be shown: one line, not too long.
pub fn shown(text: &str) -> String {
    let line: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    let mut short: String = line.trim().chars().take(LONGEST).collect();
    if short.len() < line.trim().len() {
        short.push('…');
    }
    short
}

fn word(value: &Value) -> Option<String> {
    match value {
        Value::String(word) => Some(word.clone()),
        _ => None,
    }
}

/// When to try again: in seconds, in milliseconds, or at a time. The time is reckoned from when
/// the provider says it answered, so that no two clocks have to agree.
fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let header = |name: &str| headers.get(name)?.to_str().ok();
    if let Some(millis) = header("retry-after-ms").and_then(|text| text.trim().parse().ok()) {
        return Some(Duration::from_millis(millis));
    }
    let text = header("retry-after")?.trim();
    if let Some(seconds) = seconds(text) {
        return Some(seconds);
    }
    let (at, now) = (date(text)?, date(header("date")?)?);
    Some(at.duration_since(now).try_into().unwrap_or(Duration::ZERO))
}

/// `12`, `1.5` or `12s`; never more than a day, whatever is said.
fn seconds(text: &str) -> Option<Duration> {
    const DAY: f64 = 86_400.0;
    let seconds: f64 = text.trim().trim_end_matches('s').parse().ok()?;
    Duration::try_from_secs_f64(seconds.clamp(0.0, DAY)).ok()
}

fn date(text: &str) -> Option<Timestamp> {
    Some(jiff::fmt::rfc2822::parse(text).ok()?.timestamp())
}

#[cfg(test)]
mod tests;
