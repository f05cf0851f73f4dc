//! Messages with their ids: sending, and changing one that waits for its round.

use roundtable::chat::Message;
use roundtable::core::event::Seq;
use roundtable::core::id::{CommandId, SessionId};
use roundtable::core::input::Command;
use roundtable::ports::{CommandKey, Owner};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::attachment::{self, NewAttachment};
use crate::feed::Position;
use crate::key::Key;
use crate::operation::Call;
use crate::problem::Problem;
use crate::quota::Begin;
use crate::session::Busy;
use crate::sessions::{Authorized, NewConversation};

/// A message from a person.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct SendRequest {
    /// The message.
    #[schemars(length(min = 1, max = 200000))]
    pub content: String,
    /// Conversation id, or a name that the client chooses. An unknown name opens a conversation.
    /// Without a name, a new conversation is opened and its id is returned.
    #[serde(default)]
    #[schemars(length(min = 1, max = 64))]
    pub conversation_id: Option<String>,
    /// Message id. Sending the same id with the same content again has no effect.
    #[serde(default)]
    #[schemars(length(min = 1, max = 64))]
    pub message_id: Option<String>,
    /// Images and text files that are sent with it.
    #[serde(default)]
    #[schemars(length(max = 16))]
    pub attachments: Vec<NewAttachment>,
    /// Client metadata.
    #[serde(default)]
    pub metadata: Option<Metadata>,
    /// What to do if a round is running.
    #[serde(default)]
    pub on_busy: Busy,
}

/// Client metadata of a message.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Metadata {
    /// The turn that the message continues. Without it, the message starts a new turn.
    #[serde(default)]
    #[schemars(length(min = 1, max = 64))]
    pub turn_id: Option<String>,
}

/// A message that was stored.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Sent {
    /// The conversation id of the request, or the session id if the request had none.
    pub conversation_id: String,
    #[schemars(with = "String")]
    pub session_id: SessionId,
    /// Message id. All events that the message causes carry it.
    pub message_id: String,
    pub turn_id: String,
    /// Sequence number of the last event before the message takes effect.
    #[schemars(with = "u64")]
    pub after: Seq,
    /// The same as an event position. Pass it as `after` to read the events.
    pub position: String,
    /// Whether this request opened the conversation.
    pub created: bool,
    /// Parts of the request that had no effect.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(default)]
    pub warnings: Vec<String>,
}

pub(super) async fn send(call: Call, asked: SendRequest) -> Result<Sent, Problem> {
    let (sessions, caller) = (&call.app.sessions, &call.principal);
    // What cannot be sent opens no conversation.
    let attachments = attachment::read(&asked.attachments)?;
    let request = asked.message_id.clone().or(call.key.as_ref().map(|key| key.text().to_owned()));
    let name = asked.conversation_id.as_deref();
    let id = sessions.conversation_id(caller, name, request.as_deref())?;
    let message_id =
        asked.message_id.unwrap_or_else(|| sessions.message_id(call.key.as_ref(), &id));
    let turn_id = asked.metadata.and_then(|metadata| metadata.turn_id);
    // An id that the client chose is checked before anything is opened.
    let context = roundtable::core::MessageContext::new(&message_id, &id, turn_id.as_deref())?;
    let found = sessions.find_conversation(caller, &id).await?;
    // Under this key, the message itself opens the conversation.
    let key = CommandKey::from(CommandId::derive(id.as_str(), format_args!("open.{message_id}")));
    let (turn, session) = match found {
        Some(session) => (admit(&call, &session).await?, session),
        None if name.is_some_and(|name| name.starts_with(SessionId::PREFIX)) => {
            return Err(Problem::no_session(id.as_str()));
        }
        None => {
            let turn = call.app.admit(&caller.owner(), Begin::Session).await?;
            let opened =
                sessions.open_conversation(caller, &id, NewConversation::default(), key.clone());
            (turn, call.app.stored(opened).await?)
        }
    };
    let message = Message::new(context.clone(), asked.content).on_busy(asked.on_busy.into());
    let message = attachments.into_iter().fold(message, Message::attach);
    let (handle, digest) = (sessions.get(&session), call.key.as_ref().map(Key::digest));
    let receipt = call.app.stored(handle.send_request(message, digest)).await?;
    drop(turn);
    // A repeated request is answered as the first one was.
    let is_first = receipt.after == Seq(1);
    let created = is_first && handle.find_receipt(&key).await?.is_some();
    Ok(Sent {
        conversation_id: name.map_or_else(|| id.to_string(), str::to_owned),
        position: Position::name(&id, receipt.after),
        session_id: id,
        message_id,
        turn_id: context.turn_id().to_owned(),
        after: receipt.after,
        created,
        warnings: receipt.warnings,
    })
}

async fn admit<'a>(
    call: &'a Call,
    session: &Authorized<SessionId>,
) -> Result<Option<tokio::sync::MutexGuard<'a, ()>>, Problem> {
    let state = call.app.sessions.get(session).state().await?;
    let owner = Owner { tenant: state.tenant, actor: state.actor };
    call.app.admit(&owner, Begin::Round).await
}

/// New text for a queued message.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct EditRequest {
    /// The message.
    #[schemars(length(min = 1, max = 64))]
    pub message_id: String,
    /// The new text.
    #[schemars(length(min = 1, max = 200000))]
    pub content: String,
}

/// A queued message.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct WithdrawRequest {
    /// The message.
    #[schemars(length(min = 1, max = 64))]
    pub message_id: String,
}

/// A changed message.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Changed {
    #[schemars(with = "String")]
    pub session_id: SessionId,
    pub message_id: String,
    /// Sequence number of the change.
    #[schemars(with = "u64")]
    pub seq: Seq,
}

pub(super) async fn edit(
    call: Call,
    session: Authorized<SessionId>,
    asked: EditRequest,
) -> Result<Changed, Problem> {
    let EditRequest { message_id, content: text } = asked;
    let command = Command::Edit { message_id: message_id.clone(), text };
    change(call, session, message_id, command).await
}

pub(super) async fn withdraw(
    call: Call,
    session: Authorized<SessionId>,
    asked: WithdrawRequest,
) -> Result<Changed, Problem> {
    let command = Command::Withdraw { message_id: asked.message_id.clone() };
    change(call, session, asked.message_id, command).await
}

async fn change(
    call: Call,
    session: Authorized<SessionId>,
    message_id: String,
    command: Command,
) -> Result<Changed, Problem> {
    let handle = call.app.sessions.get(&session);
    let receipt = match call.key.as_ref().map(|key| key.within(session.id())) {
        Some(key) => call.app.stored(handle.command_keyed(command, key)).await?,
        None => call.app.stored(handle.command(command)).await?,
    };
    Ok(Changed { session_id: session.id().clone(), message_id, seq: receipt.seq })
}
