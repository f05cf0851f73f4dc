//! Changing what a session is: whether it goes on, which takes count, what it is called, whether it is
//! there.

use roundtable::core::event::{Body, Change, Event, Origin, RoundEvent, Seq};
use roundtable::core::id::{RoundId, SessionId};
use roundtable::core::input::Command;
use roundtable::ports::Owner;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::act::{CommandAnswer, send};
use crate::operation::{Call, Nothing};
use crate::problem::Problem;
use crate::quota::Begin;
use crate::sessions::Authorized;
use crate::wire::SessionDetail;

type Session = Authorized<SessionId>;

pub(super) async fn stop(
    call: Call,
    session: Session,
    _: Nothing,
) -> Result<CommandAnswer, Problem> {
    send(&call, &session, Command::Stop).await
}

pub(super) async fn pause(
    call: Call,
    session: Session,
    _: Nothing,
) -> Result<CommandAnswer, Problem> {
    send(&call, &session, Command::Pause).await
}

pub(super) async fn resume(
    call: Call,
    session: Session,
    _: Nothing,
) -> Result<CommandAnswer, Problem> {
    send(&call, &session, Command::Resume).await
}

/// Request to end a session.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct CompleteRequest {
    /// Why the session ends.
    #[serde(default)]
    #[schemars(length(min = 1, max = 1000))]
    pub reason: Option<String>,
}

pub(super) async fn complete(
    call: Call,
    session: Session,
    asked: CompleteRequest,
) -> Result<CommandAnswer, Problem> {
    let reason = asked.reason.unwrap_or_else(|| "ended by the client".to_owned());
    send(&call, &session, Command::Complete { reason }).await
}

/// The first round to deactivate.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct RewindRequest {
    /// The first round to deactivate.
    #[schemars(range(min = 1))]
    pub round_number: u32,
}

pub(super) async fn rewind(
    call: Call,
    session: Session,
    asked: RewindRequest,
) -> Result<CommandAnswer, Problem> {
    send(&call, &session, Command::Rewind { number: asked.round_number }).await
}

/// The take of a round to activate.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct TakeRequest {
    #[schemars(range(min = 1))]
    pub round_number: u32,
    /// Take number, from 1.
    #[schemars(range(min = 1))]
    pub take: u32,
}

pub(super) async fn select_take(
    call: Call,
    session: Session,
    asked: TakeRequest,
) -> Result<CommandAnswer, Problem> {
    let TakeRequest { round_number: number, take } = asked;
    send(&call, &session, Command::SelectTake { number, take }).await
}

/// New title of a session.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct RenameRequest {
    /// Title shown in lists. Agents do not see it, and the topic stays unchanged.
    #[schemars(length(min = 1, max = 200))]
    pub title: String,
}

pub(super) async fn rename(
    call: Call,
    session: Session,
    asked: RenameRequest,
) -> Result<CommandAnswer, Problem> {
    let change = Change { title: Some(asked.title), archived: None };
    send(&call, &session, Command::Change(change)).await
}

/// Whether a session is archived.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ArchiveRequest {
    /// Whether lists hide the session by default.
    #[serde(default)]
    #[schemars(extend("default" = true))]
    pub archived: Option<bool>,
}

pub(super) async fn archive(
    call: Call,
    session: Session,
    asked: ArchiveRequest,
) -> Result<CommandAnswer, Problem> {
    let change = Change { title: None, archived: Some(asked.archived.unwrap_or(true)) };
    send(&call, &session, Command::Change(change)).await
}

/// Request to fork a session.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct ForkRequest {
    /// The last round that both sessions share. Default: the last finished round.
    #[serde(default)]
    #[schemars(range(min = 1))]
    pub after_round: Option<u32>,
}

pub(super) async fn fork(
    call: Call,
    session: Session,
    asked: ForkRequest,
) -> Result<SessionDetail, Problem> {
    let sessions = &call.app.sessions;
    let (id, key) = sessions.fork_id(call.key.as_ref(), session.id())?;
    let origin = sessions.get(&session);
    let state = origin.state().await?;
    let seq = match (asked.after_round, &state.round) {
        (None, None) => state.head,
        (number, _) => end_of_round(&origin.log().await?, number)?,
    };
    let owner = Owner { tenant: state.tenant, actor: state.actor };
    let turn = call.app.admit(&owner, Begin::Session).await?;
    let origin = Origin { session: session.id().clone(), seq };
    let forked = call.app.stored(sessions.fork(&call.principal, id, origin, key)).await?;
    drop(turn);
    let state = sessions.get(&forked).state().await?;
    Ok(SessionDetail::of(forked.listed(), &state))
}

/// The last event of a round: of the take that was run last.
fn end_of_round(log: &[std::sync::Arc<Event>], number: Option<u32>) -> Result<Seq, Problem> {
    let mut wanted: Option<&RoundId> = None;
    let mut end = None;
    for event in log {
        match &event.body {
            Body::Round(RoundEvent::RoundOpened { number: opened, .. })
                if number.is_none_or(|number| number == *opened) =>
            {
                wanted = event.place.round.as_ref();
            }
            Body::Round(RoundEvent::RoundClosed { .. })
                if wanted.is_some() && event.place.round.as_ref() == wanted =>
            {
                end = Some(event.seq);
            }
            _ => {}
        }
    }
    end.ok_or_else(|| {
        let what = "the round does not exist or is not finished; currentRound of the session is the last finished round";
        Problem::not_found(what)
    })
}

/// A deleted session.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct DeleteAnswer {
    pub session_id: SessionId,
    pub deleted: bool,
}

pub(super) async fn delete(
    call: Call,
    session: Session,
    _: Nothing,
) -> Result<DeleteAnswer, Problem> {
    call.app.stored(call.app.sessions.delete(&session)).await?;
    Ok(DeleteAnswer { session_id: session.id().clone(), deleted: true })
}
