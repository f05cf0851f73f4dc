//! Information that an agent asks for, and its life: raised, pending, answered or withdrawn.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::digest::Digest;
use crate::id::{AgentId, ContextRequestId, ToolCallId};

/// Whether the session can go on without the answer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Priority {
    /// No: the next round waits for it.
    #[default]
    Required,
    /// Yes.
    Optional,
}

/// What the request is about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "about", rename_all = "snake_case")]
pub enum About {
    /// Something an agent wants to know.
    Information,
    /// May this tool call be run?
    Approval {
        /// The call that waits.
        tool_call: ToolCallId,
    },
    /// Did this tool call take effect? Until it is answered, the same tool with equal arguments
    /// is refused.
    Outcome {
        /// The call in question.
        tool_call: ToolCallId,
        /// Tool name and arguments.
        action: Digest,
    },
}

/// A request (R000-2).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ContextRequest {
    /// Its id.
    pub id: ContextRequestId,
    /// The agent whose tool call raised it.
    #[serde(alias = "agentId")]
    pub agent: AgentId,
    /// What is asked.
    pub query: String,
    /// Why.
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
    /// Why there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

impl ContextResult {
    /// The information was found.
    pub fn found(request: ContextRequestId, result: impl Into<String>) -> Self {
        Self { request, success: true, result: Some(result.into()), error: None }
    }

    /// It could not be had.
    pub fn not_found(request: ContextRequestId, error: impl Into<String>) -> Self {
        Self { request, success: false, result: None, error: Some(error.into()) }
    }

    /// The answer as agents read it.
    pub fn shown(&self) -> String {
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
    /// A sentence for the model that says what to mend.
    pub fn parse(arguments: &serde_json::Value) -> Result<Self, String> {
        let ask =
            Self::deserialize(arguments).map_err(|error| format!("request_context: {error}"))?;
        for (name, text, most) in [("query", &ask.query, 1000), ("reason", &ask.reason, 500)] {
            let length = text.chars().count();
            if text.trim().is_empty() || length > most {
                return Err(format!(
                    "request_context: {name} must have 1 to {most} characters, this one has {length}"
                ));
            }
        }
        Ok(ask)
    }
}
