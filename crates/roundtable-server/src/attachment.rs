//! Files and images in messages: how they come in, how messages list them, and how they are fetched.
//!
//! A file is what its bytes are; its name is a label. Whatever is sent back is a download: browsers
//! neither guess its type nor show it as a page of the server.

use axum::response::{IntoResponse, Response};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use http::header::{CACHE_CONTROL, CONTENT_DISPOSITION, CONTENT_SECURITY_POLICY, CONTENT_TYPE};
use http::{HeaderMap, HeaderValue};
use roundtable::core::event::{AcceptedInput, Body, Event, Seq, SessionEvent};
use roundtable::core::id::SessionId;
use roundtable::core::message::Attachment;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::operation::Call;
use crate::problem::Problem;
use crate::sessions::Authorized;

/// A file that is sent with a message.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct NewAttachment {
    /// What people call it. It is a label, and never a path.
    #[schemars(length(min = 1, max = 128))]
    pub name: String,
    /// Its bytes as Base64: an image (PNG, JPEG, GIF, WebP) or a text in UTF-8. What it is, is read from
    /// the bytes.
    #[schemars(length(min = 1, max = 8388608))]
    pub data: String,
}

/// What the request's files are. One that cannot be used is named by its place in the list.
pub(crate) fn read(new: &[NewAttachment]) -> Result<Vec<Attachment>, Problem> {
    let read = |(index, NewAttachment { name, data }): (usize, &NewAttachment)| {
        let bad = |what: String| {
            Problem::bad_request("invalid", format!("attachment {}: {what}", index + 1))
        };
        let bytes = BASE64.decode(data).map_err(|_| bad("data is not valid Base64".to_owned()))?;
        Attachment::from_bytes(name, &bytes).map_err(|error| bad(error.to_string()))
    };
    new.iter().enumerate().map(read).collect()
}

/// A file of a message.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct AttachmentEntry {
    /// Its id in the session: fetch it from `/api/sessions/{sessionId}/attachments/{attachmentId}`.
    pub id: String,
    pub name: String,
    pub media_type: String,
    /// How many bytes it has.
    pub bytes: usize,
}

/// The files of the message whose text is in this event.
pub(crate) fn list(event: &Event) -> Vec<AttachmentEntry> {
    let Some(input) = input(event) else { return Vec::new() };
    let entry = |(index, attachment): (usize, Attachment)| AttachmentEntry {
        id: format!("{}-{}", event.seq, index + 1),
        name: attachment.name().into_owned(),
        media_type: attachment.media_type().to_owned(),
        bytes: attachment.size(),
    };
    input.attachments().enumerate().map(entry).collect()
}

fn input(event: &Event) -> Option<&AcceptedInput> {
    match &event.body {
        Body::Session(
            SessionEvent::SessionInputAccepted(input) | SessionEvent::SessionInputEdited(input),
        ) => Some(input),
        _ => None,
    }
}

/// Which file is fetched.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct AttachmentQuery {
    /// The `id` of the attachment.
    #[schemars(length(max = 64))]
    pub attachment_id: String,
}

/// A file as it is sent back.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Download {
    pub name: String,
    pub media_type: String,
    /// Its bytes as Base64.
    #[serde(serialize_with = "encoded")]
    #[schemars(with = "String")]
    pub data: Vec<u8>,
}

fn encoded<S: serde::Serializer>(data: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&BASE64.encode(data))
}

pub(crate) async fn get(
    call: Call,
    session: Authorized<SessionId>,
    asked: AttachmentQuery,
) -> Result<Download, Problem> {
    let unknown = || {
        Problem::not_found("there is no such attachment in this session; its messages list them")
    };
    let (seq, index) = parse(&asked.attachment_id).ok_or_else(unknown)?;
    let events = call.app.sessions.get(&session).read(seq, 1).await?;
    let event = events.first().filter(|event| event.seq == seq).ok_or_else(unknown)?;
    let attachment = input(event).and_then(|input| input.attachments().nth(index));
    let attachment = attachment.ok_or_else(unknown)?;
    let data = attachment.bytes().ok_or_else(unknown)?;
    let (name, media_type) = (attachment.name().into_owned(), attachment.media_type().to_owned());
    Ok(Download { name, media_type, data })
}

/// The event and the place in its list.
fn parse(id: &str) -> Option<(Seq, usize)> {
    let (seq, number) = id.split_once('-')?;
    let seq: u32 = seq.parse().ok()?;
    let index = number.parse::<usize>().ok()?.checked_sub(1)?;
    Some((Seq(u64::from(seq)), index))
}

/// As bytes that a browser saves and never shows.
impl IntoResponse for Download {
    fn into_response(self) -> Response {
        let mut headers = HeaderMap::new();
        let media_type = match self.media_type.as_str() {
            "text/plain" => "text/plain; charset=utf-8",
            other => other,
        };
        let octets = HeaderValue::from_static("application/octet-stream");
        headers.insert(CONTENT_TYPE, HeaderValue::try_from(media_type).unwrap_or(octets));
        let disposition = HeaderValue::try_from(disposition(&self.name));
        let plain = HeaderValue::from_static("attachment");
        headers.insert(CONTENT_DISPOSITION, disposition.unwrap_or(plain));
        let policy = HeaderValue::from_static("default-src 'none'; sandbox");
        headers.insert(CONTENT_SECURITY_POLICY, policy);
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("private, no-store"));
        (headers, self.data).into_response()
    }
}

/// RFC 6266: the name in ASCII for old clients, and whole for others.
fn disposition(name: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
    let plain: String = name.chars().map(|c| if is_plain(c) { c } else { '_' }).collect();
    let mut whole = String::new();
    for byte in name.bytes() {
        match char::from(byte) {
            c if is_plain(c) => whole.push(c),
            _ => whole.push_str(&format!("%{byte:02X}")),
        }
    }
    format!("attachment; filename=\"{plain}\"; filename*=UTF-8''{whole}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn s18_a_name_in_a_header_is_one_value_whatever_is_in_it() {
        let value = disposition("a\";\r\nSet-Cookie: x=1; ü.txt");
        assert_eq!(
            value,
            "attachment; filename=\"a____Set-Cookie__x_1___.txt\"; \
             filename*=UTF-8''a%22%3B%0D%0ASet-Cookie%3A%20x%3D1%3B%20%C3%BC.txt"
        );
        assert!(HeaderValue::try_from(value).is_ok());
    }

    #[test]
    fn an_id_that_is_none_names_nothing() {
        assert_eq!(parse("12-1"), Some((Seq(12), 0)));
        for bad in ["", "12", "12-", "12-0", "-1", "12--1", "99999999999-1", "../x-1", "1-1-1"] {
            assert_eq!(parse(bad), None, "{bad}");
        }
    }
}
