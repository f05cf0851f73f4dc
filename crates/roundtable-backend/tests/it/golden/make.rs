//! Makes the files of a golden folder: sessions with every kind of event, written by this version.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use roundtable_backend::{SqliteStore, Words};
use roundtable_core::agent::Agent;
use roundtable_core::context_request::ContextResult;
use roundtable_core::event::{Body, Event, Origin};
use roundtable_core::id::NodeId;
use roundtable_core::input::Command;
use roundtable_core::projection::Summary;
use roundtable_core::scope::Place;
use roundtable_core::settings::Settings;
use roundtable_core::tool::{Effect, ToolDecl, ToolResult};
use roundtable_engine::{Config, Engine, Parts, SessionHandle, SystemClock, Toolset, UuidIds};
use roundtable_models::scripted::{Call, Fails, Reply, Script, ScriptedModel};
use roundtable_ports::{Batch, Clock as _, DynTool, Ids as _, Model, Store};
use roundtable_testing::{FnTool, ProgramSet, agent, events_until, opening, rounds, say};
use rusqlite::Connection;
use serde_json::json;

use super::{fold_all, folder};
use crate::table::{lines, session, shell};

/// Writes the folder, unless it is there: what was published is not changed.
#[tokio::test]
#[ignore = "makes the golden files of a new version"]
async fn writes_the_golden_files() {
    let directory = tempfile::tempdir().unwrap();
    let store = Arc::new(SqliteStore::open(directory.path()).unwrap());
    live(&store).await;
    write(directory.path(), "v1").await;
}

/// Writes what a directory has into the folder of a version.
pub async fn write(directory: &Path, version: &str) {
    let folder = folder(version);
    assert!(!folder.join("data.sql").exists(), "what was published is not changed");
    std::fs::create_dir_all(&folder).unwrap();
    let states = serde_json::to_string_pretty(&fold_all(directory).await).unwrap();
    std::fs::write(folder.join("states.json"), states + "\n").unwrap();
    std::fs::write(folder.join("data.sql"), dump(directory)).unwrap();
}

fn script() -> Script {
    let ask = json!({ "query": "How many?", "reason": "I have to know." });
    let delegate = json!({ "agent": "bob", "mission": "Find out.", "rationale": "Bob knows." });
    let tool = |name: &str| Call::new(name, json!({}));
    Script::default()
        .voice("ann", [Reply::calls([tool("look"), tool("note")]), Reply::text("Ann is done.")])
        .voice("bob", [Reply::text("Bob, naïvely: “Yes” – 好.")])
        .voice("dan", [Reply::calls([Call::new("delegate", delegate)]), Reply::text("So be it.")])
        .voice("eve", [Reply::calls([tool("ponder")]), Reply::text("I have thought.")])
        .voice("eve/first", [Reply::text("A thought.")])
        .voice("fay", [Reply::calls([Call::new("request_context", ask)]), Reply::text("I asked.")])
        .voice("fay", [Reply::text("Now I know.")])
        .voice("gus", [Reply::calls([tool("send")]), Reply::text("Sent.")])
        .voice("hal", [Reply::calls([tool("wait")]), Reply::text("Hal has waited.")])
        .voice("ida", [Reply::text("Ida never").at_gate("never")])
        .voice("joe", [Reply::fails(Fails::Auth)])
        .voice("kim", [Reply::text("Kim tells a long story.").in_pieces(4, 30)])
}

fn tools() -> Vec<Arc<dyn DynTool>> {
    let quick = |name: &'static str, effect| {
        FnTool::new(name, move |_, _| {
            Box::pin(async move { Ok(ToolResult::ok(format!("{name} is done"))) })
        })
        .effect(effect)
    };
    let note = FnTool::new("note", |_, context| {
        Box::pin(async move {
            context.event_bus.publish("noted", json!({ "what": "it" })).await?;
            Ok(ToolResult::ok("noted").with_value(json!([1, 2.5, null])))
        })
    });
    let wait = FnTool::new("wait", |_, _| {
        Box::pin(async {
            tokio::time::sleep(Duration::from_millis(300)).await;
            Ok(ToolResult::ok("waited"))
        })
    });
    let ponder = FnTool::new("ponder", |_, context| {
        Box::pin(async move {
            let prompt = roundtable_core::prompt::Prompt::new("first", "What of it?");
            let (params, bus) = (BTreeMap::new(), &context.event_bus);
            let child = context.adapter.evaluate(&prompt, &params, bus, &context.session).await?;
            Ok(ToolResult::ok(child.output))
        })
    });
    vec![
        Arc::new(quick("look", Effect::Pure)),
        Arc::new(note.effect(Effect::Idempotent)),
        Arc::new(quick("send", Effect::Effectful)),
        Arc::new(wait),
        Arc::new(ponder),
    ]
}

fn worker(name: &str) -> Agent {
    let mut agent = agent(name);
    agent.tools = vec![
        ToolDecl::handler("look", Effect::Pure),
        ToolDecl::handler("note", Effect::Idempotent),
        ToolDecl::handler("send", Effect::Effectful).with_approval(),
        ToolDecl::handler("wait", Effect::Pure),
        ToolDecl::handler("ponder", Effect::Pure),
        ToolDecl::request_context(),
        ToolDecl::delegate(),
    ];
    agent.workers = vec![roundtable_core::id::AgentId::new("bob").unwrap()];
    agent
}

pub async fn start(store: &Arc<SqliteStore>) -> Engine {
    start_with(store, Arc::new(ScriptedModel::new(script()))).await
}

pub async fn start_with(store: &Arc<SqliteStore>, model: Arc<dyn Model>) -> Engine {
    let parts = Parts {
        node: NodeId::new(&UuidIds.fresh()).unwrap(),
        store: Store::of(store.clone()),
        clock: Arc::new(SystemClock),
        ids: Arc::new(UuidIds),
        models: BTreeMap::from([("scripted".to_owned(), model)]),
        tools: Toolset::new(tools()).unwrap(),
        programs: ProgramSet::default().programs,
        jobs: ProgramSet::default().jobs,
        config: Config::default(),
    };
    Engine::start(parts).await.unwrap()
}

async fn open(engine: &Engine, name: &str, agents: &[&str]) -> SessionHandle {
    let agents = agents.iter().map(|name| worker(name)).collect();
    engine.open_as(&session(name), opening(agents, Settings::default()), None).await.unwrap()
}

async fn ask(handle: &SessionHandle, id: &str, count: usize) {
    handle.send(say(handle.id(), id, &format!("Message {id}."))).await;
    rounds(handle, count).await;
}

/// Lives through everything that can happen to a session.
async fn live(store: &Arc<SqliteStore>) {
    let engine = start(store).await;
    let talk = open(&engine, "talk", &["Ann", "Bob"]).await;
    ask(&talk, "m1", 1).await;
    let closed = talk.state().await.unwrap().head;
    ask(&talk, "m2", 2).await;
    talk.send(Command::Regenerate).await;
    rounds(&talk, 3).await;
    talk.send(Command::SelectTake { number: 2, take: 1 }).await;
    talk.send(Command::Rewind { number: 2 }).await;
    for command in [Command::Pause, Command::Resume, Command::Pause] {
        talk.send(command).await;
    }
    let origin = Origin { session: session("talk"), seq: closed };
    let branch = engine.session(&session("branch"));
    branch.send(Command::Fork { origin, agents: Some(vec![worker("Bob")]) }).await;
    ask(&branch, "m2", 2).await;

    let asking = open(&engine, "asking", &["Fay"]).await;
    ask(&asking, "m1", 1).await;
    let request = asking.state().await.unwrap().requests[0].id.clone();
    asking.send(Command::Provide(vec![ContextResult::found(request, "seven")])).await;
    ask(&asking, "m2", 2).await;
    for (name, agent) in [("delegating", "Dan"), ("thinking", "Eve"), ("failing", "Joe")] {
        let agents = if agent == "Dan" { vec!["Dan", "Bob"] } else { vec![agent] };
        ask(&open(&engine, name, &agents).await, "m1", 1).await;
    }
    interruptions(&engine).await;
    erase(store, &engine).await;
    engine.stop().await;
    // What was under way when the engine was stopped is picked up by the next one.
    let engine = start(store).await;
    for name in ["waiting", "crashed"] {
        rounds(&engine.session(&session(name)), 1).await;
    }
    engine.shutdown().await;
    future(store).await;
}

/// Rounds that are stopped, an approval that nobody gives, and calls that outlive their engine.
async fn interruptions(engine: &Engine) {
    let kinds = |kind: &'static str| move |event: &Event| event.body.kind() == kind;
    let approving = open(engine, "approving", &["Gus"]).await;
    approving.send(say(approving.id(), "m1", "Send it.")).await;
    events_until(&approving, kinds("context_requested")).await;
    let request = approving.state().await.unwrap().requests[0].id.clone();
    approving.send(Command::Provide(vec![ContextResult::approve(request)])).await;
    rounds(&approving, 1).await;
    approving.send(say(approving.id(), "m2", "Once more.")).await;
    let asked = std::cell::Cell::new(0);
    events_until(&approving, |event| {
        asked.set(asked.get() + usize::from(event.body.kind() == "context_requested"));
        asked.get() == 2
    })
    .await;
    approving.send(Command::Stop).await;
    let stopped = open(engine, "stopped", &["Kim", "Ida"]).await;
    stopped.send(say(stopped.id(), "m1", "Tell.")).await;
    events_until(&stopped, kinds("model_call_started")).await;
    tokio::time::sleep(Duration::from_millis(100)).await;
    stopped.send(Command::Stop).await;
    let ended = open(engine, "ended", &["Kim"]).await;
    ended.send(say(ended.id(), "m1", "Tell.")).await;
    ended.send(say(ended.id(), "m2", "Never to be answered.")).await;
    ended.send(Command::Complete { reason: "enough".to_owned() }).await;
    let waiting = open(engine, "waiting", &["Hal"]).await;
    waiting.send(say(waiting.id(), "m1", "Wait.")).await;
    events_until(&waiting, kinds("tool_call_started")).await;
    let crashed = open(engine, "crashed", &["Kim"]).await;
    crashed.send(say(crashed.id(), "m1", "Tell.")).await;
    events_until(&crashed, kinds("model_call_started")).await;
}

/// Words that were erased on someone's request.
async fn erase(store: &Arc<SqliteStore>, engine: &Engine) {
    let erased = open(engine, "erased", &["Bob"]).await;
    ask(&erased, "m1", 1).await;
    let own = Store::of(store.clone()).leases.claim_one(erased.id(), &engine.parts().node).await;
    store.erase(&own.unwrap(), &Words::By("User".to_owned())).await.unwrap();
}

/// An event of a kind that this version does not know.
async fn future(store: &Arc<SqliteStore>) {
    let engine = start(store).await;
    let handle = open(&engine, "future", &["Bob"]).await;
    let state = handle.state().await.unwrap();
    engine.shutdown().await;
    let data = json!({ "crew": ["Ann", "Bob"], "craters": 7 });
    let body = Body::Unknown { kind: "moon_landed".to_owned(), version: 3, data };
    let event =
        Event { seq: state.head.next(), at: SystemClock.now(), place: Place::session(), body };
    let (sides, node) = (Store::of(store.clone()), NodeId::new("later").unwrap());
    let own = sides.leases.claim_one(handle.id(), &node).await.unwrap();
    let batch = Batch {
        expect: state.head,
        origin: None,
        events: &[Arc::new(event)],
        rows: &[],
        commands: &[],
        summary: &Summary::of(&state),
        spent: roundtable_core::budget::Spend::default(),
    };
    sides.log.append(&own, batch).await.unwrap();
    sides.leases.release(&own).await.unwrap();
}

/// The file as text: its form as this version has it, and a line for each row.
pub fn dump(directory: &Path) -> String {
    let shell = shell(directory);
    let mut text = concat!(
        include_str!("../../../src/sqlite/schema/1.sql"),
        include_str!("../../../src/sqlite/schema/2.sql"),
        include_str!("../../../src/sqlite/schema/3.sql"),
        include_str!("../../../src/sqlite/schema/4.sql"),
        include_str!("../../../src/sqlite/schema/5.sql"),
    )
    .to_owned();
    for name in ["user_version", "application_id"] {
        let value = &lines(&shell, &format!("PRAGMA {name}"))[0];
        let _ = writeln!(text, "PRAGMA {name} = {value};");
    }
    let tables = "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'message_text%' \
                  AND name NOT LIKE 'sqlite_%' ORDER BY rowid";
    for table in lines(&shell, tables) {
        dump_table(&shell, &table, &mut text);
    }
    text.push_str("INSERT INTO message_text (message_text) VALUES ('rebuild');\n");
    text
}

fn dump_table(shell: &Connection, table: &str, text: &mut String) {
    let columns =
        lines(shell, &format!("SELECT name FROM pragma_table_info('{table}') ORDER BY cid"));
    let quoted: Vec<String> = columns.iter().map(|name| format!("quote({name})")).collect();
    // One snapshot is enough to see whether it is still understood.
    let only = if table == "snapshot" {
        "WHERE session = (SELECT number FROM session WHERE id = 'ses_branch')"
    } else {
        ""
    };
    let rows = lines(shell, &format!("SELECT {} FROM {table} {only}", quoted.join(" || ', ' || ")));
    for row in rows {
        let _ = writeln!(text, "INSERT INTO {table} ({}) VALUES ({row});", columns.join(", "));
    }
}

/// Commands that have to be accepted, without an id.
trait Sends {
    async fn send(&self, command: Command);
}

impl Sends for SessionHandle {
    async fn send(&self, command: Command) {
        self.command(command, None).await.unwrap();
    }
}
