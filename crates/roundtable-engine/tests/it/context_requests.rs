//! Context requests that cannot be ignored (seed 000), asked and answered through the engine.

use std::sync::{Arc, Mutex};

use roundtable_backend::{Disk, Fault, Faults, MemoryStore};
use roundtable_core::Reject;
use roundtable_core::agent::Agent;
use roundtable_core::context_request::{ContextRequest, ContextResult, Priority};
use roundtable_core::event::{Body, ContextEvent, RoundOutcome, Seq};
use roundtable_core::id::{ContextRequestId, SessionId};
use roundtable_core::input::Command;
use roundtable_core::settings::Settings;
use roundtable_core::tool::{ToolDecl, ToolResult};
use roundtable_engine::{Engine, EngineError, SessionHandle};
use roundtable_models::scripted::{Call, Reply, Script};
use roundtable_testing::{Kit, go_on, opening, rounds, say};
use serde_json::json;

use crate::seen::{armed, count, one_round, requests, round_ends, tool_results};

fn asking(name: &str) -> Agent {
    armed(name, [ToolDecl::request_context()])
}

fn ask(query: &str, priority: &str) -> Call {
    let reason = format!("because of {query}");
    Call::new("request_context", json!({ "query": query, "reason": reason, "priority": priority }))
}

/// Ann asks two required things and an optional one in round 1, and answers in the next.
fn curious() -> Script {
    let calls =
        [ask("the price", "required"), ask("the colour", "optional"), ask("the date", "required")];
    Script::default()
        .voice("ann", [Reply::calls(calls), Reply::text("I have asked.")])
        .voice("ann", [Reply::text("Now I know.")])
}

async fn asked(engine: &Engine) -> (SessionHandle, Vec<ContextRequest>) {
    let (session, events) = one_round(engine, vec![asking("Ann"), asking("Bob")]).await;
    let requests = requests(&events);
    assert_eq!(session.state().await.unwrap().requests, requests);
    (session, requests)
}

fn found(request: &ContextRequest, text: &str) -> ContextResult {
    ContextResult::found(request.id.clone(), text)
}

async fn refused(session: &SessionHandle, results: Vec<ContextResult>) -> EngineError {
    let before = session.state().await.unwrap();
    let refused = session.command(go_on(session.id(), "m2", results), None).await.unwrap_err();
    assert_eq!(session.state().await.unwrap(), before, "a refused command changes nothing");
    refused
}

#[tokio::test(start_paused = true)]
async fn r000_6_r000_15_requests_are_stored_with_the_round_that_raised_them() {
    let kit = Kit::new(curious());
    let engine = kit.start().await;
    let (session, events) = one_round(&engine, vec![asking("Ann")]).await;
    let stored = requests(&events);
    let shown: Vec<_> = stored
        .iter()
        .map(|r| (r.agent.as_str(), r.query.as_str(), r.reason.as_str(), r.priority))
        .collect();
    assert_eq!(
        shown,
        [
            ("agt_ann", "the price", "because of the price", Priority::Required),
            ("agt_ann", "the colour", "because of the colour", Priority::Optional),
            ("agt_ann", "the date", "because of the date", Priority::Required),
        ]
    );
    let queued = "Context request queued.";
    let results: Vec<_> = stored
        .iter()
        .map(|r| ToolResult::ok(queued).with_value(json!({ "requestId": r.id, "message": queued })))
        .collect();
    assert_eq!(tool_results(&events), results);
    assert_eq!(round_ends(&events), [RoundOutcome::Completed]);
    assert_eq!(session.state().await.unwrap().requests, stored);
    engine.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn r000_7_r000_8_going_on_without_answers_is_refused_with_the_exact_text() {
    let kit = Kit::new(curious());
    let engine = kit.start().await;
    let (session, requests) = asked(&engine).await;
    let calls = kit.model.count();
    let error = refused(&session, Vec::new()).await;
    assert_eq!(
        error.to_string(),
        format!(
            "Cannot continue: 2 required context request(s) pending.\n\
             \n\
             You MUST provide contextResults for these requests:\n\
             - [{}] (agt_ann): the price\n\
             - [{}] (agt_ann): the date\n\
             \n\
             Answer these requests, then continue the session.",
            requests[0].id, requests[2].id
        )
    );
    assert_eq!(kit.model.count(), calls);
    assert_eq!(session.state().await.unwrap().rounds_completed, 1);
    engine.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn r000_9_r000_10_only_the_missing_ones_count_and_a_failure_is_an_answer() {
    let kit = Kit::new(curious());
    let engine = kit.start().await;
    let (session, requests) = asked(&engine).await;
    let failed = ContextResult::not_found(requests[0].id.clone(), "the shop is closed");
    let optional = found(&requests[1], "blue");
    let error = refused(&session, vec![failed.clone(), optional]).await;
    let EngineError::Reject(Reject::ContextRequired { missing }) = error else {
        panic!("another refusal: {error}");
    };
    assert_eq!(missing, [requests[2].clone()]);

    let answers = vec![failed, found(&requests[2], "tomorrow")];
    session.command(go_on(session.id(), "m2", answers), None).await.unwrap();
    let events = rounds(&session, 2).await;
    assert_eq!(round_ends(&events), [RoundOutcome::Completed; 2]);
    // The optional one was not answered, and stays pending beside whatever comes.
    assert_eq!(session.state().await.unwrap().requests, [requests[1].clone()]);
    engine.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn r000_11_optional_requests_never_block() {
    let script = Script::default()
        .voice("ann", [Reply::calls([ask("the colour", "optional")]), Reply::text("Asked.")])
        .voice("ann", [Reply::text("Never mind.")]);
    let kit = Kit::new(script);
    let engine = kit.start().await;
    let (session, events) = one_round(&engine, vec![asking("Ann")]).await;
    session.command(say(session.id(), "m2", "Go on."), None).await.unwrap();
    assert_eq!(round_ends(&rounds(&session, 2).await), [RoundOutcome::Completed; 2]);
    assert_eq!(session.state().await.unwrap().requests, requests(&events));
    engine.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn r000_12_r000_13_all_answers_are_cleared_and_reach_every_agent_as_data() {
    let kit = Kit::new(curious());
    let engine = kit.start().await;
    let (session, requests) = asked(&engine).await;
    let answers = vec![
        found(&requests[0], "9 euros"),
        found(&requests[1], "blue"),
        ContextResult::not_found(requests[2].id.clone(), "nobody knows"),
    ];
    session.command(go_on(session.id(), "m2", answers), None).await.unwrap();
    rounds(&session, 2).await;
    assert_eq!(session.state().await.unwrap().requests, []);
    let received = kit.model.received();
    let second: Vec<_> = received.iter().rev().take(2).collect();
    assert_eq!(second.iter().map(|call| call.agent.suffix()).collect::<Vec<_>>(), ["bob", "ann"]);
    for call in second {
        for (request, answer) in [(0, "9 euros"), (1, "blue"), (2, "[Error: nobody knows]")] {
            let request = &requests[request];
            let block = format!("[{}] {}\n{answer}\n", request.id, request.query);
            assert!(call.prompt.contains(&block), "{}", call.prompt);
        }
        let opened = call.prompt.find("<context-results-").unwrap();
        let closed = call.prompt.find("</context-results-").unwrap();
        assert!(opened < call.prompt.find("9 euros").unwrap());
        assert!(call.prompt.find("nobody knows").unwrap() < closed);
    }
    engine.shutdown().await;
}

/// Notes where each commit begins.
#[derive(Default)]
struct Commits(Mutex<Vec<Seq>>);

impl Faults for Commits {
    fn on_append(&self, _session: &SessionId, expect: Seq) -> Fault {
        self.0.lock().unwrap().push(expect);
        Fault::None
    }
}

#[tokio::test(start_paused = true)]
async fn answers_are_recorded_and_cleared_in_the_commit_that_takes_the_message() {
    let commits = Arc::new(Commits::default());
    let mut kit = Kit::new(curious());
    kit.store = Arc::new(MemoryStore::with_faults(Arc::new(Disk::default()), commits.clone()));
    let engine = kit.start().await;
    let (session, requests) = asked(&engine).await;
    let answers = requests.iter().map(|request| found(request, "yes")).collect();
    session.command(go_on(session.id(), "m2", answers), None).await.unwrap();
    let events = rounds(&session, 2).await;
    let commit_of = |kind: &str| {
        let event = events.iter().rev().find(|event| event.body.kind() == kind).unwrap();
        let commits = commits.0.lock().unwrap();
        commits.iter().rev().find(|begin| **begin < event.seq).copied().unwrap()
    };
    assert_eq!(commit_of("context_provided"), commit_of("session_input_accepted"));
    assert_eq!(commit_of("context_provided"), commit_of("round_opened"));
    engine.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn r000_16_every_request_is_its_own_agents_however_many_ask_at_once() {
    let names = ["ann", "bob", "cid", "dee", "eve", "fay", "gus", "hal"];
    let mut script = Script::default();
    for name in names {
        let calls =
            [ask(&format!("{name} one"), "required"), ask(&format!("{name} two"), "optional")];
        script = script.voice(name, [Reply::calls(calls).at_gate("all"), Reply::text("Asked.")]);
    }
    let kit = Kit::new(script);
    let engine = kit.start().await;
    let mut sessions = Vec::new();
    for _ in 0..50 {
        let agents = names.iter().map(|name| asking(name)).collect();
        let session = engine.open(opening(agents, Settings::default())).await.unwrap();
        session.command(say(session.id(), "m1", "Go."), None).await.unwrap();
        sessions.push(session);
    }
    kit.model.gates().open("all");
    let mut ids = std::collections::BTreeSet::new();
    for session in sessions {
        rounds(&session, 1).await;
        let requests = session.state().await.unwrap().requests;
        assert_eq!(requests.len(), 16);
        for request in requests {
            assert_eq!(request.query.split(' ').next().unwrap(), request.agent.suffix());
            assert!(ids.insert(request.id), "use a new id");
        }
    }
    engine.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn r000_18_not_found_and_not_active_come_first() {
    let kit = Kit::new(curious());
    let engine = kit.start().await;
    let nowhere = SessionId::new("nowhere").unwrap();
    let unknown = engine.session(&nowhere).command(go_on(&nowhere, "m1", Vec::new()), None).await;
    assert_eq!(unknown, Err(Reject::NotFound { session: nowhere }.into()));
    let (session, requests) = asked(&engine).await;
    session.command(Command::Pause, None).await.unwrap();
    let paused = refused(&session, Vec::new()).await;
    assert!(paused.to_string().starts_with("session is not active: it is paused"), "{paused}");
    session.command(Command::Complete { reason: "enough".to_owned() }, None).await.unwrap();
    let ended = refused(&session, Vec::new()).await;
    assert!(ended.to_string().starts_with("session is not active: it is completed"), "{ended}");
    let late = session.command(Command::Provide(vec![found(&requests[0], "late")]), None).await;
    assert!(matches!(late, Err(EngineError::Reject(Reject::NotActive { .. }))));
    engine.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn requests_survive_a_restart_and_are_answered_there() {
    let kit = Kit::new(curious());
    let engine = kit.start().await;
    let (session, requests) = asked(&engine).await;
    engine.shutdown().await;

    let engine = Kit { node: "two", ..kit }.start().await;
    let session = engine.session(session.id());
    assert_eq!(session.state().await.unwrap().requests, requests);
    assert!(refused(&session, Vec::new()).await.to_string().starts_with("Cannot continue: 2"));
    let answers = requests.iter().map(|request| found(request, "yes")).collect();
    session.command(go_on(session.id(), "m2", answers), None).await.unwrap();
    assert_eq!(round_ends(&rounds(&session, 2).await), [RoundOutcome::Completed; 2]);
    engine.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn f25_of_two_racing_answers_the_first_one_is_recorded_and_the_other_changes_nothing() {
    let kit = Kit::new(curious());
    let engine = kit.start().await;
    let (session, requests) = asked(&engine).await;
    let answer = |text: &str| {
        let results = requests.iter().map(|request| found(request, text)).collect();
        session.command(Command::Provide(results), None)
    };
    let (one, two) = tokio::join!(answer("first"), answer("second"));
    let warnings: Vec<String> = requests
        .iter()
        .map(|request| {
            let why = "already has a different answer; this one is ignored";
            format!("{} {why}", request.id)
        })
        .collect();
    assert_eq!((one.unwrap().warnings, two.unwrap().warnings), (Vec::new(), warnings.clone()));
    assert_eq!(answer("third").await.unwrap().warnings, warnings, "late, and once more");
    assert!(answer("first").await.unwrap().warnings.is_empty(), "a retry");
    session.command(say(session.id(), "m2", "Go on."), None).await.unwrap();
    let events = rounds(&session, 2).await;
    assert_eq!(count(&events, "context_provided"), 3);
    let texts: Vec<_> = events
        .iter()
        .filter_map(|event| match &event.body {
            Body::Context(ContextEvent::ContextProvided(result)) => result.result.as_deref(),
            _ => None,
        })
        .collect();
    assert_eq!(texts, ["first"; 3]);
    engine.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn f25_an_answer_to_what_was_never_asked_is_named_in_the_warnings() {
    let kit = Kit::new(curious());
    let engine = kit.start().await;
    let (session, requests) = asked(&engine).await;
    let stranger = ContextRequestId::new("stranger").unwrap();
    let answers = vec![ContextResult::found(stranger, "yes"), found(&requests[0], "9 euros")];
    let receipt = session.command(Command::Provide(answers), None).await.unwrap();
    assert_eq!(receipt.warnings, ["unknown request ctx_stranger; the answer is ignored"]);
    assert_eq!(session.state().await.unwrap().requests, requests[1..]);
    engine.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn f26_answers_that_are_too_many_or_too_long_are_refused_and_change_nothing() {
    let kit = Kit::new(curious());
    let engine = kit.start().await;
    let (session, requests) = asked(&engine).await;
    let many = vec![found(&requests[0], "yes"); 100_000];
    let error = refused(&session, [many, vec![found(&requests[2], "yes")]].concat()).await;
    assert_eq!(error.to_string(), "too many results (100001); send at most 1024 at once");
    let long = "x".repeat(300 * 1024);
    let error = refused(&session, vec![found(&requests[0], &long), found(&requests[2], "")]).await;
    assert_eq!(error.to_string(), "the total of the results has 307200 bytes; the limit is 262144");
    engine.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn on_the_final_round_nothing_can_be_asked() {
    let kit = Kit::new(curious());
    let engine = kit.start().await;
    let settings = Settings { total_rounds: Some(1), ..Settings::default() };
    let session = engine.open(opening(vec![asking("Ann")], settings)).await.unwrap();
    session.command(say(session.id(), "m1", "Go."), None).await.unwrap();
    let events = rounds(&session, 1).await;
    let refused = "Cannot request context on the final round. This is round 1 of 1. \
                   Please provide your best response with available information.";
    assert_eq!(tool_results(&events), vec![ToolResult::failed(refused); 3]);
    assert_eq!(session.state().await.unwrap().requests, []);
    engine.shutdown().await;
}
