//! An export as a stream: the text is in memory once, and its place is free after the last byte.

use axum::body::Body;
use axum::response::{IntoResponse as _, Response};
use bytes::Bytes;
use futures_util::stream;
use http::HeaderValue;
use http::header::CONTENT_TYPE;
use roundtable::core::id::SessionId;
use serde_json::json;
use tokio::sync::OwnedSemaphorePermit;

use crate::debate::ask::Format;

/// How many bytes of the text are sent at once.
const PIECE: usize = 64 * 1024;

/// The same JSON as `Exported`, in pieces.
pub(super) fn response(
    session: &SessionId,
    format: Format,
    text: String,
    place: OwnedSemaphorePermit,
) -> Response {
    let (head, tail) = envelope(session, format);
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
    use serde_json::Value;
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
            let mut response = response(&session, format, text, place);
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
        drop(response(&session, Format::Markdown, "# Topic".to_owned(), place));
        assert_eq!(places.available_permits(), 1);
    }
}
