//! Tools as decisions see them: what is declared, what came out. Running them is the engine's part.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::id::{ContextRequestId, TurnId};
use crate::json;

/// What repeating a call would do, from harmless to harmful.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    /// Nothing: it only computes.
    Pure,
    /// Nothing more, as long as the tool-call id goes along as its key.
    Idempotent,
    /// Harm: it must not be repeated. What cannot be known about it is asked, never guessed.
    Effectful,
}

/// Who carries a call out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Runs {
    /// A handler, outside the core.
    Handler,
    /// The core itself: it stores a context request.
    RequestContext,
    /// The core itself: it starts another agent's turn and answers with what that one says.
    Delegate,
    /// The core itself: it asks the person, and the call waits for the answer.
    Ask,
    /// Whoever called: the call waits until the caller brings its result.
    Caller,
}

/// A tool of the caller, as models are told of it. It is recorded with the session, because no
/// configuration has it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallerSpec {
    /// What it does.
    pub description: String,
    /// The JSON Schema of its parameters.
    pub schema: Value,
}

/// A tool that an agent may call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolDecl {
    /// The name that the model uses.
    pub name: String,
    /// What repeating a call would do.
    pub effect: Effect,
    /// Whether a person has to agree before each call.
    #[serde(default)]
    pub approval: bool,
    /// Who carries it out.
    pub runs: Runs,
    /// How many bytes its description adds to a prompt: they are billed like any other.
    #[serde(default)]
    pub prompt_bytes: u64,
    /// What models are told of a tool of the caller; the engine knows the others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spec: Option<Box<CallerSpec>>,
}

impl ToolDecl {
    /// A tool that a handler runs.
    pub fn handler(name: impl Into<String>, effect: Effect) -> Self {
        Self { effect, ..Self::new(name, Runs::Handler) }
    }

    /// The tool with which an agent asks for information.
    pub fn request_context() -> Self {
        Self::new("request_context", Runs::RequestContext)
    }

    /// The tool with which an agent hands work to another.
    pub fn delegate() -> Self {
        Self::new("delegate", Runs::Delegate)
    }

    /// The tool with which an agent asks the person and waits for the answer in mid-turn.
    pub fn ask() -> Self {
        Self::new("ask", Runs::Ask)
    }

    /// A tool that the caller runs: the turn waits for its result.
    pub fn caller(name: impl Into<String>, spec: CallerSpec) -> Self {
        Self { spec: Some(Box::new(spec)), ..Self::new(name, Runs::Caller) }
    }

    fn new(name: impl Into<String>, runs: Runs) -> Self {
        Self {
            name: name.into(),
            effect: Effect::Idempotent,
            approval: false,
            runs,
            prompt_bytes: 0,
            spec: None,
        }
    }

    /// The same tool, to be run only after a person agreed.
    #[must_use]
    pub fn with_approval(mut self) -> Self {
        self.approval = true;
        self
    }
}

/// What a handler hands back: its only way to have an effect on the session (R002-10).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolResult {
    /// What the model is told.
    pub message: String,
    /// The value behind it. The model receives it as JSON, after the message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<Value>,
    /// Whether the tool did what it was asked.
    pub success: bool,
}

impl ToolResult {
    /// The tool did what it was asked.
    pub fn ok(message: impl Into<String>) -> Self {
        Self { message: message.into(), value: None, success: true }
    }

    /// The tool could not do it; the model is told why.
    pub fn failed(message: impl Into<String>) -> Self {
        Self { message: message.into(), value: None, success: false }
    }

    /// The same result with a value behind it.
    #[must_use]
    pub fn with_value(mut self, value: Value) -> Self {
        self.value = Some(value);
        self
    }

    /// The result as it is stored. A value that nests too deeply or has more bytes than this is
    /// left out, and the message says so; the rest stays, because the tool has done its work.
    #[must_use]
    pub fn bounded(mut self, most: usize) -> Self {
        let why = match self.value.take().map(json::bounded) {
            None => return self,
            Some(Err(error)) => format!("it is {error}"),
            Some(Ok(value)) => match value.to_string().len() {
                bytes if bytes <= most => return self.with_value(value),
                bytes => format!("it has {bytes} bytes; the limit is {most}"),
            },
        };
        let gap = if self.message.is_empty() { "" } else { "\n" };
        self.message.push_str(&format!("{gap}[the value is left out: {why}]"));
        self
    }
}

/// How a tool call ended. Every call that was opened gets exactly one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub enum ToolOutcome {
    /// The handler handed this back, or could not (unknown tool, bad arguments, error, panic, timeout).
    Returned(ToolResult),
    /// A delegate answered; its words stand in its own turn and are not stored again.
    Answered {
        /// The delegate's turn.
        turn: TurnId,
    },
    /// The turn ended before the call did, and repeating it would have done no harm.
    Cancelled,
    /// It started and may have happened: a person has been asked.
    Unknown {
        /// The question.
        request: ContextRequestId,
    },
    /// It was never started.
    NotRun {
        /// Why.
        reason: String,
    },
}

impl ToolOutcome {
    /// Whether the tool did what it was asked, as far as that is known.
    pub fn succeeded(&self) -> bool {
        match self {
            Self::Returned(result) => result.success,
            Self::Answered { .. } => true,
            Self::Cancelled | Self::Unknown { .. } | Self::NotRun { .. } => false,
        }
    }

    /// The value behind the message, if there is one.
    pub fn value(&self) -> Option<&Value> {
        match self {
            Self::Returned(result) => result.value.as_ref(),
            Self::Answered { .. }
            | Self::Cancelled
            | Self::Unknown { .. }
            | Self::NotRun { .. } => None,
        }
    }

    /// What the model is told; a delegate's words are looked up by the caller.
    pub fn message(&self) -> &str {
        match self {
            Self::Returned(result) => &result.message,
            Self::Answered { .. } => "",
            Self::Cancelled => "cancelled",
            Self::Unknown { .. } => {
                "The outcome is unknown: the call started, and it may have taken effect. A person \
                 has been asked. Do not repeat it."
            }
            Self::NotRun { reason } => reason,
        }
    }
}
