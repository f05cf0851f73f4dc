//! Whoever speaks for an agent.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use futures_util::stream::BoxStream;
use roundtable_core::budget::Price;
use roundtable_core::event::CallRecord;
use roundtable_core::id::IterationId;
use roundtable_core::message::{Citation, Message, Reasoning};
use roundtable_core::prompt::OutputSchema;
use roundtable_core::scope::Scope;
use serde_json::Value;

use crate::attempts::Attempts;
use crate::tool::ToolSpec;

/// What a model is asked.
#[derive(Debug, Clone)]
pub struct ModelRequest {
    /// The key of the call: the same in every attempt.
    pub key: IterationId,
    /// Which attempt, from 1.
    pub attempt: u32,
    /// Where and for whom.
    pub scope: Scope,
    /// The name of the prompt: `seat`, `delegated`, or what a tool handler called its own.
    pub prompt: String,
    /// The agent's name, as people read it.
    pub agent_name: String,
    /// The messages: shared, because a prompt may be long and is looked at by many.
    pub messages: Arc<Vec<Message>>,
    /// How many of the first messages are shared by all agents and only ever get longer: a
    /// provider that keeps prompts needs to read them once.
    pub stable: usize,
    /// The tools on offer.
    pub tools: Vec<Arc<ToolSpec>>,
    /// Which of them the model may use.
    pub tool_choice: ToolChoice,
    /// What the reply has to look like, when it is to be data instead of prose.
    pub output: Option<OutputSchema>,
    /// How many tokens the reply may have.
    pub max_tokens: u32,
    /// Who hears words that are held back until they are checked.
    pub listener: Listener,
    /// The requests that may be made for it.
    pub attempts: Attempts,
}

/// Hears what a model says while its answer is held back to be checked as a whole: a hint for
/// people who wait, and never part of the answer. By default nobody listens.
#[derive(Clone, Default)]
pub struct Listener(Option<Arc<Hear>>);

type Hear = dyn Fn(&str) + Send + Sync;

impl Listener {
    /// Someone who is told each piece of text as it comes.
    pub fn new(hear: impl Fn(&str) + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(hear)))
    }

    /// Tells them, if someone listens.
    pub fn hear(&self, text: &str) {
        if let Some(hear) = &self.0 {
            hear(text);
        }
    }
}

impl fmt::Debug for Listener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() { "Listener" } else { "Nobody" })
    }
}

/// Which tools a model may use.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum ToolChoice {
    /// As it likes.
    #[default]
    Auto,
    /// None, though they are described.
    None,
    /// At least one, whichever.
    Required,
    /// This one.
    Named(String),
}

/// A piece of an answer.
#[derive(Debug, Clone, PartialEq)]
pub enum Chunk {
    /// Some text.
    Text(String),
    /// A whole tool call.
    ToolCall {
        /// The tool.
        name: String,
        /// The arguments.
        arguments: Value,
        /// The provider's own id of the call.
        reference: Option<String>,
    },
    /// A whole thought, to be given back with the answer that it led to.
    Reasoning(Reasoning),
    /// A source for what was said.
    Citation(Citation),
    /// The end, with what is known of the call. The engine measures the latency itself.
    Done(CallRecord),
}

/// Why a model did not answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ModelError {
    /// The key is missing, wrong or not allowed to do this.
    #[error("the provider rejected the API key: {0}")]
    Auth(String),
    /// Too many requests.
    #[error("rate limit of the provider reached{}", retry_text(*.retry_after))]
    RateLimited {
        /// When to try again.
        retry_after: Option<Duration>,
    },
    /// The provider has too much to do, or is out of reach.
    #[error("the provider is overloaded or unreachable: {0}")]
    Overloaded(String),
    /// The prompt is longer than the model's window.
    #[error("the prompt is too long for the model: {0}")]
    TooLong(String),
    /// The model will not answer this.
    #[error("the model declined: {0}")]
    Refused(String),
    /// The request makes no sense to the provider.
    #[error("the provider rejected the request: {0}")]
    BadRequest(String),
    /// The answer broke off, or is not what the protocol says.
    #[error("incomplete or malformed response: {0}")]
    Broken(String),
    /// The answer took too long.
    #[error("the request to the provider timed out")]
    Timeout,
}

fn retry_text(after: Option<Duration>) -> String {
    after.map_or_else(String::new, |after| format!("; retry in {} s", after.as_secs()))
}

impl ModelError {
    /// Whether a provider may have worked on a request that failed so: it was sent, and nobody
    /// refused it.
    pub fn may_be_billed(&self) -> bool {
        matches!(self, Self::Broken(_) | Self::Timeout)
    }

    /// Whether the same call may succeed later.
    pub fn is_transient(&self) -> bool {
        match self {
            Self::RateLimited { .. } | Self::Overloaded(_) | Self::Broken(_) | Self::Timeout => {
                true
            }
            Self::Auth(_) | Self::TooLong(_) | Self::Refused(_) | Self::BadRequest(_) => false,
        }
    }
}

/// What is known of a model before it is asked. A session records it when it opens.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Facts {
    /// How many tokens a prompt and its reply may have together.
    pub window: Option<u64>,
    /// The most that its tokens cost.
    pub price: Option<Price>,
}

/// An answer as it comes. Dropping it ends the call.
pub type ModelStream = BoxStream<'static, Result<Chunk, ModelError>>;

/// Whoever speaks for an agent.
#[async_trait]
pub trait Model: Send + Sync {
    /// What is known of it before it is asked; by default nothing.
    fn facts(&self) -> Facts {
        Facts::default()
    }

    /// What people should know of its answers, whatever they say; by default nothing.
    fn notice(&self) -> Option<&str> {
        None
    }

    /// Asks for an answer.
    async fn stream(&self, request: &ModelRequest) -> Result<ModelStream, ModelError>;
}
