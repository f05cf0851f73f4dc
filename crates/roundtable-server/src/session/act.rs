//! Having something done in a session of any kind. The answer comes when the request is stored; what
//! it causes is read from the session's events.

use roundtable::core::MessageContext;
use roundtable::core::budget::Limits;
use roundtable::core::id::SessionId;
use roundtable::core::input::{Command, OnBusy, Say};
use roundtable::core::message::Attachment;

use roundtable::ports::Owner;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::provide::answers;
use crate::attachment::{self, NewAttachment};
use crate::debate::ask::Budget;
use crate::feed::Position;
use crate::operation::{Call, Nothing};
use crate::problem::Problem;
use crate::quota::Begin;
use crate::sessions::Authorized;
use crate::wire::{Answers, ContextResult};

/// A stored request.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CommandAnswer {
    pub session_id: SessionId,
    /// Message id. All events that the message causes carry it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message_id: Option<String>,
    /// Event position before the request takes effect. Pass it as `after` to read the events.
    pub position: String,
    /// Parts of the request that had no effect.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(default)]
    pub warnings: Vec<String>,
}

/// What to do if a round is running.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Busy {
    /// Wait until the running round is over.
    #[default]
    Queue,
    /// Refuse the request.
    Reject,
    /// Stop the running round. Partial answers are kept.
    Interrupt,
}

impl From<Busy> for OnBusy {
    fn from(busy: Busy) -> Self {
        match busy {
            Busy::Queue => Self::Queue,
            Busy::Reject => Self::Reject,
            Busy::Interrupt => Self::Interrupt,
        }
    }
}

/// A message to a session.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct SayRequest {
    /// The message.
    #[schemars(length(min = 1, max = 200000))]
    pub text: String,
    /// Name of the sender, shown to the agents.
    #[serde(default)]
    #[schemars(length(min = 1, max = 100), extend("default" = "User"))]
    pub sender: Option<String>,
    /// Images and text files that are sent with it.
    #[serde(default)]
    #[schemars(length(max = 16))]
    pub attachments: Vec<NewAttachment>,
    /// What to do if a round is running.
    #[serde(default)]
    pub on_busy: Busy,
    /// Answers to pending context requests. Every required request needs an answer.
    #[serde(default)]
    #[schemars(length(max = 4096))]
    pub context_results: Vec<ContextResult>,
    /// New budget of the whole session. Omitted limits stay unchanged.
    #[serde(default)]
    pub budget: Option<Budget>,
}

/// Request for the next round without a message.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct GoOnRequest {
    /// What to do if a round is running.
    #[serde(default)]
    pub on_busy: Busy,
    /// Answers to pending context requests. Every required request needs an answer.
    #[serde(default)]
    #[schemars(length(max = 4096))]
    pub context_results: Vec<ContextResult>,
    /// New budget of the whole session. Omitted limits stay unchanged.
    #[serde(default)]
    pub budget: Option<Budget>,
}

/// What opens a round.
struct Message {
    text: Option<String>,
    sender: Option<String>,
    on_busy: Busy,
    results: Vec<ContextResult>,
    limits: Option<Limits>,
    attachments: Vec<Attachment>,
}

pub(super) async fn say(
    call: Call,
    session: Authorized<SessionId>,
    asked: SayRequest,
) -> Result<CommandAnswer, Problem> {
    let message = Message {
        attachments: attachment::read(&asked.attachments)?,
        text: Some(asked.text),
        sender: asked.sender,
        on_busy: asked.on_busy,
        results: asked.context_results,
        limits: asked.budget.as_ref().map(Budget::limits),
    };
    open_round(call, session, message).await
}

pub(super) async fn go_on(
    call: Call,
    session: Authorized<SessionId>,
    asked: GoOnRequest,
) -> Result<CommandAnswer, Problem> {
    let message = Message {
        attachments: Vec::new(),
        text: None,
        sender: None,
        on_busy: asked.on_busy,
        results: asked.context_results,
        limits: asked.budget.as_ref().map(Budget::limits),
    };
    open_round(call, session, message).await
}

async fn open_round(
    call: Call,
    session: Authorized<SessionId>,
    message: Message,
) -> Result<CommandAnswer, Problem> {
    let Answers { results, warnings } = answers(&call.app, message.results)?;
    if !results.is_empty() {
        call.by.check(&call.app.sessions.get(&session).state().await?, &results)?;
    }
    let message_id = call.app.sessions.message_id(call.key.as_ref(), session.id());
    let say = Say {
        sender: message.sender.unwrap_or_else(|| "User".to_owned()),
        text: message.text,
        on_busy: message.on_busy.into(),
        results,
        limits: message.limits,
        ..Say::new(MessageContext::new(&message_id, session.id(), None)?)
    };
    let say = message.attachments.into_iter().fold(say, Say::with);
    let mut stored = begin_round(&call, &session, Command::Say(say)).await?;
    stored.message_id = Some(message_id);
    stored.warnings.splice(0..0, warnings);
    Ok(stored)
}

pub(super) async fn regenerate(
    call: Call,
    session: Authorized<SessionId>,
    _: Nothing,
) -> Result<CommandAnswer, Problem> {
    begin_round(&call, &session, Command::Regenerate).await
}

/// Sends a command that begins a round, as far as the limits allow it.
async fn begin_round(
    call: &Call,
    session: &Authorized<SessionId>,
    command: Command,
) -> Result<CommandAnswer, Problem> {
    let state = call.app.sessions.get(session).state().await?;
    let owner = Owner { tenant: state.tenant, actor: state.actor };
    let turn = call.app.admit(&owner, Begin::Round).await?;
    let stored = send(call, session, command).await;
    drop(turn);
    stored
}

/// Sends a command and answers when it is stored.
pub(super) async fn send(
    call: &Call,
    session: &Authorized<SessionId>,
    command: Command,
) -> Result<CommandAnswer, Problem> {
    let handle = call.app.sessions.get(session);
    let receipt = match &call.key {
        Some(key) => {
            let key = key.within(session.id());
            call.app.stored(handle.command_keyed(command, key)).await?
        }
        None => call.app.stored(handle.command(command)).await?,
    };
    Ok(CommandAnswer {
        session_id: session.id().clone(),
        message_id: None,
        position: Position::name(session.id(), receipt.after),
        warnings: receipt.warnings,
    })
}
