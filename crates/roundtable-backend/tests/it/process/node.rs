//! The inside of a process with an engine: a scripted model and tools that count in the ledger,
//! and a log that dies at an append.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use futures_util::StreamExt as _;
use roundtable_backend::SqliteStore;
use roundtable_core::event::{Event, Seq};
use roundtable_core::id::{CommandId, NodeId, SessionId};
use roundtable_core::prompt::{Params, Prompt};
use roundtable_core::tool::{Effect, ToolResult};
use roundtable_engine::{Config, Engine, Parts, SystemClock, Toolset, UuidIds};
use roundtable_models::scripted::{Call, Reply, Script, ScriptedModel};
use roundtable_ports::{
    Batch, Chunk, CommandRecord, DynTool, Ids as _, LogError, Model, ModelError, ModelRequest,
    ModelStream, Ownership, SessionLog, Snapshot, Store, ToolContext,
};
use roundtable_testing::FnTool;
use serde_json::json;

use super::ledger::{self, Entry};
use super::{CrashAt, NodeRole};

/// Starts the engine of a process.
pub async fn start(role: &NodeRole) -> (Engine, ScriptedModel) {
    let mut store =
        Store::of(Arc::new(SqliteStore::open(Path::new(&role.directory)).expect("a store")));
    let ledger = PathBuf::from(&role.ledger);
    store.log = Arc::new(Crashing {
        inner: store.log,
        ledger: ledger.clone(),
        at: role.crash,
        appends: AtomicU64::new(0),
    });
    let scripted = ScriptedModel::new(script());
    let model: Arc<dyn Model> =
        Arc::new(Counted { inner: scripted.clone(), ledger: ledger.clone() });
    // Short, so that a test does not wait long for what a process left behind.
    let config = Config {
        sweep_every: Duration::from_millis(100),
        poll_every: Duration::from_millis(200),
        snapshot_every: 9,
        ..Config::default()
    };
    let parts = Parts {
        node: NodeId::new(&UuidIds.fresh()).expect("a node id"),
        store,
        clock: Arc::new(SystemClock),
        ids: Arc::new(UuidIds),
        models: BTreeMap::from([("scripted".to_owned(), model)]),
        tools: Toolset::new(tools(&ledger)).expect("valid schemas"),
        programs: roundtable_testing::ProgramSet::default().programs,
        jobs: roundtable_testing::ProgramSet::default().jobs,
        config,
    };
    (Engine::start(parts).await.expect("an engine"), scripted)
}

/// What the agents of all stories say.
fn script() -> Script {
    let ask = json!({ "query": "How many?", "reason": "I have to know." });
    Script::default()
        .voice("ann", [Reply::calls([tool("look"), tool("note")]), Reply::text("Ann is done.")])
        .voice("bob", [Reply::text("Bob says so, in pieces.").in_pieces(5, 1)])
        .voice("cyd", [Reply::text("Cyd too.")])
        .voice("eve", [Reply::calls([tool("ponder")]), Reply::text("I have thought.")])
        .voice("eve/first", [Reply::text("First thought.")])
        .voice("eve/second", [Reply::text("Second thought.")])
        .voice("fay", [Reply::calls([Call::new("request_context", ask)]), Reply::text("I asked.")])
        .voice("fay", [Reply::text("Now I know.")])
        .voice("gus", [Reply::calls([tool("send")]), Reply::text("Sent.")])
        .voice("hal", [Reply::text("Hal was held up.").at_gate("hal1")])
        .voice("hal", [Reply::text("Hal was held up again.").at_gate("hal2")])
        .voice("hal", [Reply::text("Hal is always held up.").at_gate("hal3")])
}

fn tool(name: &str) -> Call {
    Call::new(name, json!({}))
}

fn tools(ledger: &Path) -> Vec<Arc<dyn DynTool>> {
    let hand = |name: &'static str, effect: Effect| {
        let ledger = ledger.to_owned();
        FnTool::new(name, move |_, context| {
            note_run(&ledger, name, effect, context);
            Box::pin(async move { Ok(ToolResult::ok(format!("{name} is done"))) })
        })
        .effect(effect)
    };
    let thinking = ledger.to_owned();
    let ponder = FnTool::new("ponder", move |_, context| {
        note_run(&thinking, "ponder", Effect::Pure, context);
        Box::pin(async move {
            let mut thought = "nothing yet".to_owned();
            for ask in ["first", "second"] {
                let prompt = Prompt::new(ask, "So far: {thought}");
                let params = Params::from([("thought".to_owned(), thought)]);
                let bus = &context.event_bus;
                let child =
                    context.adapter.evaluate(&prompt, &params, bus, &context.session).await?;
                thought = child.output;
            }
            Ok(ToolResult::ok(thought))
        })
    });
    vec![
        Arc::new(hand("look", Effect::Pure)),
        Arc::new(hand("note", Effect::Idempotent)),
        Arc::new(hand("send", Effect::Effectful)),
        Arc::new(ponder),
    ]
}

fn note_run(file: &Path, tool: &str, effect: Effect, context: &ToolContext) {
    let tool_call = context.scope.ids.place.tool_call.clone().expect("a tool call");
    ledger::note(file, &Entry::Ran { tool_call, tool: tool.to_owned(), effect });
}

/// A model whose calls are counted before they are answered, and billed before they are over.
struct Counted {
    inner: ScriptedModel,
    ledger: PathBuf,
}

#[async_trait]
impl Model for Counted {
    async fn stream(&self, request: &ModelRequest) -> Result<ModelStream, ModelError> {
        let (key, attempt) = (request.key.clone(), request.attempt);
        let received = Entry::Received {
            key: key.clone(),
            attempt,
            session: request.scope.session.clone(),
            agent: request.scope.agent.clone(),
            prompt: serde_json::to_string(&request.messages).expect("messages"),
        };
        ledger::note(&self.ledger, &received);
        let ledger = self.ledger.clone();
        let stream = self.inner.stream(request).await?;
        let billed = stream.inspect(move |chunk| {
            if let Ok(Chunk::Done(record)) = chunk {
                let usage = record.usage;
                ledger::note(&ledger, &Entry::Billed { key: key.clone(), attempt, usage });
            }
        });
        Ok(billed.boxed())
    }
}

/// A log in a process that may die at an append.
struct Crashing {
    inner: Arc<dyn SessionLog>,
    ledger: PathBuf,
    at: Option<CrashAt>,
    appends: AtomicU64,
}

#[async_trait]
impl SessionLog for Crashing {
    async fn append(&self, own: &Ownership, batch: Batch<'_>) -> Result<Seq, LogError> {
        let append = self.appends.fetch_add(1, Ordering::SeqCst);
        ledger::note(&self.ledger, &Entry::Appends);
        if self.at == Some(CrashAt { append, after: false }) {
            std::process::abort();
        }
        let done = self.inner.append(own, batch).await;
        if self.at == Some(CrashAt { append, after: true }) {
            std::process::abort();
        }
        done
    }

    async fn read(
        &self,
        session: &SessionId,
        from: Seq,
        most: usize,
    ) -> Result<Vec<Arc<Event>>, LogError> {
        self.inner.read(session, from, most).await
    }

    async fn find_command(
        &self,
        session: &SessionId,
        id: &CommandId,
    ) -> Result<Option<CommandRecord>, LogError> {
        self.inner.find_command(session, id).await
    }

    async fn find_snapshot(&self, session: &SessionId) -> Result<Option<Snapshot>, LogError> {
        self.inner.find_snapshot(session).await
    }

    async fn put_snapshot(&self, own: &Ownership, snapshot: Snapshot) -> Result<(), LogError> {
        self.inner.put_snapshot(own, snapshot).await
    }
}
