//! Sessions of any kind: which there are, what is in one, and what happens in it.

use axum::extract::State;
use axum::response::Response;
use axum::routing::get;
use axum::{Extension, Json};
use http::{HeaderMap, Method};
use jiff::Timestamp;
use roundtable::core::id::SessionId;
use roundtable::ports::Selection;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::access::Pass;
use crate::app::App;
use crate::auth::Principal;
use crate::feed::Feed;
use crate::http::query::{Asked, query};
use crate::openapi::{Answer, Operation, Param, schema_of};
use crate::problem::Problem;
use crate::routes::{Door, Route};
use crate::schema::{DATE, FILTER, ID};
use crate::sessions::{Action, Authorized};
use crate::sse;
use crate::wire::{Kind, SessionDetail, SessionSummary, Status};

/// How many sessions a page has, if nobody says otherwise.
pub(crate) const USUAL: usize = 50;

/// How many sessions a page has at most.
pub(crate) const MOST: usize = 200;

/// How many characters a position in a log may have: a session's id and a number.
const POSITION: usize = ID + 24;

const NO_SESSION: (u16, &str) = (404, "There is no such session, or it is not yours.");

/// Which sessions are asked for.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Sought {
    kind: Option<Kind>,
    status: Option<Status>,
    topic: Option<String>,
    from_date: Option<Timestamp>,
    to_date: Option<Timestamp>,
    limit: Option<usize>,
    before: Option<String>,
}

/// A page of sessions.
#[derive(Serialize, JsonSchema)]
struct Page {
    /// Newest first.
    sessions: Vec<SessionSummary>,
    /// Send it as `before` to get the next page; there is none without it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    next: Option<SessionId>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct From {
    after: Option<String>,
}

pub(crate) fn routes() -> Vec<Route> {
    let route = |path, operation, handler| Route {
        method: Method::GET,
        path,
        door: Door::Known,
        operation,
        handler,
    };
    vec![
        route("/api/sessions", list_operation(), get(list)),
        route("/api/sessions/{id}", show_operation(), get(show)),
        route("/api/sessions/{id}/events", events_operation(), get(events)),
    ]
}

fn list_operation() -> Operation {
    let text = |limit: usize| json!({ "type": "string", "maxLength": limit });
    let one_of = |words: &[&str]| json!({ "type": "string", "enum": words });
    let date = || json!({ "type": "string", "format": "date-time", "maxLength": DATE });
    let count = json!({ "type": "integer", "minimum": 1, "maximum": MOST, "default": USUAL });
    let statuses = one_of(&["active", "paused", "completed"]);
    Operation {
        id: "listSessions",
        what: "The sessions, newest first.",
        params: vec![
            Param::query("kind", "Only those of a kind.", one_of(&["debate", "scene", "chat"])),
            Param::query("status", "Only those in a state.", statuses),
            Param::query("topic", "Only those with this in their topic.", text(FILTER)),
            Param::query("fromDate", "Only those that began then or later.", date()),
            Param::query("toDate", "Only those that began then or earlier.", date()),
            Param::query("limit", "How many.", count),
            Param::query("before", "The `next` of the page before.", text(ID)),
        ],
        body: None,
        answer: Answer::Json(schema_of::<Page>()),
        problems: &[(400, "A filter is none.")],
    }
}

fn show_operation() -> Operation {
    Operation {
        id: "getSession",
        what: "A session of any kind.",
        params: vec![Param::id("id", "The session.")],
        body: None,
        answer: Answer::Json(schema_of::<SessionDetail>()),
        problems: &[NO_SESSION],
    }
}

fn events_operation() -> Operation {
    Operation {
        id: "readEvents",
        what: "What happened and happens in a session, as server-sent events: messages are \
               committed events, `delta` is what is being said, `end` says why it stops and where \
               to go on.",
        params: vec![
            Param::id("id", "The session."),
            Param::query(
                "after",
                "Begin after this event: its id, or its number.",
                json!({ "type": "string", "maxLength": POSITION }),
            ),
            Param::header("Last-Event-ID", "The id of the last event that was received.", POSITION),
        ],
        body: None,
        answer: Answer::Events,
        problems: &[
            (400, "The position is none."),
            NO_SESSION,
            (409, "The position lies beyond the end, or in another session."),
        ],
    }
}

async fn list(
    State(app): State<App>,
    Extension(caller): Extension<Principal>,
    asked: Asked<Sought>,
) -> Result<Json<Page>, Problem> {
    let asked = query(asked)?;
    let most = asked.limit.unwrap_or(USUAL);
    if !(1..=MOST).contains(&most) {
        let what = format!("limit is a number from 1 to {MOST}; send `next` as before to get more");
        return Err(Problem::bad_request("invalid", what));
    }
    let before = match &asked.before {
        Some(before) => {
            let known = app.sessions.authorize(&caller, Action::Read, before).await;
            let what = "before is none of the places that a list gave you; begin without it";
            Some(known.map_err(|_| Problem::bad_request("unknown_cursor", what))?.id().clone())
        }
        None => None,
    };
    let selection = Selection {
        kind: asked.kind.map(Into::into),
        status: asked.status.map(Into::into),
        topic: asked.topic,
        archived: None,
        from: asked.from_date,
        to: asked.to_date,
        before,
        tenant: None,
    };
    let mut found = app.sessions.select(&caller, selection, most + 1).await?;
    let more = found.len() > most;
    found.truncate(most);
    let next = found.last().filter(|_| more).map(|listed| listed.session.clone());
    Ok(Json(Page { sessions: found.iter().map(SessionSummary::of).collect(), next }))
}

async fn show(
    State(app): State<App>,
    session: Authorized<SessionId>,
) -> Result<Json<SessionDetail>, Problem> {
    let state = app.sessions.get(&session).state().await?;
    Ok(Json(SessionDetail::of(session.listed(), &state)))
}

async fn events(
    State(app): State<App>,
    Extension(pass): Extension<Pass>,
    session: Authorized<SessionId>,
    from: Asked<From>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let from = query(from)?;
    let position = sse::position(&headers, from.after.as_deref())?;
    let feed = Feed::open(&app, pass, &session, position.as_ref()).await?;
    Ok(sse::respond(session.id(), feed))
}
