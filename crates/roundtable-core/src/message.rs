//! What is said: messages made of parts. Knows no vendor's spelling.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::id::ToolCallId;

/// Who speaks, as a model sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// The instructions.
    System,
    /// Everyone but the model: people, other agents, tool results.
    User,
    /// The model itself.
    Assistant,
}

/// A request of a model to run a tool.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolRequest {
    /// Our id of the call.
    pub id: ToolCallId,
    /// The tool's name, as the model wrote it.
    pub name: String,
    /// The arguments, as the model wrote them.
    pub arguments: Value,
}

/// What came of a tool call, as the model is told.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolAnswer {
    /// The call that this answers.
    pub id: ToolCallId,
    /// The text for the model.
    pub content: String,
    /// Whether the tool did what it was asked.
    pub success: bool,
}

/// A piece of a message.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Part {
    /// Plain text.
    Text {
        /// The text.
        text: String,
    },
    /// A tool call that the model asked for.
    ToolCall(ToolRequest),
    /// The result of a tool call.
    ToolResult(ToolAnswer),
}

/// One message.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Message {
    /// Who speaks.
    pub role: Role,
    /// What is said, in order.
    pub parts: Vec<Part>,
}

impl Message {
    /// Instructions.
    pub fn system(text: impl Into<String>) -> Self {
        Self { role: Role::System, parts: vec![Part::Text { text: text.into() }] }
    }

    /// Something said to the model.
    pub fn user(text: impl Into<String>) -> Self {
        Self { role: Role::User, parts: vec![Part::Text { text: text.into() }] }
    }

    /// Something the model said, with the tool calls that it asked for.
    pub fn assistant(text: impl Into<String>, calls: Vec<ToolRequest>) -> Self {
        let text = text.into();
        let mut parts = Vec::with_capacity(1 + calls.len());
        if !text.is_empty() || calls.is_empty() {
            parts.push(Part::Text { text });
        }
        parts.extend(calls.into_iter().map(Part::ToolCall));
        Self { role: Role::Assistant, parts }
    }

    /// All results of one iteration, in one message.
    pub fn tool_results(answers: Vec<ToolAnswer>) -> Self {
        Self { role: Role::User, parts: answers.into_iter().map(Part::ToolResult).collect() }
    }

    /// The text parts, joined.
    pub fn text(&self) -> String {
        let texts = self.parts.iter().filter_map(|part| match part {
            Part::Text { text } => Some(text.as_str()),
            Part::ToolCall(_) | Part::ToolResult(_) => None,
        });
        texts.collect()
    }

    /// The tool calls that the message asks for.
    pub fn tool_calls(&self) -> impl Iterator<Item = &ToolRequest> {
        self.parts.iter().filter_map(|part| match part {
            Part::ToolCall(call) => Some(call),
            Part::Text { .. } | Part::ToolResult(_) => None,
        })
    }

    /// How many bytes of content the message holds: an upper bound of its tokens, because no
    /// tokeniser in use makes more than one token of a byte.
    pub fn content_bytes(&self) -> u64 {
        let bytes = |part: &Part| match part {
            Part::Text { text } => text.len(),
            Part::ToolCall(call) => call.name.len() + call.arguments.to_string().len(),
            Part::ToolResult(answer) => answer.content.len(),
        };
        self.parts.iter().map(|part| bytes(part) as u64).sum()
    }
}
