//! What is said: messages made of parts. Knows no vendor's spelling.

use std::borrow::Cow;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use crate::file::{Attachment, BadFile, MOST_ATTACHMENTS, TextFile};
use crate::id::ToolCallId;
pub use crate::image::{BadImage, Image, ImageSource};
use crate::json;

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

/// The result of a tool call, as the model receives it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolAnswer {
    /// The call that this answers.
    pub id: ToolCallId,
    /// The message for the model.
    pub content: String,
    /// The value behind the message, if the tool returned one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<Value>,
    /// Whether the tool did what it was asked.
    pub success: bool,
}

impl ToolAnswer {
    /// The text for the model: the message, and after it the value as JSON. A message that is this
    /// JSON already is not repeated.
    pub fn text(&self) -> Cow<'_, str> {
        let Some(value) = &self.value else { return Cow::Borrowed(&self.content) };
        let json = value.to_string();
        if self.content.is_empty() {
            return Cow::Owned(json);
        }
        let message = self.content.trim();
        let is_json = message.as_bytes().first() == json.as_bytes().first();
        if is_json && json::parse::<Value>(message.as_bytes()).is_ok_and(|said| said == *value) {
            return Cow::Borrowed(&self.content);
        }
        Cow::Owned(format!("{}\n{json}", self.content))
    }
}

/// Reasoning of a model. Some providers refuse a tool result unless they get it back unchanged.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Reasoning {
    /// The wire family and the model that made it, like `anthropic/claude-sonnet-5`; every other one
    /// leaves it out.
    pub wire: String,
    /// What people may read of it; empty when the provider keeps it to itself.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub text: String,
    /// What the provider wants back, in its own spelling.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub payload: Value,
}

/// A citation.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Citation {
    /// Its URL.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// Its title.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The words that are quoted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quote: Option<String>,
}

/// The estimated tokens of an image. Providers scale images down before they count, so the size of
/// the file does not matter; this is more than any of them charges for an image that is billed like
/// text.
const IMAGE_TOKENS: usize = 8_192;

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
    /// An image.
    Image(Image),
    /// What the model thought.
    Reasoning(Reasoning),
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

    /// The text parts.
    pub fn texts(&self) -> impl Iterator<Item = &str> {
        self.parts.iter().filter_map(|part| match part {
            Part::Text { text } => Some(text.as_str()),
            Part::ToolCall(_) | Part::ToolResult(_) | Part::Image(_) | Part::Reasoning(_) => None,
        })
    }

    /// The text parts, joined.
    pub fn text(&self) -> String {
        self.texts().collect()
    }

    /// The tool calls that the message asks for.
    pub fn tool_calls(&self) -> impl Iterator<Item = &ToolRequest> {
        self.parts.iter().filter_map(|part| match part {
            Part::ToolCall(call) => Some(call),
            Part::Text { .. } | Part::ToolResult(_) | Part::Image(_) | Part::Reasoning(_) => None,
        })
    }

    /// How many bytes of content the message holds: an upper bound of its tokens, because no
    /// tokenizer in use makes more than one token of a byte. An image counts as a fixed number.
    pub fn content_bytes(&self) -> u64 {
        let bytes = |part: &Part| match part {
            Part::Text { text } => text.len(),
            Part::ToolCall(call) => call.name.len() + call.arguments.to_string().len(),
            Part::ToolResult(answer) => answer.text().len(),
            Part::Image(_) => IMAGE_TOKENS,
            Part::Reasoning(thought) => thought.text.len().max(thought.payload.to_string().len()),
        };
        self.parts.iter().map(|part| bytes(part) as u64).sum()
    }
}
