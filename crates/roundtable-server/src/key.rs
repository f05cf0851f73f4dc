//! Idempotency keys: the same key with the same body returns the first outcome, with another body it is
//! refused. The key is recorded in the commit of what it did, so a crash changes nothing about that.

use axum::extract::{FromRequest, Request};
use http::HeaderMap;
use roundtable::core::digest::Digest;
use roundtable::core::id::{CommandId, SessionId};
use roundtable::ports::CommandKey;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::app::App;
use crate::json::{self, fit};
use crate::openapi::Param;
use crate::problem::Problem;

const HEADER: &str = "idempotency-key";

/// The field that some inputs have for the key.
const FIELD: &str = "idempotencyKey";

/// How many characters a key may have.
const LONGEST: usize = 200;

/// The header, as the description of the API has it.
pub(crate) fn param() -> Param {
    let what = "The same key with the same body returns the first outcome; with another body it is refused.";
    Param::header("Idempotency-Key", what, LONGEST)
}

/// What an input asks for. A key stands for an operation and its body.
pub(crate) trait Input: DeserializeOwned + JsonSchema + 'static {
    const OPERATION: &'static str;
}

/// A key, and the request that it stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Key {
    text: String,
    digest: Digest,
}

impl Key {
    /// The key of a request: in its header, or else in a field of its body.
    pub fn of<T: Input>(
        headers: Option<&HeaderMap>,
        body: &Value,
    ) -> Result<Option<Self>, Problem> {
        let header = headers.and_then(|headers| headers.get(HEADER));
        let field = body.get(FIELD).and_then(Value::as_str);
        let text = match (header, field) {
            (Some(header), _) => header.to_str().unwrap_or_default(),
            (None, Some(field)) => field,
            (None, None) => return Ok(None),
        };
        if text.is_empty() || text.chars().count() > LONGEST || text.chars().any(char::is_control) {
            let what = "an idempotency key has 1 to 200 characters; choose another, or send none";
            return Err(Problem::bad_request("invalid", what));
        }
        let mut body = body.clone();
        if let Value::Object(fields) = &mut body {
            // It names the debate over MCP, as the path does over HTTP; the key belongs to the debate.
            fields.remove(FIELD);
            fields.remove("sessionId");
        }
        let digest = Digest::of_json(&json!([T::OPERATION, body]));
        Ok(Some(Self { text: text.to_owned(), digest }))
    }

    /// What it is called in a session.
    pub fn within(&self, session: &SessionId) -> CommandKey {
        let id = CommandId::derive(session.as_str(), format_args!("key.{}", self.text));
        CommandKey { id, digest: Some(self.digest.clone()) }
    }

    pub fn text(&self) -> &str {
        &self.text
    }

    pub fn digest(&self) -> Digest {
        self.digest.clone()
    }
}

/// The body of a request and its key.
pub(crate) struct Keyed<T> {
    pub asked: T,
    pub key: Option<Key>,
}

impl<T: Input> FromRequest<App> for Keyed<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, app: &App) -> Result<Self, Problem> {
        let (parts, body) = request.into_parts();
        let value = json::parse(&json::read(&parts.headers, body, &app.limits).await?)?;
        let asked = fit(app, &value)?;
        Ok(Self { asked, key: Key::of::<T>(Some(&parts.headers), &value)? })
    }
}
