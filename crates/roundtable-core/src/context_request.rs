//! Information that an agent asks for, and its life: raised, pending, answered or withdrawn.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::delegation::{check_length, misfit};
use crate::digest::Digest;
use crate::id::{AgentId, ContextRequestId, ToolCallId};

/// How many characters a question may have.
pub const MAX_QUESTION: usize = 1000;

/// How many characters the reason for a question may have.
pub const MAX_REASON: usize = 500;

/// Priority of a context request.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Priority {
    /// The next round waits for it.
    #[default]
    Required,
    /// The session continues without it.
    Optional,
}

/// What the request is about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "about", rename_all = "snake_case")]
pub enum About {
    /// Something an agent wants to know. The answer comes with the next round.
    Information,
    /// A question of an agent. Its turn waits for the answer.
    Question {
        /// The call that waits for the answer.
        tool_call: ToolCallId,
    },
    /// May this tool call be run?
    Approval {
        /// The call that waits.
        tool_call: ToolCallId,
        /// What would be run. Requests of earlier versions do not have it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        call: Option<Box<CallDetails>>,
    },
    /// Did this tool call take effect? Until it is answered, the same tool with equal arguments
    /// is refused.
    Outcome {
        /// The call in question.
        tool_call: ToolCallId,
        /// Tool name and arguments.
        action: Digest,
        /// What was run. Requests of earlier versions do not have it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        call: Option<Box<CallDetails>>,
    },
}

/// A tool call as the person who decides on it reads it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallDetails {
    /// The name of the agent that asked for the call.
    pub agent_name: String,
    /// The tool.
    pub tool: String,
    /// All arguments. Missing only for an unknown outcome with more than
    /// [`CallDetails::MAX_BYTES`] of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arguments: Option<Value>,
    /// The digest of tool and arguments: equal calls have equal digests.
    pub digest: Digest,
}

impl CallDetails {
    /// How many bytes of arguments a request can show. More is nothing that a person can check.
    pub const MAX_BYTES: usize = 64 * 1024;
}

/// Kind of a context request. It determines the form of the answer.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum RequestKind {
    /// A question. Answer with success and result, or error.
    Question,
    /// Approval of a tool call. Answer with the decision approve or deny.
    Approval,
    /// Outcome of a tool call that was interrupted. Answer with the decision happened,
    /// did_not_happen or unknown.
    UnknownOutcome,
}

impl RequestKind {
    /// The decisions that answer such a request; none for a question.
    pub fn decisions(self) -> &'static [Decision] {
        match self {
            Self::Question => &[],
            Self::Approval => &[Decision::Approve, Decision::Deny],
            Self::UnknownOutcome => {
                &[Decision::Happened, Decision::DidNotHappen, Decision::Unknown]
            }
        }
    }

    fn noun(self) -> &'static str {
        match self {
            Self::Question => "a question",
            Self::Approval => "an approval",
            Self::UnknownOutcome => "an unknown outcome",
        }
    }
}

/// A decision on a tool call.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Decision {
    /// The call may be run, once.
    Approve,
    /// The call must not be run.
    Deny,
    /// The call took effect.
    Happened,
    /// The call had no effect.
    DidNotHappen,
    /// Nobody can tell.
    Unknown,
}

impl Decision {
    /// The word for it on every transport.
    pub fn word(self) -> &'static str {
        match self {
            Self::Approve => "approve",
            Self::Deny => "deny",
            Self::Happened => "happened",
            Self::DidNotHappen => "did_not_happen",
            Self::Unknown => "unknown",
        }
    }

    /// What it means for the agents.
    fn sentence(self) -> &'static str {
        match self {
            Self::Approve => "approved",
            Self::Deny => "denied",
            Self::Happened => "It happened: the call took effect. Do not repeat it.",
            Self::DidNotHappen => "It did not happen: the call had no effect.",
            Self::Unknown => {
                "It is unknown whether the call took effect. Check before you repeat it."
            }
        }
    }
}

/// A request (R000-2).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ContextRequest {
    /// Its id.
    pub id: ContextRequestId,
    /// The agent whose tool call raised it.
    #[serde(alias = "agentId")]
    pub agent: AgentId,
    /// The question.
    pub query: String,
    /// Why the agent asks.
    pub reason: String,
    /// Whether the session waits for it.
    pub priority: Priority,
    /// What it is about.
    #[serde(flatten)]
    pub about: About,
    /// When it was raised.
    #[serde(alias = "timestamp")]
    pub at: Timestamp,
}

impl About {
    /// What kind of request this is.
    pub fn kind(&self) -> RequestKind {
        match self {
            Self::Information | Self::Question { .. } => RequestKind::Question,
            Self::Approval { .. } => RequestKind::Approval,
            Self::Outcome { .. } => RequestKind::UnknownOutcome,
        }
    }

    /// The tool call in question, as far as the request shows it.
    pub fn call(&self) -> Option<&CallDetails> {
        match self {
            Self::Information | Self::Question { .. } => None,
            Self::Approval { call, .. } | Self::Outcome { call, .. } => call.as_deref(),
        }
    }

    /// The open tool call that waits for the answer, if one does.
    pub fn waiting_call(&self) -> Option<&ToolCallId> {
        match self {
            Self::Question { tool_call } | Self::Approval { tool_call, .. } => Some(tool_call),
            Self::Information | Self::Outcome { .. } => None,
        }
    }

    /// The same without what only the person who decides needs.
    pub(crate) fn without_call(self) -> Self {
        match self {
            Self::Information | Self::Question { .. } => self,
            Self::Approval { tool_call, .. } => Self::Approval { tool_call, call: None },
            Self::Outcome { tool_call, action, .. } => {
                Self::Outcome { tool_call, action, call: None }
            }
        }
    }
}

impl ContextRequest {
    /// What kind of request this is.
    pub fn kind(&self) -> RequestKind {
        self.about.kind()
    }

    /// An answer as it is recorded: `success` follows from the decision.
    ///
    /// # Errors
    /// A sentence that says why the answer does not fit this kind of request, and what does.
    pub(crate) fn accept(&self, result: &ContextResult) -> Result<ContextResult, String> {
        let (id, kind) = (&self.id, self.kind());
        let noun = kind.noun();
        let words: Vec<String> =
            kind.decisions().iter().map(|decision| format!("\"{}\"", decision.word())).collect();
        match (kind, result.decision) {
            (RequestKind::Question, None) => Ok(result.clone()),
            (RequestKind::Question, Some(_)) => Err(format!(
                "request {id} is {noun}; answer it with success and result or error, without decision"
            )),
            (_, Some(Decision::Approve)) if kind == RequestKind::Approval && !result.success => {
                Err(format!(
                    "request {id}: success false contradicts decision \"approve\"; send decision \"deny\" to refuse the call"
                ))
            }
            (_, Some(decision)) if kind.decisions().contains(&decision) => {
                let success = !matches!(decision, Decision::Deny | Decision::Unknown);
                Ok(ContextResult { success, ..result.clone() })
            }
            (_, given) => {
                let given = given.map_or_else(
                    || "the decision is missing".to_owned(),
                    |given| format!("\"{}\" is not valid", given.word()),
                );
                Err(format!(
                    "request {id} is {noun} and needs the decision {}; {given}, nothing was recorded",
                    words.join(" or ")
                ))
            }
        }
    }
}

/// An answer to a request. A failure is an answer too (R000-10).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ContextResult {
    /// The request.
    #[serde(alias = "requestId")]
    pub request: ContextRequestId,
    /// Whether the information was found; for an approval, whether it is given.
    pub success: bool,
    /// The information.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<String>,
    /// Why the request was not fulfilled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// What was decided: required for approvals and unknown outcomes, and only there. Answers that
    /// were recorded before decisions existed do not have it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decision: Option<Decision>,
}

impl ContextResult {
    /// The information was found.
    pub fn found(request: ContextRequestId, result: impl Into<String>) -> Self {
        Self { request, success: true, result: Some(result.into()), error: None, decision: None }
    }

    /// The request was not fulfilled.
    pub fn not_found(request: ContextRequestId, error: impl Into<String>) -> Self {
        Self { request, success: false, result: None, error: Some(error.into()), decision: None }
    }

    /// The tool call that waits for this approval may be run.
    pub fn approve(request: ContextRequestId) -> Self {
        Self::decided(request, Decision::Approve)
    }

    /// The tool call that waits for this approval must not be run.
    pub fn deny(request: ContextRequestId, reason: impl Into<String>) -> Self {
        Self { error: Some(reason.into()), ..Self::decided(request, Decision::Deny) }
    }

    /// A decision without further words, on an approval or an unknown outcome.
    pub fn decided(request: ContextRequestId, decision: Decision) -> Self {
        let success = !matches!(decision, Decision::Deny | Decision::Unknown);
        Self { request, success, result: None, error: None, decision: Some(decision) }
    }

    /// What makes two answers the same.
    pub(crate) fn digest(&self) -> Digest {
        Digest::of_json(&(self.success, &self.result, &self.error, self.decision))
    }

    /// The answer as agents read it.
    pub fn shown(&self) -> String {
        if let Some(decision) = self.decision {
            let note = self.result.as_deref().or(self.error.as_deref());
            return match (decision, note) {
                (_, None) => decision.sentence().to_owned(),
                (Decision::Approve | Decision::Deny, Some(note)) => {
                    format!("{}: {note}", decision.sentence())
                }
                (_, Some(note)) => format!("{} {note}", decision.sentence()),
            };
        }
        if self.success {
            return self.result.clone().unwrap_or_default();
        }
        format!("[Error: {}]", self.error.as_deref().unwrap_or("no reason given"))
    }

    pub(crate) fn bytes(&self) -> usize {
        self.result.as_deref().map_or(0, str::len) + self.error.as_deref().map_or(0, str::len)
    }
}

/// The parameters of the tool `request_context`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ask {
    /// What is asked: 1 to 1,000 characters.
    pub query: String,
    /// Why: 1 to 500 characters.
    pub reason: String,
    /// Whether the session waits for it.
    #[serde(default)]
    pub priority: Priority,
}

impl Ask {
    /// Reads the arguments that a model wrote.
    ///
    /// # Errors
    /// A sentence for the model that says what to fix.
    pub fn parse(arguments: &Value) -> Result<Self, String> {
        let ask =
            Self::deserialize(arguments).map_err(|error| misfit("request_context", &error))?;
        for (name, text, limit) in
            [("query", &ask.query, MAX_QUESTION), ("reason", &ask.reason, MAX_REASON)]
        {
            check_length("request_context", name, text, 1, limit)?;
        }
        Ok(ask)
    }
}

/// The parameters of the tool `ask`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Question {
    /// What the person is asked: 1 to 1,000 characters.
    pub question: String,
    /// Why the agent has to know: up to 500 characters.
    #[serde(default)]
    pub reason: String,
}

impl Question {
    /// Reads the arguments that a model wrote.
    ///
    /// # Errors
    /// A sentence for the model that says what to fix.
    pub fn parse(arguments: &Value) -> Result<Self, String> {
        let read = Self::deserialize(arguments).map_err(|error| misfit("ask", &error))?;
        check_length("ask", "question", &read.question, 1, MAX_QUESTION)?;
        check_length("ask", "reason", &read.reason, 0, MAX_REASON)?;
        Ok(read)
    }
}
