//! Parts of a session as programs outside read them: names in camel case, money in dollars. The log
//! has a form of its own for each.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::Value;

use crate::budget::{Account, Spend};
use crate::context_request::{self as core, Priority, RequestKind};
use crate::digest::Digest;
use crate::id::{AgentId, ContextRequestId};

/// Usage: model calls, tokens and cost.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct Usage {
    /// Requests to providers, including retries and failed requests.
    pub calls: u64,
    /// Tokens of prompts and replies.
    pub tokens: u64,
    /// Cost in dollars. Null if a price is unknown.
    pub cost: Option<f64>,
    /// Whether part of the usage is estimated because a provider did not report it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[schemars(default)]
    pub estimated: bool,
}

impl From<&Account> for Usage {
    fn from(account: &Account) -> Self {
        let Spend { calls, tokens, cost } = account.spent;
        let cost = (!account.unpriced).then(|| dollars(cost));
        Self { calls, tokens, cost, estimated: account.estimated }
    }
}

/// Millionths of a dollar as dollars.
#[expect(clippy::cast_precision_loss, reason = "dollars for people")]
pub fn dollars(cost: u64) -> f64 {
    cost as f64 / 1e6
}

/// The tool call to decide on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RequestedCall {
    /// The tool.
    pub tool: String,
    /// All arguments. Absent only for an unknown outcome with more than 64 KiB of arguments.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub arguments: Option<Value>,
    /// SHA-256 digest of tool name and arguments.
    #[schemars(with = "String")]
    pub digest: Digest,
}

/// A context request of an agent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ContextRequest {
    /// Request id. Send it in contextResults.
    pub id: ContextRequestId,
    /// Kind of a context request. It determines the form of the answer.
    pub kind: RequestKind,
    /// Id of the agent that asks.
    pub agent_id: AgentId,
    /// Name of the agent. Present for tool calls.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent_name: Option<String>,
    /// The tool call. Absent for questions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub call: Option<RequestedCall>,
    /// The question.
    pub query: String,
    /// Why the agent asks.
    pub reason: String,
    /// Required requests block the next round.
    pub priority: Priority,
    /// When it was raised.
    pub timestamp: Timestamp,
}

impl From<&core::ContextRequest> for ContextRequest {
    fn from(request: &core::ContextRequest) -> Self {
        let call = request.about.call();
        Self {
            id: request.id.clone(),
            kind: request.kind(),
            agent_id: request.agent.clone(),
            agent_name: call.map(|call| call.agent_name.clone()),
            call: call.map(|call| RequestedCall {
                tool: call.tool.clone(),
                arguments: call.arguments.clone(),
                digest: call.digest.clone(),
            }),
            query: request.query.clone(),
            reason: request.reason.clone(),
            priority: request.priority,
            timestamp: request.at,
        }
    }
}

/// Writes requests of the log in this form: for `serialize_with`.
///
/// # Errors
/// Those of the serializer.
pub fn context_requests<S: Serializer>(
    requests: &[core::ContextRequest],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(requests.iter().map(ContextRequest::from))
}
