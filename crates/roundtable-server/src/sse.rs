//! A feed as server-sent events. Committed events are messages with an id, so that a browser that
//! reconnects goes on after the last one by itself; what is being said comes as `delta`.

use std::convert::Infallible;
use std::time::Duration;

use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse as _, Response};
use futures_util::stream;
use http::{HeaderMap, StatusCode};
use roundtable::core::id::SessionId;
use serde_json::json;

use crate::camel;
use crate::feed::{Feed, Frame, Position};
use crate::problem::Problem;

/// How often something is sent when nothing happens, so that nothing in between hangs up.
const KEEP_ALIVE: Duration = Duration::from_secs(15);

/// How long a reader waits before it connects again.
const RETRY: Duration = Duration::from_secs(1);

const LAST_EVENT_ID: &str = "last-event-id";

/// Where a reader wants to go on: what it got last counts before what it asked for first.
pub(crate) fn position(
    headers: &HeaderMap,
    after: Option<&str>,
) -> Result<Option<Position>, Problem> {
    let last = headers.get(LAST_EVENT_ID).map(|value| value.to_str().unwrap_or("?"));
    last.or(after).map(Position::parse).transpose()
}

/// The answer to a reader. One who has all of a session that is over is told not to come again.
pub(crate) fn respond(session: &SessionId, feed: Option<Feed>) -> Response {
    let Some(feed) = feed else { return StatusCode::NO_CONTENT.into_response() };
    let session = session.clone();
    let events = stream::unfold((feed, true), move |(mut feed, first)| {
        let session = session.clone();
        async move {
            let event = encode(&session, &feed.next().await?);
            let event = if first { event.retry(RETRY) } else { event };
            Some((Ok::<_, Infallible>(event), (feed, false)))
        }
    });
    Sse::new(events).keep_alive(KeepAlive::new().interval(KEEP_ALIVE)).into_response()
}

fn encode(session: &SessionId, frame: &Frame) -> Event {
    match frame {
        Frame::Event(event) => {
            let data = camel::event(event);
            Event::default().id(Position::name(session, event.seq)).data(data.to_string())
        }
        Frame::Delta(delta, speaker) => {
            let data = json!({
                "agentId": speaker.as_ref().map(|speaker| &speaker.agent),
                "turnId": speaker.as_ref().map(|speaker| &speaker.turn),
                "since": delta.since,
                "iterationId": delta.iteration,
                "attempt": delta.attempt,
                "offset": delta.offset,
                "text": delta.text,
            });
            Event::default().event("delta").data(data.to_string())
        }
        Frame::End { reason, resume_from } => {
            let place = Position::name(session, *resume_from);
            let data = json!({ "reason": reason.word(), "resumeFrom": place });
            Event::default().event("end").data(data.to_string())
        }
    }
}
