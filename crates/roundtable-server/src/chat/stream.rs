//! The answers that are being given just now.

use roundtable::core::event::Seq;
use roundtable::core::id::{IterationId, SessionId};
use roundtable::driver::Delta;
use schemars::JsonSchema;
use serde::Serialize;

use crate::operation::{Call, Nothing};
use crate::problem::Problem;
use crate::sessions::Authorized;

/// The running answers of a conversation.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Streams {
    #[schemars(with = "String")]
    pub session_id: SessionId,
    /// Empty if no agent is answering.
    pub streams: Vec<Stream>,
}

/// A running answer.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Stream {
    /// Stream id. All chunks of the answer carry it.
    pub stream_id: String,
    /// The text so far.
    pub content: String,
    /// Sequence number of the event that started it.
    #[schemars(with = "u64")]
    pub since: Seq,
}

/// The id of the stream of a model call: each attempt is a stream of its own.
pub(crate) fn stream_id(iteration: &IterationId, attempt: u32) -> String {
    format!("{iteration}-{attempt}")
}

pub(super) async fn list(
    call: Call,
    session: Authorized<SessionId>,
    _: Nothing,
) -> Result<Streams, Problem> {
    let stream = |delta: Delta| Stream {
        stream_id: stream_id(&delta.iteration, delta.attempt),
        content: delta.text,
        since: delta.since,
    };
    let streams = call.app.sessions.get(&session).speaking().into_iter().map(stream).collect();
    Ok(Streams { session_id: session.id().clone(), streams })
}
