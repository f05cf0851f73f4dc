//! What happens in a session, as server-sent events.

use axum::Extension;
use axum::extract::rejection::{PathRejection, QueryRejection};
use axum::extract::{Path, Query, State};
use axum::response::Response;
use axum::routing::get;
use http::{HeaderMap, Method};
use serde::Deserialize;
use serde_json::json;

use crate::access::Pass;
use crate::app::App;
use crate::feed::{self, Feed};
use crate::openapi::{Answer, Description, Param};
use crate::operation::SESSION;
use crate::problem::Problem;
use crate::routes::{Door, Route};
use crate::schema::ID;
use crate::sse;

/// How many characters a position in a log may have: a session's id and a number.
const POSITION: usize = ID + 24;

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct EventsQuery {
    after: Option<String>,
}

pub(crate) fn routes() -> Vec<Route> {
    let description = Description {
        id: "readEvents",
        what: "Stream the events of a session as server-sent events. Messages are committed \
               events, `delta` is running text, `end` has the reason and the position to resume \
               from.",
        params: vec![
            Param::id(SESSION, "The session."),
            Param::query(
                "after",
                "Start after this event: its id or its number.",
                json!({ "type": "string", "maxLength": POSITION }),
            ),
            Param::header("Last-Event-ID", "Id of the last received event.", POSITION),
        ],
        body: None,
        answer: Answer::Events,
        problems: vec![
            (400, "Invalid position."),
            (404, "Unknown session, or a session of another caller."),
            (409, "The position is beyond the end or in another session."),
        ],
    };
    vec![Route {
        method: Method::GET,
        path: "/api/sessions/{sessionId}/events",
        door: Door::Known,
        description,
        handler: get(events),
    }]
}

async fn events(
    State(app): State<App>,
    Extension(pass): Extension<Pass>,
    name: Result<Path<String>, PathRejection>,
    query: Result<Query<EventsQuery>, QueryRejection>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let Path(name) = name.map_err(|_| Problem::no_session(""))?;
    let session = feed::authorize(&app, &pass, &name).await?;
    let Query(query) = query.map_err(|_| {
        let what = "invalid query; the only parameter is `after`";
        Problem::bad_request("invalid", what)
    })?;
    let position = sse::position(&headers, query.after.as_deref())?;
    let feed = Feed::open(&app, pass, &session, position.as_ref()).await?;
    Ok(sse::respond(session.id(), feed))
}
