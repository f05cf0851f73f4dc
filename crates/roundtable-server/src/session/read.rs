//! Reading sessions: which there are, what is in one, and what happened in a turn.

use jiff::Timestamp;
use roundtable::core::id::{SessionId, TurnId};
use roundtable::core::turn::Context;
use roundtable::ports::Selection;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::operation::{Call, Nothing};
use crate::problem::Problem;
use crate::sessions::{Action, Authorized};
use crate::wire::{Iteration, Kind, SessionDetail, SessionSummary, Status, Turn};

/// How many sessions a page has when the request does not set a limit.
const PAGE: usize = 50;

/// Which sessions are listed. What is absent leaves nothing out.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub(crate) struct SessionsQuery {
    /// Filter by kind.
    pub kind: Option<Kind>,
    /// Filter by status.
    pub status: Option<Status>,
    /// Only those with this text in their topic or title.
    #[schemars(length(max = 1000))]
    pub topic: Option<String>,
    /// Whether archived sessions are listed, instead of those that are not.
    #[schemars(extend("default" = false))]
    pub archived: Option<bool>,
    /// Only those that began then or later.
    #[schemars(with = "Option<String>", extend("format" = "date-time", "maxLength" = 64))]
    pub from_date: Option<Timestamp>,
    /// Only those that began then or earlier.
    #[schemars(with = "Option<String>", extend("format" = "date-time", "maxLength" = 64))]
    pub to_date: Option<Timestamp>,
    /// The size of a page.
    #[schemars(range(min = 1, max = 200), extend("default" = 50))]
    pub limit: Option<usize>,
    /// The `next` of the page before.
    #[schemars(length(max = 64))]
    pub before: Option<String>,
}

/// A page of sessions.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Page {
    /// Newest first.
    sessions: Vec<SessionSummary>,
    /// Send it as `before` to get the next page; there is none without it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    next: Option<SessionId>,
}

pub(super) async fn list(call: Call, asked: SessionsQuery) -> Result<Page, Problem> {
    let (sessions, limit) = (&call.app.sessions, asked.limit.unwrap_or(PAGE));
    let before = match &asked.before {
        Some(before) => {
            let known = sessions.authorize(&call.principal, Action::Read, before).await;
            let what = "unknown cursor; use the next of the page before, or leave before out";
            Some(known.map_err(|_| Problem::bad_request("unknown_cursor", what))?.id().clone())
        }
        None => None,
    };
    let selection = Selection {
        kind: asked.kind.map(Into::into),
        status: asked.status.map(Into::into),
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
    /// The turn.
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
    /// The turn.
    #[schemars(length(max = 64))]
    pub turn_id: String,
    /// The iteration, from 1.
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
        Problem::not_found(format!("there is no such iteration; this turn has 1 to {last}"))
    })
}

async fn find(
    call: &Call,
    session: &Authorized<SessionId>,
    turn: &str,
) -> Result<(TurnId, Context), Problem> {
    let unknown =
        || Problem::not_found("there is no such turn in this session; its events name all turns");
    let turn: TurnId = turn.parse().map_err(|_| unknown())?;
    let context = call.app.sessions.get(session).turn(&turn).await?.ok_or_else(unknown)?;
    Ok((turn, context))
}
