//! An export as a stream: the text is in memory once, and its place is free after the last byte.

use axum::body::Body;
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use futures_util::stream;
use http::header::CONTENT_TYPE;
use http::{HeaderValue, StatusCode};
use roundtable::core::id::SessionId;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};
use tokio::sync::OwnedSemaphorePermit;

use crate::debate::ask::Format;
use crate::problem::Problem;

/// How many bytes of the text are sent at once.
const PIECE: usize = 64 * 1024;

/// How many bytes of an export fit in the result of a tool.
const INLINE: usize = 1024 * 1024;

/// An exported debate.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ExportAnswer {
    pub session_id: SessionId,
    pub format: Format,
    /// Markdown text, or an object.
    pub content: Value,
}

/// The text of a debate, and the memory permit that its holder keeps.
pub(crate) struct Export {
    pub session: SessionId,
    pub format: Format,
    pub text: String,
    pub place: OwnedSemaphorePermit,
}

impl Export {
    /// As one value, for callers that cannot read a stream. It has to be small enough to be held
    /// several times.
    pub fn inline(self) -> Result<ExportAnswer, Problem> {
        let Self { session, format, text, place: _place } = self;
        if text.len() > INLINE {
            let bytes = text.len();
            let what = format!(
                "The export has {bytes} bytes; a tool result has at most {INLINE}. Read the \
                 resource roundtable://sessions/{session}/transcript in pages instead."
            );
            return Err(Problem::new(StatusCode::PAYLOAD_TOO_LARGE, "too_large", what));
        }
        let content = match format {
            Format::Markdown => Value::String(text),
            Format::Json => serde_json::from_str(&text).unwrap_or_default(),
        };
        Ok(ExportAnswer { session_id: session, format, content })
    }
}

/// The same JSON as `ExportAnswer`, in pieces.
impl IntoResponse for Export {
    fn into_response(self) -> Response {
        let Self { session, format, text, place } = self;
        let (head, tail) = envelope(&session, format);
        let start =
            Writing { head: Some(head), text, sent: 0, tail: Some(tail), format, _place: place };
        let pieces = stream::unfold(start, |mut writing| async move {
            writing.next_piece().map(|piece| (Ok::<_, std::io::Error>(piece), writing))
        });
        let mut response = Body::from_stream(pieces).into_response();
        let kind = HeaderValue::from_static("application/json");
        response.headers_mut().insert(CONTENT_TYPE, kind);
        response
    }
}

/// What is around the text.
fn envelope(session: &SessionId, format: Format) -> (String, &'static str) {
    let fields = json!({ "sessionId": session, "format": format }).to_string();
    let fields = fields.trim_end_matches('}');
    match format {
        Format::Markdown => (format!("{fields},\"content\":\""), "\"}"),
        Format::Json => (format!("{fields},\"content\":"), "}"),
    }
}

struct Writing {
    head: Option<String>,
    text: String,
    sent: usize,
    tail: Option<&'static str>,
    format: Format,
    _place: OwnedSemaphorePermit,
}

impl Writing {
    fn next_piece(&mut self) -> Option<Bytes> {
        if let Some(head) = self.head.take() {
            return Some(head.into());
        }
        let rest = &self.text[self.sent..];
        if rest.is_empty() {
            return self.tail.take().map(Into::into);
        }
        let piece = &rest[..rest.floor_char_boundary(PIECE)];
        self.sent += piece.len();
        Some(match self.format {
            Format::Markdown => quoted(piece),
            Format::Json => Bytes::copy_from_slice(piece.as_bytes()),
        })
    }
}

/// A piece of a JSON string, without the quotation marks around it.
fn quoted(piece: &str) -> Bytes {
    let json = Bytes::from(serde_json::Value::from(piece).to_string());
    json.slice(1..json.len() - 1)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use http_body_util::BodyExt as _;
    use tokio::sync::Semaphore;

    use super::*;

    #[tokio::test]
    async fn an_export_in_pieces_is_one_json_value_and_gives_its_place_back() {
        let places = Arc::new(Semaphore::new(1));
        let session = SessionId::new("a").unwrap();
        let markdown = "# Topic \"ä\"\n\\".repeat(9_000);
        let data = json!({ "topic": "ä".repeat(90_000) });
        let cases = [
            (Format::Markdown, markdown.clone(), Value::from(markdown)),
            (Format::Json, data.to_string(), data),
        ];
        for (format, text, content) in cases {
            let place = places.clone().acquire_owned().await.unwrap();
            let export = Export { session: session.clone(), format, text, place };
            let mut response = export.into_response();
            let first = response.body_mut().frame().await.unwrap().unwrap();
            assert_eq!(places.available_permits(), 0, "it is not sent yet");
            let mut bytes = first.into_data().unwrap().to_vec();
            bytes.extend(response.into_body().collect().await.unwrap().to_bytes());
            let expected = json!({ "sessionId": session, "format": format, "content": content });
            assert_eq!(serde_json::from_slice::<Value>(&bytes).unwrap(), expected);
            assert_eq!(places.available_permits(), 1);
        }
    }

    #[tokio::test]
    async fn a_caller_that_goes_away_gives_its_place_back() {
        let places = Arc::new(Semaphore::new(1));
        let place = places.clone().acquire_owned().await.unwrap();
        let session = SessionId::new("a").unwrap();
        let (format, text) = (Format::Markdown, "# Topic".to_owned());
        drop(Export { session, format, text, place }.into_response());
        assert_eq!(places.available_permits(), 1);
    }
}
