//! Idempotency keys: the same key with the same body returns the first outcome, with another body it is
//! refused. The key is recorded in the commit of what it did, so a crash changes nothing about that.

use http::HeaderMap;
use roundtable::core::digest::Digest;
use roundtable::core::id::{CommandId, SessionId};
use roundtable::ports::CommandKey;
use serde_json::{Map, Value, json};

use crate::openapi::Param;
use crate::problem::Problem;

const HEADER: &str = "idempotency-key";

/// The field that some inputs have for the key.
const FIELD: &str = "idempotencyKey";

/// How many characters a key may have.
const LONGEST: usize = 200;

/// The header, as the description of the API has it.
pub(crate) fn param() -> Param {
    let what = "Idempotency key. The same key with the same body returns the first result. With another body the request is refused.";
    Param::header("Idempotency-Key", what, LONGEST)
}

/// The key in the header of a request. One that is not a text is refused as an empty one is.
pub(crate) fn header(headers: &HeaderMap) -> Option<String> {
    headers.get(HEADER).map(|value| value.to_str().unwrap_or_default().to_owned())
}

/// A key, and the request that it stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Key {
    text: String,
    digest: Digest,
}

impl Key {
    /// The key of a request: one that the transport carries, or else a field of its input. It stands
    /// for an operation and its input; the session belongs to neither.
    pub fn of(
        operation: &str,
        carried: Option<&str>,
        fields: &Map<String, Value>,
    ) -> Result<Option<Self>, Problem> {
        let field = fields.get(FIELD).and_then(Value::as_str);
        let Some(text) = carried.or(field) else { return Ok(None) };
        if text.is_empty() || text.chars().count() > LONGEST || text.chars().any(char::is_control) {
            let what = "an idempotency key must have 1 to 200 characters";
            return Err(Problem::bad_request("invalid", what));
        }
        let mut fields = fields.clone();
        fields.remove(FIELD);
        let digest = Digest::of_json(&json!([operation, fields]));
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
