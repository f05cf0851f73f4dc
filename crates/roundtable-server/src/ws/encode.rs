//! A feed as frames of a WebSocket. Everything that a message causes carries the ids of that message.

mod model;
mod session;
mod tool;

use std::collections::HashSet;
use std::sync::Arc;

use roundtable::Session;
use roundtable::core::MessageContext;
use roundtable::core::event::{Body, Event, Seq};
use roundtable::driver::Delta;
use serde_json::{Map, Value, json};

use crate::camel;
use crate::chat::stream_id;
use crate::feed::Frame;
use crate::problem::Problem;
use crate::scopes::{Scopes, TurnScope};

/// What a subscriber wants to be sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wants {
    /// Messages, streams, tools and requests.
    Payloads,
    /// Every event of the log, and what is being said.
    Events,
}

/// Encodes the feed of one session for one subscriber.
pub(super) struct Encoder {
    /// The conversation, as the subscriber calls it.
    conversation: Arc<str>,
    session: Session,
    wants: Wants,
    scopes: Scopes,
    /// The last event that the subscriber has.
    seen: Seq,
    /// The streams whose start or text so far was sent.
    streams: HashSet<String>,
}

/// A payload that is being put together.
struct Payload(Map<String, Value>);

impl Payload {
    fn new(kind: &str) -> Self {
        Self(Map::from_iter([("type".to_owned(), kind.into())]))
    }

    fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.0.insert(name.to_owned(), value.into());
        self
    }

    /// The same with a value, if there is one.
    fn maybe(self, name: &str, value: Option<impl Into<Value>>) -> Self {
        match value {
            Some(value) => self.with(name, value),
            None => self,
        }
    }

    /// The same with the agent of a turn.
    fn by(self, turn: Option<&TurnScope>) -> Self {
        let Some(turn) = turn else { return self };
        let parent = turn.parent.as_ref().map(|parent| parent.as_str());
        self.with("agentId", turn.agent.as_str())
            .with("agentType", turn.agent.suffix())
            .maybe("parentAgentId", parent)
    }
}

impl Encoder {
    /// For a subscriber who has all up to an event.
    pub fn new(conversation: &str, session: Session, wants: Wants, seen: Seq) -> Self {
        let (scopes, streams) = (Scopes::default(), HashSet::new());
        Self { conversation: conversation.into(), session, wants, scopes, seen, streams }
    }

    /// The frames that a piece of the feed becomes.
    pub async fn encode(&mut self, frame: &Frame) -> Result<Vec<Value>, Problem> {
        match frame {
            Frame::Event(event) => self.event(event).await,
            Frame::Delta(delta, _) => self.delta(delta).await,
            Frame::End { reason, resume_from } => {
                let end = Payload::new("subscription_ended").with("reason", reason.word());
                Ok(vec![self.finish(end.with("resumeFrom", resume_from.0), None, None)])
            }
        }
    }

    /// The end of a subscription whose log cannot be read any more.
    pub fn unavailable(&self, problem: &Problem) -> Value {
        let end = Payload::new("subscription_ended")
            .with("reason", "unavailable")
            .with("error", problem.body.error.as_str());
        self.finish(end.with("resumeFrom", self.seen.0), None, None)
    }

    async fn event(&mut self, event: &Event) -> Result<Vec<Value>, Problem> {
        let context = self.scopes.enter(&self.session, event).await?;
        let payloads = match self.wants {
            Wants::Events => {
                let Value::Object(event) = camel::event(event) else { return Ok(Vec::new()) };
                let mut payload = Payload(event);
                payload.0.insert("type".to_owned(), "event".into());
                vec![payload]
            }
            Wants::Payloads => self.payloads(event).await?,
        };
        self.note_streams(event);
        self.scopes.leave(event);
        self.seen = event.seq;
        let finish = |payload| self.finish(payload, context.as_ref(), Some(event.seq));
        Ok(payloads.into_iter().map(finish).collect())
    }

    async fn payloads(&self, event: &Event) -> Result<Vec<Payload>, Problem> {
        Ok(match &event.body {
            Body::Session(body) => session::payloads(event, body),
            Body::Round(body) => {
                session::round(body, self.scopes.round(event.place.round.as_ref()))
            }
            Body::Turn(body) => self.turn(event, body).await?,
            Body::Iteration(body) => self.model_call(event, body),
            Body::ToolCall(body) => self.tool_call(event, body),
            Body::Context(body) => session::request(body),
            Body::Unknown { .. } | Body::Redacted => Vec::new(),
        })
    }

    async fn delta(&mut self, delta: &Delta) -> Result<Vec<Value>, Problem> {
        if self.scopes.turn_of(&delta.iteration).is_none() {
            // The call began before this subscription did.
            let began = self.session.read(delta.since, 1).await?;
            if let Some(round) = began.first().and_then(|event| event.place.round.as_ref()) {
                self.scopes.recall_round(&self.session, round, self.seen.next()).await?;
            }
        }
        let Some((turn_id, turn)) = self.scopes.turn_of(&delta.iteration) else {
            return Ok(Vec::new());
        };
        if !turn.is_shown && self.wants == Wants::Payloads {
            return Ok(Vec::new());
        }
        let stream = stream_id(&delta.iteration, delta.attempt);
        let (kind, text) = match self.streams.contains(&stream) {
            true => ("stream_chunk", "chunk"),
            false => ("stream_resume", "content"),
        };
        let payload = Payload::new(kind)
            .with("streamId", stream.as_str())
            .with("offset", delta.offset)
            .with(text, delta.text.as_str())
            .with("agentTurnId", turn_id.as_str())
            .by(Some(turn));
        let context = self.scopes.context_of(turn).cloned();
        self.streams.insert(stream);
        Ok(vec![self.finish(payload, context.as_ref(), None)])
    }

    fn finish(
        &self,
        payload: Payload,
        context: Option<&MessageContext>,
        seq: Option<Seq>,
    ) -> Value {
        let Payload(mut payload) = payload;
        payload.insert("conversationId".to_owned(), json!(self.conversation));
        if let Some(context) = context {
            payload.insert("messageId".to_owned(), context.message_id().into());
            payload.insert("turnId".to_owned(), context.turn_id().into());
        }
        if let Some(seq) = seq {
            payload.insert("seq".to_owned(), seq.0.into());
        }
        Value::Object(payload)
    }
}
