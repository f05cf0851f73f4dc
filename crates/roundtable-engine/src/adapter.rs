//! What tool handlers are given of the engine: an adapter, a bus, a reader.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use futures_util::stream::{self, BoxStream};
use futures_util::{StreamExt as _, TryStreamExt as _};
use roundtable_core::audience::Viewer;
use roundtable_core::event::NestedPrompt;
use roundtable_core::id::{SessionId, ToolCallId};
use roundtable_core::input::Report;
use roundtable_core::json;
use roundtable_core::program::Programs;
use roundtable_core::prompt::{Params, Prompt};
use roundtable_core::window::ReceivedMessage;
use roundtable_core::{Keep, Live};
use roundtable_ports::{
    Adapter, Bus, EvaluateError, Evaluation, EventBus, LogError, SessionLog, SessionReader,
};
use serde_json::Value;
use tokio::sync::{mpsc, oneshot};

use crate::permit::Slot;
use crate::task::Envelope;

/// Runs nested prompts on the session that its bus belongs to.
pub(crate) struct EngineAdapter;

#[async_trait]
impl Adapter for EngineAdapter {
    async fn evaluate(
        &self,
        prompt: &Prompt,
        params: &Params,
        event_bus: &EventBus,
        session: &Arc<dyn SessionReader>,
    ) -> Result<Evaluation, EvaluateError> {
        if session.id() != event_bus.session() {
            return Err(EvaluateError::OtherSession);
        }
        event_bus.evaluate(prompt.nest(params)?).await
    }
}

/// How many events are read at once.
const PAGE: usize = 512;

/// Reads a session as an agent received it.
pub(crate) struct ViewReader {
    pub session: SessionId,
    pub log: Arc<dyn SessionLog>,
    pub programs: Programs,
    pub viewer: Viewer,
}

impl SessionReader for ViewReader {
    fn id(&self) -> &SessionId {
        &self.session
    }

    fn messages(&self) -> BoxStream<'_, Result<ReceivedMessage, LogError>> {
        let live = Live::reader(self.session.clone(), &self.programs, Keep::All);
        let pages = stream::try_unfold(Some(live), move |reading| async move {
            let Some(mut live) = reading else { return Ok(None) };
            let page = self.log.read(&self.session, live.session.head.next(), PAGE).await?;
            if page.is_empty() {
                return Ok(Some((live.messages(&self.viewer), None)));
            }
            page.iter().for_each(|event| live.apply(event));
            Ok(Some((live.drain_messages(&self.viewer), Some(live))))
        });
        let messages = |page: Vec<ReceivedMessage>| stream::iter(page.into_iter().map(Ok));
        pages.map_ok(messages).try_flatten().boxed()
    }
}

/// The way from a session's handlers to its task.
pub(crate) struct SessionBus {
    session: SessionId,
    task: mpsc::Sender<Envelope>,
    slots: Mutex<HashMap<ToolCallId, Arc<Slot>>>,
}

impl SessionBus {
    pub fn new(session: SessionId, task: mpsc::Sender<Envelope>) -> Self {
        Self { session, task, slots: Mutex::default() }
    }

    /// Which permit a call gives back while it waits, and when the seat is dropped.
    pub fn seat(self: &Arc<Self>, call: &ToolCallId, slot: Slot) -> Seat {
        self.slots().insert(call.clone(), Arc::new(slot));
        Seat { bus: self.clone(), call: call.clone() }
    }

    fn slot(&self, call: &ToolCallId) -> Option<Arc<Slot>> {
        self.slots().get(call).cloned()
    }

    fn slots(&self) -> MutexGuard<'_, HashMap<ToolCallId, Arc<Slot>>> {
        self.slots.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Has a report committed; an error says why it was refused.
    pub async fn commit(&self, report: Report) -> Result<(), EvaluateError> {
        let report = report.into();
        self.ask(|reply| Envelope::Commit { report, reply }).await?
    }

    async fn ask<T>(
        &self,
        envelope: impl FnOnce(oneshot::Sender<T>) -> Envelope,
    ) -> Result<T, EvaluateError> {
        let (reply, answer) = oneshot::channel();
        self.task.send(envelope(reply)).await.map_err(|_| EvaluateError::Stopping)?;
        answer.await.map_err(|_| EvaluateError::Stopping)
    }
}

/// The place of a running call. However the call ends, cut off too, its permit is free again.
pub(crate) struct Seat {
    bus: Arc<SessionBus>,
    call: ToolCallId,
}

impl Drop for Seat {
    fn drop(&mut self) {
        self.bus.slots().remove(&self.call);
    }
}

#[async_trait]
impl Bus for SessionBus {
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
        let data = json::bounded(data)
            .map_err(|error| EvaluateError::Refused(format!("the published data is {error}")))?;
        let report =
            Report::Publish { tool_call: call.clone(), ordinal, topic: topic.to_owned(), data };
        self.commit(report).await
    }

    async fn evaluate(
        &self,
        call: &ToolCallId,
        ordinal: u32,
        prompt: NestedPrompt,
    ) -> Result<Evaluation, EvaluateError> {
        let (tool_call, prompt) = (call.clone(), Box::new(prompt));
        let asking = self.ask(|reply| Envelope::Evaluate { tool_call, ordinal, prompt, reply });
        match self.slot(call) {
            Some(slot) => slot.while_waiting(asking).await?,
            None => asking.await?,
        }
    }
}
