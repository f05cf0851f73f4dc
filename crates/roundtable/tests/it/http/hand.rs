//! The hand that obeys: an engine in a process of its own, with models over HTTP, on a directory.
//! It sends the story's commands, each under its id, until there is nothing left to do.

use std::io::{BufRead as _, Write as _};
use std::sync::Arc;
use std::time::Duration;

use roundtable::core::id::{CommandId, SessionId};
use roundtable::core::input::Command;
use roundtable::driver::Config;
use roundtable::models::{Caps, Retry, RetryPolicy, Timeouts};
use roundtable::ports::DynTool;
use roundtable::prelude::*;
use roundtable_testing::{FnTool, provider, say};

use super::{MARK, Role, session_id};

/// Not a test: the inside of the processes that the tests of this module start.
#[test]
#[ignore = "runs only as a child of other tests"]
fn obeys() {
    let mut role = String::new();
    if std::io::stdin().read_line(&mut role).unwrap_or_default() == 0 {
        return;
    }
    let role: Role = serde_json::from_str(&role).expect("a role");
    std::thread::spawn(|| {
        let _ = std::io::stdin().lock().lines().count();
        // The parent is gone, and so is the reason to live.
        std::process::exit(1);
    });
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .expect("a runtime");
    runtime.block_on(tell(&role));
}

/// Tells the story from the beginning. What was committed before is not done again.
async fn tell(role: &Role) {
    let engine = start(role).await;
    let id = session_id();
    let session = engine.session(&id);
    order(&session, "open", Command::Open(Box::new(role.opening.clone()))).await;
    for (index, text) in role.messages.iter().enumerate() {
        let name = format!("m{index}");
        order(&session, &name, say(&id, &name, text)).await;
        rest(&session, &id).await;
    }
    engine.shutdown().await;
}

async fn start(role: &Role) -> Engine {
    // Short, so that nothing waits long for what another process left behind.
    let config = Config {
        sweep_every: Duration::from_millis(100),
        poll_every: Duration::from_millis(200),
        draft_bytes: 8,
        snapshot_every: 5,
        ..Config::default()
    };
    let mut builder =
        Engine::builder().sqlite(&role.directory).config(config).tools([look(), ponder()]);
    for agent in &role.opening.agents {
        let (timeouts, caps) = (Timeouts::default(), Caps::default());
        let model = provider::model(&role.address, &agent.model, timeouts, caps);
        let first_wait = Duration::from_millis(1);
        let policy = RetryPolicy { first_wait, ..RetryPolicy::default() };
        builder = builder.custom_model(&agent.model, Retry::new(Arc::new(model), policy));
    }
    builder.build().await.expect("an engine")
}

async fn order(session: &Session, name: &str, command: Command) {
    let id = CommandId::new(name).expect("a command id");
    session.command_once(command, id).await.expect("a command that is accepted");
}

/// Waits until no round is open and nothing waits.
async fn rest(session: &Session, id: &SessionId) {
    let mut state = roundtable::core::session::Session::new(id.clone());
    let head = session.state().await.expect("a state").head;
    let mut events = session.events(Since::Start).await.expect("events");
    while state.head < head || state.round.is_some() || !state.waiting.is_empty() {
        state.evolve(&events.next().await.expect("an event").expect("a log that can be read"));
    }
}

/// A tool that takes no time.
fn look() -> Arc<dyn DynTool> {
    Arc::new(FnTool::new("look", |arguments, context| {
        note(context);
        Box::pin(async move { Ok(ToolResult::ok(format!("Looked at {}.", arguments["at"]))) })
    }))
}

/// A tool that asks two prompts, the second one with the answer to the first.
fn ponder() -> Arc<dyn DynTool> {
    Arc::new(FnTool::new("ponder", |_, context| {
        note(context);
        Box::pin(async move {
            let mut thought = "something".to_owned();
            for (name, ask) in [("first", "Think of {it}."), ("second", "Think once more: {it}")] {
                let params = Params::from([("it".to_owned(), thought)]);
                let (prompt, bus) = (Prompt::new(name, ask), &context.event_bus);
                let child =
                    context.adapter.evaluate(&prompt, &params, bus, &context.session).await?;
                thought = child.output;
            }
            Ok(ToolResult::ok(thought))
        })
    }))
}

/// Says that a handler ran; what is said outlives the process.
fn note(context: &ToolContext) {
    let call = context.scope.ids.place.tool_call.as_ref().expect("a tool call");
    let mut out = std::io::stdout().lock();
    let _ = writeln!(out, "{MARK}{call}");
    let _ = out.flush();
}
