//! The messages of a session, page by page. A cursor is a place in the log, so a page costs as much as
//! it has, however long the session is.

use std::sync::Arc;

use roundtable::Session;
use roundtable::core::event::{
    Body, Event, IterationEvent, MessageRef, RoundEvent, Seq, SessionEvent, TurnEvent, TurnOutcome,
};
use roundtable::core::id::{AgentId, SessionId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::attachment::{self, AttachmentEntry};
use crate::operation::Call;
use crate::problem::Problem;
use crate::scopes::Scopes;
use crate::sessions::Authorized;

/// How many messages a page has when the request does not set a limit.
const PAGE: usize = 50;

/// How many events are read at once.
const READ: u64 = 256;

/// Filters and pages of messages. Without a cursor, the newest messages are returned.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub(crate) struct MessagesQuery {
    /// Return messages before this `seq`.
    #[schemars(range(min = 1))]
    pub before: Option<u32>,
    /// Return messages after this `seq`.
    pub after: Option<u32>,
    /// Return messages around this `seq`, including the message itself.
    #[schemars(range(min = 1))]
    pub around: Option<u32>,
    /// Page size.
    #[schemars(range(min = 1, max = 100), extend("default" = 50))]
    pub limit: Option<usize>,
}

/// A page of messages.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Messages {
    /// Oldest first.
    pub messages: Vec<MessageEntry>,
    /// Cursor of the previous page: send it as `before`. Absent on the first page.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<u64>")]
    pub before: Option<Seq>,
    /// Cursor of the next page: send it as `after`. Absent on the last page.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<u64>")]
    pub after: Option<Seq>,
}

/// The author of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum MessageRole {
    User,
    Assistant,
}

/// How complete a message is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum MessageStatus {
    Completed,
    /// The answer was stopped. The text is incomplete.
    Stopped,
    /// The budget was exhausted. The text is incomplete.
    Partial,
    Failed,
}

/// A message.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct MessageEntry {
    /// Sequence number in the log. It is also the cursor.
    #[schemars(with = "u64")]
    pub seq: Seq,
    /// Message number in the session.
    pub number: u64,
    pub role: MessageRole,
    pub content: String,
    /// Its images and files.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(default)]
    pub attachments: Vec<AttachmentEntry>,
    pub status: MessageStatus,
    /// Name of the person who sent it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sender: Option<String>,
    /// Id of the agent who sent it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub agent_id: Option<AgentId>,
    pub round_number: u32,
    /// The take of the round that it belongs to. Regenerating a round adds a take.
    pub take: u32,
    /// Id of the message that started the turn.
    pub message_id: String,
    pub turn_id: String,
    pub at: String,
}

pub(super) async fn list(
    call: Call,
    session: Authorized<SessionId>,
    asked: MessagesQuery,
) -> Result<Messages, Problem> {
    let given = [asked.before, asked.after, asked.around];
    if given.iter().flatten().count() > 1 {
        let what = "before, after and around are mutually exclusive; send one of them";
        return Err(Problem::bad_request("invalid", what));
    }
    let limit = asked.limit.unwrap_or(PAGE);
    let (head, log) = (session.listed().head, Log(call.app.sessions.get(&session)));
    let seq = |cursor: u32| Seq(u64::from(cursor));
    // One more than asked for says whether there is another page.
    let (mut earlier, mut later) = match (asked.after, asked.around) {
        (Some(after), _) => (Vec::new(), log.after(seq(after), head, limit + 1).await?),
        (None, Some(around)) => {
            let half = limit.div_ceil(2);
            let earlier = log.before(seq(around).next(), half + 1).await?;
            (earlier, log.after(seq(around), head, limit - half + 1).await?)
        }
        (None, None) => {
            let end = asked.before.map_or(head.next(), seq);
            (log.before(end.min(head.next()), limit + 1).await?, Vec::new())
        }
    };
    let room = |is_around: bool, own: usize| if is_around { own } else { limit };
    let is_around = asked.around.is_some();
    let has_before = earlier.len() > room(is_around, limit.div_ceil(2));
    let has_after = later.len() > room(is_around, limit - limit.div_ceil(2));
    if has_before {
        earlier.remove(0);
    }
    if has_after {
        later.pop();
    }
    earlier.extend(later);
    let messages = log.entries(&earlier).await?;
    // A page that was asked for by a cursor has messages on the other side of it.
    let before = messages.first().map(|it| it.seq).filter(|_| has_before || asked.after.is_some());
    let after = messages.last().map(|it| it.seq).filter(|_| has_after || asked.before.is_some());
    Ok(Messages { before, after, messages })
}

struct Log(Session);

impl Log {
    async fn read(&self, from: Seq, count: u64) -> Result<Vec<Arc<Event>>, Problem> {
        let count = usize::try_from(count).unwrap_or(usize::MAX);
        Ok(self.0.read(from, count).await?)
    }

    /// The last messages before a place, oldest first.
    async fn before(&self, end: Seq, count: usize) -> Result<Vec<Arc<Event>>, Problem> {
        let (mut found, mut end) = (Vec::new(), end.0);
        while end > 1 && found.len() < count {
            let from = end.saturating_sub(READ).max(1);
            let page = self.read(Seq(from), end - from).await?;
            let own = page.into_iter().filter(|event| event.seq.0 < end && said(event).is_some());
            found.extend(own.rev().take(count - found.len()));
            end = from;
        }
        found.reverse();
        Ok(found)
    }

    /// The first messages after a place.
    async fn after(&self, start: Seq, head: Seq, count: usize) -> Result<Vec<Arc<Event>>, Problem> {
        let (mut found, mut next) = (Vec::new(), start.next());
        while next <= head && found.len() < count {
            let page = self.read(next, READ).await?;
            let Some(last) = page.last() else { break };
            next = last.seq.next();
            let own = page.into_iter().filter(|event| said(event).is_some());
            found.extend(own.take(count - found.len()));
        }
        Ok(found)
    }

    /// The messages of these events, which are in order.
    async fn entries(&self, events: &[Arc<Event>]) -> Result<Vec<MessageEntry>, Problem> {
        let (mut entries, mut scopes) = (Vec::new(), Scopes::default());
        let (Some(first), Some(last)) = (events.first(), events.last()) else {
            return Ok(entries);
        };
        let mut next = first.seq;
        while next <= last.seq {
            let page = self.read(next, READ.min(last.seq.0 - next.0 + 1)).await?;
            let Some(end) = page.last() else { break };
            next = end.seq.next();
            for event in page.iter().filter(|event| event.seq <= last.seq) {
                scopes.enter(&self.0, event).await?;
                if let Some(said) = said(event) {
                    entries.extend(self.entry(&scopes, event, said).await?);
                }
                scopes.leave(event);
            }
        }
        Ok(entries)
    }

    async fn entry(
        &self,
        scopes: &Scopes,
        event: &Event,
        said: MessageRef,
    ) -> Result<Option<MessageEntry>, Problem> {
        let Some(round) = scopes.round(event.place.round.as_ref()) else { return Ok(None) };
        let text = self.read(said.seq, 1).await?;
        let (content, sender) = text.first().map(|event| words(event)).unwrap_or_default();
        let attachments = text.first().map(|event| attachment::list(event)).unwrap_or_default();
        let agent = scopes.turn(event.place.turn.as_ref()).map(|turn| turn.agent.clone());
        let (role, status) = match &event.body {
            Body::Turn(TurnEvent::TurnEnded { outcome, .. }) => {
                (MessageRole::Assistant, MessageStatus::of(outcome))
            }
            _ => (MessageRole::User, MessageStatus::Completed),
        };
        Ok(Some(MessageEntry {
            seq: event.seq,
            number: said.number,
            role,
            content,
            attachments,
            status,
            sender,
            agent_id: agent.filter(|_| role == MessageRole::Assistant),
            round_number: round.number.unwrap_or_default(),
            take: round.take,
            message_id: round.context.message_id().to_owned(),
            turn_id: round.context.turn_id().to_owned(),
            at: event.at.to_string(),
        }))
    }
}

impl MessageStatus {
    fn of(outcome: &TurnOutcome) -> Self {
        match outcome {
            TurnOutcome::Answered => Self::Completed,
            TurnOutcome::Cancelled => Self::Stopped,
            TurnOutcome::Exhausted { .. } => Self::Partial,
            TurnOutcome::Failed { .. } => Self::Failed,
        }
    }
}

/// The message that an event is, if it is one.
fn said(event: &Event) -> Option<MessageRef> {
    match &event.body {
        Body::Round(RoundEvent::RoundOpened { said, .. })
        | Body::Turn(TurnEvent::TurnEnded { said, .. }) => *said,
        _ => None,
    }
}

/// The text of an event, and the person who said it.
fn words(event: &Event) -> (String, Option<String>) {
    match &event.body {
        Body::Session(
            SessionEvent::SessionInputAccepted(input) | SessionEvent::SessionInputEdited(input),
        ) => (input.text.clone().unwrap_or_default(), Some(input.sender.clone())),
        Body::Iteration(IterationEvent::ModelCallFinished { text, .. }) => (text.clone(), None),
        Body::Iteration(IterationEvent::ModelCallCancelled { partial, .. }) => {
            (partial.clone(), None)
        }
        _ => (String::new(), None),
    }
}
