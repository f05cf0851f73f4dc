//! Reading sessions: which there are, what is in one, and what happened in a turn.

use jiff::Timestamp;
use roundtable::core::id::{SessionId, TurnId};
use roundtable::core::session::Status;
use roundtable::core::turn::Context;
use roundtable::ports::Selection;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::operation::{Call, Nothing};
use crate::problem::Problem;
use crate::sessions::Authorized;
use crate::wire::{Iteration, Kind, SessionDetail, SessionSummary, Turn};

/// How many sessions a page has when the request does not set a limit.
const PAGE: usize = 50;

/// Filters for sessions. Omitted filters match every session.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub(crate) struct SessionsQuery {
    /// Filter by kind.
    pub kind: Option<Kind>,
    /// Filter by status.
    pub status: Option<Status>,
    /// Filter by text in the topic or title.
    #[schemars(length(max = 1000))]
    pub topic: Option<String>,
    /// List archived sessions instead of the others.
    #[schemars(extend("default" = false))]
    pub archived: Option<bool>,
    /// Started at or after this time.
    #[schemars(with = "Option<String>", extend("format" = "date-time", "maxLength" = 64))]
    pub from_date: Option<Timestamp>,
    /// Started at or before this time.
    #[schemars(with = "Option<String>", extend("format" = "date-time", "maxLength" = 64))]
    pub to_date: Option<Timestamp>,
    /// Page size.
    #[schemars(range(min = 1, max = 200), extend("default" = 50))]
    pub limit: Option<usize>,
    /// The `next` of the previous page.
    #[schemars(length(max = 64))]
    pub before: Option<String>,
}

/// A page of sessions.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Page {
    /// Newest first.
    sessions: Vec<SessionSummary>,
    /// Cursor of the next page: send it as `before`. Absent on the last page.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    next: Option<SessionId>,
}

pub(super) async fn list(call: Call, asked: SessionsQuery) -> Result<Page, Problem> {
    let (sessions, limit) = (&call.app.sessions, asked.limit.unwrap_or(PAGE));
    let before = match &asked.before {
        Some(before) => {
            let known = sessions.find_cursor(&call.principal, before).await;
            let what = "unknown cursor; use `next` of the previous page, or omit `before`";
            Some(known.ok_or_else(|| Problem::bad_request("unknown_cursor", what))?)
        }
        None => None,
    };
    let selection = Selection {
        kind: asked.kind.map(Into::into),
        status: asked.status,
        topic: asked.topic,
        archived: Some(asked.archived.unwrap_or(false)),
        from: asked.from_date,
        to: asked.to_date,
        before,
        tenant: None,
    };
    let mut found = sessions.select(&call.principal, selection, limit + 1).await?;
    let more = found.len() > limit;
    found.truncate(limit);
    let next = found.last().filter(|_| more).map(|listed| listed.session.clone());
    Ok(Page { sessions: found.iter().map(SessionSummary::of).collect(), next })
}

pub(super) async fn show(
    call: Call,
    session: Authorized<SessionId>,
    _: Nothing,
) -> Result<SessionDetail, Problem> {
    let state = call.app.sessions.get(&session).state().await?;
    Ok(SessionDetail::of(session.listed(), &state))
}

/// A turn of a session.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct TurnQuery {
    /// Turn id.
    #[schemars(length(max = 64))]
    pub turn_id: String,
}

pub(super) async fn iterations(
    call: Call,
    session: Authorized<SessionId>,
    asked: TurnQuery,
) -> Result<Turn, Problem> {
    let (turn, context) = find(&call, &session, &asked.turn_id).await?;
    Ok(Turn {
        turn_id: turn,
        current_iteration: context.current_iteration(),
        iterations: context.iterations().iter().map(|known| Iteration::of(known)).collect(),
    })
}

/// An iteration of a turn.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct IterationQuery {
    /// Turn id.
    #[schemars(length(max = 64))]
    pub turn_id: String,
    /// Iteration number, from 1.
    pub number: u32,
}

pub(super) async fn iteration(
    call: Call,
    session: Authorized<SessionId>,
    asked: IterationQuery,
) -> Result<Iteration, Problem> {
    let (_, context) = find(&call, &session, &asked.turn_id).await?;
    let found = context.get_iteration(asked.number);
    found.map(Iteration::of).ok_or_else(|| {
        let last = context.current_iteration();
        Problem::not_found(format!("unknown iteration; this turn has iterations 1 to {last}"))
    })
}

async fn find(
    call: &Call,
    session: &Authorized<SessionId>,
    turn: &str,
) -> Result<(TurnId, Context), Problem> {
    let unknown =
        || Problem::not_found("unknown turn; the events of the session list the turn ids");
    let turn: TurnId = turn.parse().map_err(|_| unknown())?;
    let context = call.app.sessions.get(session).turn(&turn).await?.ok_or_else(unknown)?;
    Ok((turn, context))
}
