//! A caller who runs tools without an engine, and so makes the context itself.

use std::sync::Arc;

use async_trait::async_trait;
use futures_util::stream::{self, BoxStream, StreamExt as _};
use roundtable_core::event::NestedPrompt;
use roundtable_core::id::{AgentId, SessionId, ToolCallId};
use roundtable_core::prompt::{Params, Prompt};
use roundtable_core::scope::{Place, Scope};
use roundtable_core::window::ReceivedMessage;
use roundtable_ports::{
    Adapter, Budget, Bus, EvaluateError, Evaluation, EventBus, LogError, RunScope, SessionReader,
    ToolContext,
};
use serde_json::Value;

/// A caller with a session in which nothing was said.
pub struct Caller(Arc<Nothing>);

impl Caller {
    pub fn new() -> Self {
        Self(Arc::new(Nothing { session: SessionId::new("mine").unwrap() }))
    }

    /// A context for one call.
    pub fn context(&self, tool_call: &str) -> ToolContext {
        let tool_call = ToolCallId::new(tool_call).unwrap();
        let place = Place { tool_call: Some(tool_call.clone()), ..Place::session() };
        self.context_at(tool_call, place)
    }

    /// A context for a call in this place.
    pub fn context_at(&self, tool_call: ToolCallId, place: Place) -> ToolContext {
        let ids = Scope {
            session: self.0.session.clone(),
            place,
            round_number: 1,
            iteration_number: 1,
            agent: AgentId::new("nobody").unwrap(),
            domain: "by hand".to_owned(),
            actor: None,
            tenant: None,
            message: None,
        };
        let scope = RunScope {
            ids,
            cancellation: Default::default(),
            deadline: None,
            budget: Budget::default(),
        };
        ToolContext::new(
            Arc::new(Prompt::new("by hand", "What is it?")),
            None,
            self.0.clone(),
            self.0.clone(),
            EventBus::new(self.0.clone(), tool_call),
            scope,
        )
    }
}

/// A session that can be read, and nothing else.
struct Nothing {
    session: SessionId,
}

#[async_trait]
impl Adapter for Nothing {
    async fn evaluate(
        &self,
        _: &Prompt,
        _: &Params,
        _: &EventBus,
        _: &Arc<dyn SessionReader>,
    ) -> Result<Evaluation, EvaluateError> {
        Err(EvaluateError::Stopping)
    }
}

impl SessionReader for Nothing {
    fn id(&self) -> &SessionId {
        &self.session
    }

    fn messages(&self) -> BoxStream<'_, Result<ReceivedMessage, LogError>> {
        stream::empty().boxed()
    }
}

#[async_trait]
impl Bus for Nothing {
    fn session(&self) -> &SessionId {
        &self.session
    }

    async fn publish(
        &self,
        _: &ToolCallId,
        _: u32,
        _: &str,
        _: Value,
    ) -> Result<(), EvaluateError> {
        Err(EvaluateError::Stopping)
    }

    async fn evaluate(
        &self,
        _: &ToolCallId,
        _: u32,
        _: NestedPrompt,
    ) -> Result<Evaluation, EvaluateError> {
        Err(EvaluateError::Stopping)
    }
}
