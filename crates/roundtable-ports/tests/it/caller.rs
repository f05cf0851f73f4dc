//! A caller who runs tools without an engine, and so makes the context itself (R002-11).

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use futures_util::stream::{self, BoxStream, StreamExt as _};
use roundtable_core::event::{NestedPrompt, TurnOutcome};
use roundtable_core::id::{AgentId, SessionId, ToolCallId, TurnId};
use roundtable_core::prompt::{Params, Prompt};
use roundtable_core::scope::{Place, Scope};
use roundtable_core::window::ReceivedMessage;
use roundtable_ports::{
    Adapter, Budget, Bus, EvaluateError, Evaluation, EventBus, LogError, RunScope, SessionReader,
    ToolContext,
};
use serde_json::Value;

pub struct Caller {
    pub prompt: Arc<Prompt>,
    pub adapter: Arc<dyn Adapter>,
    pub session: Arc<dyn SessionReader>,
    pub bus: Arc<Noted>,
}

impl Caller {
    pub fn new() -> Self {
        let session = SessionId::new("mine").unwrap();
        Self {
            prompt: Arc::new(Prompt::new("by hand", "What is it?")),
            adapter: Arc::new(Passes),
            session: Arc::new(Empty(session.clone())),
            bus: Arc::new(Noted { session, notes: Mutex::default() }),
        }
    }

    /// A context for one call.
    pub fn context(&self, tool_call: &str) -> ToolContext {
        let tool_call = ToolCallId::new(tool_call).unwrap();
        let ids = Scope {
            session: self.session.id().clone(),
            place: Place { tool_call: Some(tool_call.clone()), ..Place::session() },
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
            self.prompt.clone(),
            None,
            self.adapter.clone(),
            self.session.clone(),
            EventBus::new(self.bus.clone(), tool_call),
            scope,
        )
    }
}

/// An adapter that hands prompts on to the bus.
struct Passes;

#[async_trait]
impl Adapter for Passes {
    async fn evaluate(
        &self,
        prompt: &Prompt,
        params: &Params,
        event_bus: &EventBus,
        _session: &Arc<dyn SessionReader>,
    ) -> Result<Evaluation, EvaluateError> {
        event_bus.evaluate(prompt.nest(params)?).await
    }
}

/// A session in which nothing has happened.
struct Empty(SessionId);

impl SessionReader for Empty {
    fn id(&self) -> &SessionId {
        &self.0
    }

    fn messages(&self) -> BoxStream<'_, Result<ReceivedMessage, LogError>> {
        stream::empty().boxed()
    }
}

/// A bus that notes what it carries, and answers every prompt with its own words.
pub struct Noted {
    session: SessionId,
    pub notes: Mutex<Vec<(ToolCallId, u32, String)>>,
}

#[async_trait]
impl Bus for Noted {
    fn session(&self) -> &SessionId {
        &self.session
    }

    async fn publish(
        &self,
        call: &ToolCallId,
        ordinal: u32,
        topic: &str,
        data: Value,
    ) -> Result<(), EvaluateError> {
        let note = (call.clone(), ordinal, format!("{topic} {data}"));
        self.notes.lock().unwrap().push(note);
        Ok(())
    }

    async fn evaluate(
        &self,
        call: &ToolCallId,
        ordinal: u32,
        prompt: NestedPrompt,
    ) -> Result<Evaluation, EvaluateError> {
        self.notes.lock().unwrap().push((call.clone(), ordinal, prompt.input.clone()));
        let turn = TurnId::derive(call.as_str(), ordinal);
        Ok(Evaluation { turn, outcome: TurnOutcome::Answered, output: prompt.input })
    }
}
