//! Opening a conversation before the first message.

use roundtable::core::event::Seq;
use roundtable::core::id::{CommandId, SessionId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::operation::Call;
use crate::problem::Problem;
use crate::quota::Begin;
use crate::sessions::NewConversation;

/// Request to open a conversation.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub(crate) struct OpenRequest {
    /// Name of the conversation, unique within the tenant.
    #[schemars(length(min = 1, max = 64))]
    pub conversation_id: Option<String>,
    /// Title shown in lists. Without it, a title is generated after the first round.
    #[schemars(length(min = 1, max = 200))]
    pub title: Option<String>,
    /// Ids of configured agents. The first agent is the supervisor and may delegate to the others.
    /// Without ids, the standard team answers.
    #[schemars(length(max = 32), inner(length(max = 64)))]
    pub agents: Vec<String>,
}

/// An open conversation.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct OpenedConversation {
    /// The conversation id of the request, or the session id if the request had none.
    pub conversation_id: String,
    #[schemars(with = "String")]
    pub session_id: SessionId,
    pub title: String,
    /// Whether this request opened it. False if it was already open.
    pub created: bool,
    /// Sequence number of the last event.
    #[schemars(with = "u64")]
    pub seq: Seq,
}

pub(super) async fn open(call: Call, asked: OpenRequest) -> Result<OpenedConversation, Problem> {
    let (sessions, caller) = (&call.app.sessions, &call.principal);
    let name = asked.conversation_id;
    if name.as_deref().is_some_and(|name| name.starts_with(SessionId::PREFIX)) {
        let what = "a conversation name cannot begin with \"ses_\", the prefix of session ids";
        return Err(Problem::bad_request("invalid", what));
    }
    let request = call.key.as_ref().map(|key| key.text());
    let id = sessions.conversation_id(caller, name.as_deref(), request)?;
    let key = call.key.as_ref().map(|key| key.within(&id));
    let (session, created) = match (sessions.find_conversation(caller, &id).await?, key) {
        (Some(session), None) => (session, false),
        (Some(session), Some(key)) => {
            // A repeated request is answered as the first one was.
            let first = sessions.get(&session).find_receipt(&key).await?;
            (session, first.is_some())
        }
        (None, key) => {
            let turn = call.app.admit(&caller.owner(), Begin::Session).await?;
            let key = key.unwrap_or_else(|| CommandId::derive(id.as_str(), "open").into());
            let new = NewConversation { title: asked.title, agents: asked.agents };
            let opened = sessions.open_conversation(caller, &id, new, key);
            let opened = call.app.stored(opened).await?;
            drop(turn);
            (opened, true)
        }
    };
    let listed = session.listed();
    Ok(OpenedConversation {
        conversation_id: name.unwrap_or_else(|| id.to_string()),
        title: listed.summary.topic.clone(),
        seq: listed.head,
        session_id: id,
        created,
    })
}
