//! What clients ask for on a WebSocket, and what they are answered.

use std::sync::Arc;

use roundtable::core::event::Seq;
use roundtable::core::id::SessionId;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::encode::Wants;
use super::frame::{CONVERSATION, ClientFrame, Echo};
use super::subscription::Reading;
use crate::access::Pass;
use crate::app::App;
use crate::debate::{Caller, Silent};
use crate::feed;
use crate::operation::{Call, Target, Transport};
use crate::operations;
use crate::problem::Problem;
use crate::sessions::Authorized;

/// What the connection does when a request is done.
pub(super) enum Then {
    Nothing,
    /// Follow the conversation from an event on, unless it is followed already.
    Follow {
        conversation: String,
        session: Box<Authorized<SessionId>>,
        after: Seq,
    },
    /// Follow this feed in place of an earlier one.
    Replace(Box<Reading>),
    /// Stop following.
    Leave(String),
    /// The feed of a conversation that was reserved is open.
    Opened {
        reading: Box<Reading>,
        number: u64,
    },
    /// The feed of a conversation that was reserved cannot be opened.
    NotOpened {
        conversation: String,
        number: u64,
    },
}

/// A request that is done.
pub(super) struct Outcome {
    pub frames: Vec<Value>,
    pub then: Then,
}

impl Outcome {
    fn of(frame: Value) -> Self {
        Self { frames: vec![frame], then: Then::Nothing }
    }

    pub fn error(echo: &Echo, problem: &Problem) -> Self {
        Self::of(echo.error(problem))
    }
}

/// Request to follow a conversation.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Subscribe {
    #[schemars(length(min = 1, max = 64))]
    conversation_id: String,
    /// Sequence number of the last event that the client has. Default: only new events.
    #[serde(default)]
    from_seq: Option<u64>,
    /// Send all log events instead of messages, streams and tools.
    #[serde(default)]
    events: bool,
}

/// Request to stop following a conversation.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Unsubscribe {
    #[schemars(length(min = 1, max = 64))]
    conversation_id: String,
}

/// Handles a frame.
pub(super) async fn handle(app: App, pass: Pass, frame: ClientFrame) -> Outcome {
    let echo = frame.echo.clone();
    let done = match frame.kind.as_str() {
        "subscribe" => subscribe(&app, &pass, frame).await,
        "unsubscribe" => unsubscribe(&app, frame),
        _ => call(&app, &pass, frame).await,
    };
    done.unwrap_or_else(|problem| Outcome::error(&echo, &problem))
}

async fn subscribe(app: &App, pass: &Pass, frame: ClientFrame) -> Result<Outcome, Problem> {
    let asked: Subscribe = read(app, frame.fields)?;
    let name = &asked.conversation_id;
    let session = feed::authorize(app, pass, name).await?;
    let head = session.listed().head;
    let after = asked.from_seq.map_or(head, Seq);
    let wants = if asked.events { Wants::Events } else { Wants::Payloads };
    let reading = Reading::open(app, pass, name, &session, after, wants).await?;
    let answer = json!({
        "sessionId": session.id(),
        "fromSeq": after,
        "headSeq": head,
        "ended": reading.is_over(),
    });
    let frames = vec![frame.echo.answer("subscribed", object(answer))];
    Ok(Outcome { frames, then: Then::Replace(Box::new(reading)) })
}

fn unsubscribe(app: &App, frame: ClientFrame) -> Result<Outcome, Problem> {
    let asked: Unsubscribe = read(app, frame.fields)?;
    let frames = vec![frame.echo.answer("unsubscribed", Map::new())];
    Ok(Outcome { frames, then: Then::Leave(asked.conversation_id) })
}

fn read<T>(app: &App, fields: Map<String, Value>) -> Result<T, Problem>
where
    T: serde::de::DeserializeOwned + JsonSchema + 'static,
{
    app.schemas.read(&Value::Object(fields)).map_err(|misfit| {
        let what = format!("invalid frame: {}", misfit.what);
        Problem::bad_request(misfit.reason, what)
    })
}

/// Calls an operation of the table.
async fn call(app: &App, pass: &Pass, mut frame: ClientFrame) -> Result<Outcome, Problem> {
    if frame.kind == "interaction-response" {
        answer_request(&mut frame)?;
    }
    let operation = operations::find(Transport::WebSocket, &frame.kind)?;
    if operation.target == Target::Session {
        frame.name_session();
    }
    let principal = pass.principal().clone();
    let call = Call::new(app.clone(), principal, Caller::WebSocket, Arc::new(Silent::default()));
    let envelope = operation.envelope(None, std::mem::take(&mut frame.fields));
    let answer = object(operation.call(call, envelope).await?.into_value()?);
    let follow = match frame.kind.as_str() {
        "message" => Some((conversation_of(&answer), answer["after"].as_u64())),
        "new-conversation" => Some((conversation_of(&answer), answer["seq"].as_u64())),
        _ => None,
    };
    let Some((Some(conversation), Some(after))) = follow else {
        return Ok(Outcome::of(frame.echo.answer("ack", answer)));
    };
    let session = feed::authorize(app, pass, &conversation).await?;
    let created = answer["created"] == true;
    let opened = created.then(|| {
        json!({
            "type": "conversation_created",
            "conversationId": conversation,
            "sessionId": session.id(),
            "messageId": answer.get("messageId"),
            "turnId": answer.get("turnId"),
        })
    });
    let frames = opened.into_iter().chain([frame.echo.answer("ack", answer)]).collect();
    Ok(Outcome {
        frames,
        then: Then::Follow { conversation, session: Box::new(session), after: Seq(after) },
    })
}

fn conversation_of(answer: &Map<String, Value>) -> Option<String> {
    answer.get(CONVERSATION).and_then(Value::as_str).map(str::to_owned)
}

/// The answer to one request, as the operation that takes many expects it.
fn answer_request(frame: &mut ClientFrame) -> Result<(), Problem> {
    let mut result = Map::new();
    for name in ["requestId", "success", "decision", "result", "error"] {
        if let Some(value) = frame.fields.remove(name) {
            result.insert(name.to_owned(), value);
        }
    }
    if !result.contains_key("requestId") {
        return Err(Problem::bad_request("invalid", "invalid frame: missing field `requestId`"));
    }
    let is_answer = result.contains_key("result") && !result.contains_key("success");
    if is_answer && !result.contains_key("decision") {
        result.insert("success".to_owned(), true.into());
    }
    frame.fields.insert("contextResults".to_owned(), json!([result]));
    frame.kind = "provide".to_owned();
    Ok(())
}

fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(fields) => fields,
        other => Map::from_iter([("result".to_owned(), other)]),
    }
}

/// Opens the feed of a conversation that the client has sent something to.
pub(super) async fn follow(
    app: App,
    pass: Pass,
    conversation: String,
    session: Authorized<SessionId>,
    after: Seq,
    number: u64,
) -> Outcome {
    let opened = Reading::open(&app, &pass, &conversation, &session, after, Wants::Payloads).await;
    match opened {
        Ok(reading) => {
            let then = Then::Opened { reading: Box::new(reading), number };
            Outcome { frames: Vec::new(), then }
        }
        Err(problem) => {
            let ended = json!({
                "type": "subscription_ended",
                "conversationId": conversation,
                "reason": problem.body.reason,
                "error": problem.body.error,
                "resumeFrom": after,
            });
            Outcome { frames: vec![ended], then: Then::NotOpened { conversation, number } }
        }
    }
}
