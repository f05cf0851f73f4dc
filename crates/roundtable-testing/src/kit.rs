//! An engine on a script, with everything injected.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use roundtable_backend::MemoryStore;
use roundtable_core::MessageContext;
use roundtable_core::agent::Agent;
use roundtable_core::context_request::{ContextRequest, ContextResult, Decision, RequestKind};
use roundtable_core::event::{Body, Event, Opening, RoundEvent, Seq};
use roundtable_core::id::{NodeId, SessionId};
use roundtable_core::input::{Command, Say};
use roundtable_core::settings::Settings;
use roundtable_core::stage::Name;
use roundtable_engine::{Config, Engine, Parts, SessionHandle, Toolset};
use roundtable_models::scripted::{Script, ScriptedModel};
use roundtable_ports::{Bell, DynTool, Model, Store};

use crate::{CountedIds, PausedClock, ProgramSet};

/// What a test engine is made of; change what the test is about, then start it.
pub struct Kit {
    /// The store.
    pub store: Arc<MemoryStore>,
    /// The model, registered as `scripted`.
    pub model: ScriptedModel,
    /// More models, by the names that agents use.
    pub models: BTreeMap<String, Arc<dyn Model>>,
    /// The programs, and what they have computed.
    pub programs: ProgramSet,
    /// A bell other than the store's own.
    pub bell: Option<Arc<dyn Bell>>,
    /// The tools.
    pub tools: Vec<Arc<dyn DynTool>>,
    /// How the engine runs.
    pub config: Config,
    /// The name of the node.
    pub node: &'static str,
    /// What the clock shows at the start, in seconds.
    pub clock: i64,
}

impl Kit {
    /// An engine on this script, with a store of its own.
    pub fn new(script: Script) -> Self {
        Self {
            store: Arc::new(MemoryStore::new()),
            model: ScriptedModel::new(script),
            models: BTreeMap::new(),
            programs: ProgramSet::default(),
            bell: None,
            tools: Vec::new(),
            config: Config::default(),
            node: "one",
            clock: 0,
        }
    }

    /// The same with one more tool.
    #[must_use]
    pub fn tool(mut self, tool: impl DynTool + 'static) -> Self {
        self.tools.push(Arc::new(tool));
        self
    }

    /// The same with one more model.
    #[must_use]
    pub fn model(mut self, name: &str, model: impl Model + 'static) -> Self {
        self.models.insert(name.to_owned(), Arc::new(model));
        self
    }

    /// Starts the engine, inside a runtime whose time is paused.
    pub async fn start(&self) -> Engine {
        let mut models = self.models.clone();
        models.insert("scripted".to_owned(), Arc::new(self.model.clone()));
        let mut store = Store::of(self.store.clone());
        store.bell = self.bell.clone().unwrap_or(store.bell);
        let parts = Parts {
            node: NodeId::new(self.node).expect("a node id"),
            store,
            clock: Arc::new(PausedClock::starting(self.clock)),
            ids: Arc::new(CountedIds::new("fresh")),
            models,
            tools: Toolset::new(self.tools.iter().cloned()).expect("valid schemas"),
            programs: self.programs.programs.clone(),
            jobs: self.programs.jobs.clone(),
            config: self.config.clone(),
        };
        Engine::start(parts).await.expect("a store that takes the node")
    }
}

/// An agent that the scripted model speaks for.
pub fn agent(name: &str) -> Agent {
    Agent::new(name, "scripted").expect("a name that makes an id")
}

/// A chat of these agents.
pub fn opening(agents: Vec<Agent>, settings: Settings) -> Opening {
    Opening {
        kind: Name::constant("chat"),
        topic: "a test".to_owned(),
        agents,
        settings,
        actor: None,
        tenant: None,
    }
}

/// A message to a session, in a command.
pub fn say(session: &SessionId, message_id: &str, text: &str) -> Command {
    Command::Say(message(session, message_id, text))
}

/// A message to a session.
pub fn message(session: &SessionId, message_id: &str, text: &str) -> Say {
    let context = MessageContext::new(message_id, session, None).expect("a message id");
    Say { text: Some(text.to_owned()), ..Say::new(context) }
}

/// The wish to go on without a message, with answers to what was asked.
pub fn go_on(session: &SessionId, message_id: &str, results: Vec<ContextResult>) -> Command {
    Command::Say(Say { text: None, results, ..message(session, message_id, "") })
}

/// How long a test waits for something to happen: in paused time, which costs nothing.
const PATIENCE: Duration = Duration::from_secs(24 * 3600);

/// The events of a session until one fits, from the start.
pub async fn events_until(
    handle: &SessionHandle,
    last: impl Fn(&Event) -> bool,
) -> Vec<Arc<Event>> {
    let mut subscription = handle.subscribe(Seq(1)).await.expect("a session");
    let mut events = Vec::new();
    loop {
        let next = tokio::time::timeout(PATIENCE, subscription.next_event()).await;
        let event = next.expect("something happens").expect("a log that can be read");
        let done = last(&event);
        events.push(event);
        if done {
            return events;
        }
    }
}

/// The events of a session from the start until so many rounds have closed.
pub async fn rounds(handle: &SessionHandle, count: usize) -> Vec<Arc<Event>> {
    let closed = std::cell::Cell::new(0);
    events_until(handle, |event| {
        let closes = matches!(event.body, Body::Round(RoundEvent::RoundClosed { .. }));
        closed.set(closed.get() + usize::from(closes));
        closed.get() == count
    })
    .await
}

/// Waits until something is so, in paused time: whatever can happen before happens before.
pub async fn until(what: &str, holds: impl Fn() -> bool) {
    for _ in 0..100_000 {
        if holds() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    panic!("this never happened: {what}");
}

/// An answer that fits the kind of a request: yes or no to a question, an approval or an unknown
/// outcome.
pub fn answer_to(request: &ContextRequest, yes: bool, text: &str) -> ContextResult {
    let id = request.id.clone();
    match (request.kind(), yes) {
        (RequestKind::Question, true) => ContextResult::found(id, text),
        (RequestKind::Question, false) => ContextResult::not_found(id, text),
        (RequestKind::Approval, true) => ContextResult::approve(id),
        (RequestKind::Approval, false) => ContextResult::deny(id, text),
        (RequestKind::UnknownOutcome, true) => ContextResult::decided(id, Decision::Happened),
        (RequestKind::UnknownOutcome, false) => ContextResult::decided(id, Decision::Unknown),
    }
}
