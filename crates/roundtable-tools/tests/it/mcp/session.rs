//! MCP tools in sessions of the real engine.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use roundtable::prelude::*;
use roundtable_core::event::{Body, Event, RoundEvent, ToolCallEvent};
use roundtable_core::tool::ToolOutcome;
use roundtable_tools::mcp::{McpServer, Pins, Sources, connect};
use serde_json::json;

use super::kit::{approve, find, noted, server};

/// Ann, who calls this tool once, in an engine with all tools of the server.
async fn ann(tool: &str, sources: &Sources, directory: &Path) -> (Engine, Agent) {
    let call = Call::new(tool, json!({ "text": "rent" }));
    let script = Script::default().voice("ann", [Reply::calls([call]), Reply::text("Done.")]);
    let engine = Engine::builder()
        .sqlite(directory)
        .custom_model("scripted", ScriptedModel::new(script))
        .tools(sources.tools())
        .build()
        .await
        .unwrap();
    let mut ann = Agent::new("Ann", "scripted").unwrap();
    ann.tools = sources.tools().iter().map(|tool| tool.declare()).collect();
    (engine, ann)
}

async fn until_closed(session: &Session, receipt: roundtable_ports::Receipt) {
    let mut events = session.events(Since::After(receipt.after)).await.unwrap();
    while let Some(event) = events.next().await {
        if matches!(event.unwrap().body, Body::Round(RoundEvent::RoundClosed { .. })) {
            break;
        }
    }
}

fn outcomes(log: &[Arc<Event>]) -> Vec<ToolOutcome> {
    let outcome = |event: &Arc<Event>| match &event.body {
        Body::ToolCall(ToolCallEvent::ToolCallFinished(outcome)) => Some(outcome.clone()),
        _ => None,
    };
    log.iter().filter_map(outcome).collect()
}

struct Setup {
    directory: tempfile::TempDir,
    server: McpServer,
    pins: Pins,
}

impl Setup {
    async fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let notes = directory.path().join("notes").to_str().unwrap().to_owned();
        let server = server("bad", &["--notes", &notes]);
        let pins = approve([server.clone()]).await;
        Self { directory, server, pins }
    }

    fn notes(&self) -> String {
        std::fs::read_to_string(self.directory.path().join("notes")).unwrap_or_default()
    }
}

#[tokio::test]
async fn a_session_calls_a_tool_of_a_server_after_a_person_agreed() {
    let setup = Setup::new().await;
    let sources = connect([setup.server.clone()], &setup.pins).await;
    let (engine, ann) = ann("bad__note", &sources, setup.directory.path()).await;
    let session = engine.chat("Notes").participant(ann).open().await.unwrap();
    let round = session.ask("Note the rent.").await.unwrap();
    assert_eq!(round.outcome, None, "the call waits for a person");
    assert_eq!(round.requests[0].query, "May bad__note be called with {\"text\":\"rent\"}?");
    assert_eq!(setup.notes(), "", "nothing happened yet");
    let yes = ContextResult::approve(round.requests[0].id.clone());
    let receipt = session.provide(vec![yes]).await.unwrap();
    until_closed(&session, receipt).await;
    assert_eq!(
        outcomes(&session.log().await.unwrap()),
        [ToolOutcome::Returned(ToolResult::ok("noted"))]
    );
    assert_eq!(setup.notes(), "rent true\n", "once, and with the id of the call");
    engine.shutdown().await;
    sources.shutdown().await;
}

#[tokio::test]
async fn an_approval_outlives_the_engine_and_the_server() {
    let setup = Setup::new().await;
    let sources = connect([setup.server.clone()], &setup.pins).await;
    let (engine, agent) = ann("bad__note", &sources, setup.directory.path()).await;
    let session = engine.chat("Notes").participant(agent).open().await.unwrap();
    let round = session.ask("Note the rent.").await.unwrap();
    engine.stop().await;
    sources.shutdown().await;

    let sources = connect([setup.server.clone()], &setup.pins).await;
    let (engine, _) = ann("bad__note", &sources, setup.directory.path()).await;
    let session = engine.session(session.id());
    let yes = ContextResult::approve(round.requests[0].id.clone());
    let receipt = session.provide(vec![yes]).await.unwrap();
    until_closed(&session, receipt).await;
    assert_eq!(setup.notes(), "rent true\n");
    engine.shutdown().await;
    sources.shutdown().await;
}

#[tokio::test]
async fn a_stop_of_the_round_reaches_the_server() {
    let setup = Setup::new().await;
    let sources = connect([setup.server.clone()], &setup.pins).await;
    let (engine, ann) = ann("bad__hang", &sources, setup.directory.path()).await;
    let session = engine.chat("Notes").participant(ann).open().await.unwrap();
    session.say("Note the rent.").await.unwrap();
    let notes = setup.directory.path().join("notes");
    noted(&notes, "hanging").await;
    session.stop().await.unwrap();
    noted(&notes, "cancelled").await;
    assert_eq!(outcomes(&session.log().await.unwrap()), [ToolOutcome::Cancelled]);
    engine.shutdown().await;
    sources.shutdown().await;
}

#[tokio::test]
async fn f30_an_effectful_call_that_a_dying_server_cut_off_is_unknown() {
    let mut setup = Setup::new().await;
    // It is known at once: nobody waits for the time limit.
    setup.server.timeout = Duration::from_secs(3600);
    setup.server.approval = roundtable_tools::mcp::Approval::Never;
    let sources = connect([setup.server.clone()], &setup.pins).await;
    assert!(!find(&sources, "bad__die_later").declare().approval);
    let (engine, ann) = ann("bad__die_later", &sources, setup.directory.path()).await;
    let session = engine.chat("Notes").participant(ann).open().await.unwrap();
    let round = session.ask("Note the rent.").await.unwrap();
    let log = session.log().await.unwrap();
    assert!(matches!(outcomes(&log)[..], [ToolOutcome::Unknown { .. }]), "{:?}", outcomes(&log));
    assert_eq!(round.requests.len(), 1, "a person is asked whether it happened");
    assert_eq!(setup.notes(), "about to die\n", "it is not repeated");
    engine.shutdown().await;
    sources.shutdown().await;
}
