//! What a tool handler is given: the outer run's own objects, for one call (R002).

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use async_trait::async_trait;
use futures_util::stream::BoxStream;
use jiff::Timestamp;
use roundtable_core::budget::{Limits, Spend};
use roundtable_core::event::{NestedPrompt, TurnOutcome};
use roundtable_core::id::{SessionId, ToolCallId, TurnId};
use roundtable_core::prompt::{MissingParameter, Params, Prompt, RenderedPrompt};
use roundtable_core::scope::Scope;
use roundtable_core::window::ReceivedMessage;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::store::LogError;

/// What a nested prompt came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Evaluation {
    /// The child turn.
    pub turn: TurnId,
    /// How it ended.
    pub outcome: TurnOutcome,
    /// What it said.
    pub output: String,
}

/// Why a nested prompt was not answered.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EvaluateError {
    /// The prompt has no text.
    #[error(transparent)]
    Prompt(#[from] MissingParameter),
    /// The session will not have it: too deep, too long, or the call is over.
    #[error("{0}")]
    Refused(String),
    /// The session is not the one that the bus belongs to.
    #[error("the event bus belongs to another session; use the one of the tool context")]
    OtherSession,
    /// The engine is stopping.
    #[error("the engine is stopping")]
    Stopping,
}

/// The model adapter of the outer run.
#[async_trait]
pub trait Adapter: Send + Sync {
    /// Runs a prompt as a child turn, on the same session, bus, budget and cancellation (R002-9).
    async fn evaluate(
        &self,
        prompt: &Prompt,
        params: &Params,
        event_bus: &EventBus,
        session: &Arc<dyn SessionReader>,
    ) -> Result<Evaluation, EvaluateError>;
}

/// Read access to the session, as the agent that calls has it: a tool cannot tell it what it did not
/// receive.
pub trait SessionReader: Send + Sync {
    /// Its id.
    fn id(&self) -> &SessionId;
    /// The messages that the agent has received, round by round.
    fn messages(&self) -> BoxStream<'_, Result<ReceivedMessage, LogError>>;
}

/// The way from handlers to the session's writer. One per session; handlers use [`EventBus`].
#[async_trait]
pub trait Bus: Send + Sync {
    /// The session.
    fn session(&self) -> &SessionId;
    /// Adds an event under a tool call.
    async fn publish(
        &self,
        call: &ToolCallId,
        ordinal: u32,
        topic: &str,
        data: Value,
    ) -> Result<(), EvaluateError>;
    /// Runs a prompt as a child turn of a tool call.
    async fn evaluate(
        &self,
        call: &ToolCallId,
        ordinal: u32,
        prompt: NestedPrompt,
    ) -> Result<Evaluation, EvaluateError>;
}

/// The session's bus, as one tool call uses it: what it does is numbered, so that a handler that
/// runs again after a crash does nothing twice.
pub struct EventBus {
    bus: Arc<dyn Bus>,
    tool_call: ToolCallId,
    published: AtomicU32,
    evaluated: AtomicU32,
}

impl EventBus {
    /// The bus for one call.
    pub fn new(bus: Arc<dyn Bus>, tool_call: ToolCallId) -> Self {
        Self { bus, tool_call, published: AtomicU32::new(0), evaluated: AtomicU32::new(0) }
    }

    /// Adds an event under this tool call; the session's writer commits it.
    ///
    /// # Errors
    /// [`EvaluateError`] when the call is over or the engine is stopping.
    pub async fn publish(&self, topic: &str, data: Value) -> Result<(), EvaluateError> {
        let ordinal = self.published.fetch_add(1, Ordering::Relaxed) + 1;
        self.bus.publish(&self.tool_call, ordinal, topic, data).await
    }

    /// Runs a prompt as a child turn of this call. Adapters use it; handlers call
    /// [`Adapter::evaluate`].
    ///
    /// # Errors
    /// [`EvaluateError`] when the session will not have it.
    pub async fn evaluate(&self, prompt: NestedPrompt) -> Result<Evaluation, EvaluateError> {
        let ordinal = self.evaluated.fetch_add(1, Ordering::Relaxed) + 1;
        self.bus.evaluate(&self.tool_call, ordinal, prompt).await
    }

    /// The session that the bus belongs to.
    pub fn session(&self) -> &SessionId {
        self.bus.session()
    }

    /// Whether two calls use the same session's bus.
    pub fn is_same_bus(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.bus, &other.bus)
    }
}

/// What a turn may spend and has spent, when a call began.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Budget {
    /// What it may spend.
    pub limits: Limits,
    /// What it has spent.
    pub spent: Spend,
}

/// Where and for whom a call runs, and for how long.
#[derive(Debug, Clone)]
pub struct RunScope {
    /// Ids, agent, domain, actor and tenant.
    pub ids: Scope,
    /// Cancelled when the call is no longer wanted.
    pub cancellation: CancellationToken,
    /// When the call has to be over.
    pub deadline: Option<Timestamp>,
    /// The turn's budget.
    pub budget: Budget,
}

/// What a handler is given. It is built for one call, right before it, and dropped after it.
///
/// Nothing in it can be changed by a handler (R002-1):
///
/// ```compile_fail,E0594
/// fn handler(context: &roundtable_ports::ToolContext) {
///     context.rendered_prompt = None;
/// }
/// ```
///
/// It cannot be kept either (R002-4): there is no copy of it to be had,
///
/// ```compile_fail,E0277
/// fn handler(context: &roundtable_ports::ToolContext) -> roundtable_ports::ToolContext {
///     Clone::clone(context)
/// }
/// ```
///
/// and it is borrowed for the call, so nothing that outlives the call can hold it.
///
/// ```compile_fail,E0521
/// fn handler(context: &roundtable_ports::ToolContext) {
///     std::thread::spawn(move || context.scope.ids.agent.clone());
/// }
/// ```
///
/// Nor can a handler change the prompt or the session through it (R002-10): the one is shared,
///
/// ```compile_fail,E0594
/// fn handler(context: &roundtable_ports::ToolContext) {
///     context.prompt.ask = "something else".to_owned();
/// }
/// ```
///
/// and of the other there is read access only.
///
/// ```compile_fail,E0599
/// async fn handler(context: &roundtable_ports::ToolContext) {
///     context.session.append(Vec::new()).await;
/// }
/// ```
///
/// Reading what those handlers tried to change compiles, so they fail for the reason they name.
///
/// ```
/// fn handler(context: &roundtable_ports::ToolContext) {
///     let _is_rendered = context.rendered_prompt.is_some();
///     let _ask: &str = &context.prompt.ask;
///     let agent = context.scope.ids.agent.clone();
///     std::thread::spawn(move || agent.to_string());
///     let _prompt = Clone::clone(&context.prompt);
/// }
///
/// fn reader(context: &roundtable_ports::ToolContext) {
///     let _messages = context.session.messages();
/// }
/// ```
#[non_exhaustive]
pub struct ToolContext {
    /// The prompt under way.
    pub prompt: Arc<Prompt>,
    /// Its text, as the model got it; none while rendering is lazy.
    pub rendered_prompt: Option<Arc<RenderedPrompt>>,
    /// The model adapter of the outer run.
    pub adapter: Arc<dyn Adapter>,
    /// The session.
    pub session: Arc<dyn SessionReader>,
    /// The way to tell the session something.
    pub event_bus: EventBus,
    /// Where and for whom.
    pub scope: RunScope,
}

impl ToolContext {
    /// A context, for callers that run tools themselves (R002-11).
    pub fn new(
        prompt: Arc<Prompt>,
        rendered_prompt: Option<Arc<RenderedPrompt>>,
        adapter: Arc<dyn Adapter>,
        session: Arc<dyn SessionReader>,
        event_bus: EventBus,
        scope: RunScope,
    ) -> Self {
        Self { prompt, rendered_prompt, adapter, session, event_bus, scope }
    }

    /// Runs a prompt as a child turn of this call: [`Adapter::evaluate`] with the context's own bus
    /// and session.
    ///
    /// # Errors
    /// [`EvaluateError`] when the prompt lacks a parameter, the session refuses it, or the engine is
    /// stopping.
    pub async fn evaluate(
        &self,
        prompt: &Prompt,
        params: &Params,
    ) -> Result<Evaluation, EvaluateError> {
        self.adapter.evaluate(prompt, params, &self.event_bus, &self.session).await
    }
}
