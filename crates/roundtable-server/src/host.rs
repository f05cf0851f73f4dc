//! The model of whoever calls. Where the operator configures it, an agent's turn waits until the caller
//! has answered its prompt and brings the answer in; no key is needed.
//!
//! A turn is known by the key of its model call, which is the same after a restart. So a token that was
//! given out before one still fits when the call has been made again.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use futures_util::{StreamExt as _, stream};
use roundtable::core::event::CallRecord;
use roundtable::core::id::{AgentId, IterationId, SessionId};
use roundtable::core::message::{Message, Role};
use roundtable::ports::{Chunk, Model, ModelError, ModelRequest, ModelStream};
use tokio::sync::{oneshot, watch};

/// The name under which agents have the caller's model speak for them.
pub const HOST: &str = "host";

/// A turn that waits for the caller.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct HostTurn {
    pub token: IterationId,
    pub agent: AgentId,
    pub agent_name: String,
    pub prompt: String,
}

struct Waiting {
    /// Which came first: callers get one after another.
    place: u64,
    session: SessionId,
    turn: HostTurn,
    reply: oneshot::Sender<String>,
}

/// The model of whoever calls. All clones are one.
#[derive(Clone)]
pub struct HostModel(Arc<Shared>);

struct Shared {
    waiting: Mutex<BTreeMap<IterationId, Waiting>>,
    changes: watch::Sender<u64>,
}

impl Default for HostModel {
    fn default() -> Self {
        let changes = watch::Sender::new(0);
        Self(Arc::new(Shared { waiting: Mutex::default(), changes }))
    }
}

impl HostModel {
    /// Whether a turn waits for someone to bring it in.
    pub fn is_waiting(&self) -> bool {
        !self.waiting().is_empty()
    }

    /// The turn of a session that waits the longest.
    pub(crate) fn find(&self, session: &SessionId) -> Option<HostTurn> {
        let waiting = self.waiting();
        let own = waiting.values().filter(|waiting| waiting.session == *session);
        own.min_by_key(|waiting| waiting.place).map(|waiting| waiting.turn.clone())
    }

    /// Waits until a turn of a session waits.
    pub(crate) async fn wait_for(&self, session: &SessionId) {
        let mut changes = self.0.changes.subscribe();
        while self.find(session).is_none() {
            // The sender lives as long as this handle.
            let _ = changes.changed().await;
        }
    }

    /// Brings a turn in. False when it does not wait here.
    pub(crate) fn bring(
        &self,
        session: &SessionId,
        token: &IterationId,
        contribution: &str,
    ) -> bool {
        let mut waiting = self.waiting();
        if waiting.get(token).is_none_or(|waiting| waiting.session != *session) {
            return false;
        }
        let Some(found) = waiting.remove(token) else { return false };
        found.reply.send(contribution.to_owned()).is_ok()
    }

    /// Waits until a certain turn waits.
    pub(crate) async fn wait_for_turn(&self, token: &IterationId) {
        let mut changes = self.0.changes.subscribe();
        while !self.waiting().contains_key(token) {
            let _ = changes.changed().await;
        }
    }

    fn waiting(&self) -> MutexGuard<'_, BTreeMap<IterationId, Waiting>> {
        self.0.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn change(&self) -> u64 {
        self.0.changes.send_modify(|changes| *changes += 1);
        *self.0.changes.borrow()
    }
}

/// Takes a turn back that is no longer wanted.
struct Parked {
    host: HostModel,
    token: IterationId,
}

impl Drop for Parked {
    fn drop(&mut self) {
        self.host.waiting().remove(&self.token);
    }
}

#[async_trait]
impl Model for HostModel {
    async fn stream(&self, request: ModelRequest) -> Result<ModelStream, ModelError> {
        let (reply, answer) = oneshot::channel();
        let turn = HostTurn {
            token: request.key.clone(),
            agent: request.scope.agent.clone(),
            agent_name: request.agent_name.clone(),
            prompt: prompt(&request),
        };
        let session = request.scope.session.clone();
        let place = *self.0.changes.borrow();
        self.waiting().insert(request.key.clone(), Waiting { place, session, turn, reply });
        let parked = Parked { host: self.clone(), token: request.key };
        self.change();
        let said = answer.await;
        drop(parked);
        let text = said.map_err(|_| ModelError::Broken("nobody brought the turn in".to_owned()))?;
        let record = CallRecord { model: HOST.to_owned(), ..CallRecord::default() };
        let chunks = [Ok(Chunk::Text(text)), Ok(Chunk::Done(record))];
        Ok(stream::iter(chunks).boxed())
    }
}

/// All that a model would be given, as one text.
fn prompt(request: &ModelRequest) -> String {
    let part = |message: &Message| {
        let heading = match message.role {
            Role::System => "# Your instructions",
            Role::User => "# What was said",
            Role::Assistant => "# What you said before",
        };
        format!("{heading}\n\n{}", message.text())
    };
    let mut parts: Vec<String> = request.messages.iter().map(part).collect();
    if let Some(output) = &request.output {
        let schema = &output.schema;
        parts.push(format!("# The form of your answer\n\nAnswer with JSON that fits this schema, and nothing else:\n{schema}"));
    }
    parts.join("\n\n")
}
