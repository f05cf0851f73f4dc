//! Time limits, kept by one scheduler, for sessions in memory and for those that are not.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use roundtable_core::budget::{Exhausted, Limits};
use roundtable_core::event::{Body, ContextEvent, IterationEvent, RoundOutcome, TurnOutcome};
use roundtable_core::settings::Settings;
use roundtable_core::tool::{ToolOutcome, ToolResult};
use roundtable_models::scripted::{Call, Reply, Script};
use roundtable_testing::{FnTool, Kit, agent, opening, rounds, say, until};
use serde_json::json;

use crate::seen::{armed, count, requests, round_ends, tool_outcomes, turn_ends};

fn within(time_ms: u64) -> Limits {
    Limits { time_ms: Some(time_ms), ..Limits::default() }
}

const TIME_IS_UP: TurnOutcome = TurnOutcome::Exhausted { budget: Exhausted::Time };

#[tokio::test(start_paused = true)]
async fn a_rounds_time_limit_ends_the_turns_that_still_run_and_keeps_what_they_said() {
    let script = Script::default()
        .voice("ann", [Reply::text("Quick.")])
        .voice("bob", [Reply::text("Slowly, very slowly.").in_pieces(6, 400)])
        .voice("cid", [Reply::text("Never.").at_gate("never")]);
    let kit = Kit::new(script);
    let engine = kit.start().await;
    let settings = Settings { round_limits: within(1000), ..Settings::default() };
    let agents = vec![agent("Ann"), agent("Bob"), agent("Cid")];
    let session = engine.open(opening(agents, settings)).await.unwrap();
    session.command(say(session.id(), "m1", "Go."), None).await.unwrap();
    let events = rounds(&session, 1).await;
    let ends: Vec<_> = turn_ends(&events)
        .into_iter()
        .map(|(agent, end)| (agent.suffix().to_owned(), end))
        .collect();
    let end = |name: &str, end: TurnOutcome| (name.to_owned(), end);
    assert_eq!(
        ends,
        [end("ann", TurnOutcome::Answered), end("bob", TIME_IS_UP), end("cid", TIME_IS_UP)]
    );
    let partials: Vec<_> = events
        .iter()
        .filter_map(|event| match &event.body {
            Body::Iteration(IterationEvent::ModelCallCancelled { partial, .. }) => {
                Some(partial.as_str())
            }
            _ => None,
        })
        .collect();
    assert_eq!(partials, ["Slowly, very", ""]);
    assert_eq!(round_ends(&events), [RoundOutcome::Completed]);
    let took = events.last().unwrap().at.duration_since(events[0].at);
    assert!(
        took >= SignedDuration::from_secs(1) && took < SignedDuration::from_millis(1100),
        "{took}"
    );
    engine.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn a_turns_time_limit_ends_that_turn_alone() {
    let script = Script::default()
        .voice("ann", [Reply::text("Never.").at_gate("never")])
        .voice("bob", [Reply::text("In time.").after(60_000)]);
    let kit = Kit::new(script);
    let engine = kit.start().await;
    let mut ann = agent("Ann");
    ann.limits = within(5000);
    let session = engine.open(opening(vec![ann, agent("Bob")], Settings::default())).await.unwrap();
    session.command(say(session.id(), "m1", "Go."), None).await.unwrap();
    let events = rounds(&session, 1).await;
    let ends: Vec<_> = turn_ends(&events).into_iter().map(|(_, end)| end).collect();
    assert_eq!(ends, [TIME_IS_UP, TurnOutcome::Answered]);
    engine.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn a_handler_is_told_the_deadline_of_its_own_turn() {
    let told: Arc<Mutex<Vec<(String, Option<Timestamp>)>>> = Arc::default();
    let kept = told.clone();
    let look = FnTool::new("look", move |_, context| {
        let agent = context.scope.ids.agent.suffix().to_owned();
        kept.lock().unwrap().push((agent, context.scope.deadline));
        Box::pin(async { Ok(ToolResult::ok("seen")) })
    });
    let turn = || [Reply::calls([Call::new("look", json!({}))]), Reply::text("Done.")];
    let script = Script::default().voice("ann", turn()).voice("bob", turn());
    let (mut ann, bob) = (armed("Ann", [look.declare()]), armed("Bob", [look.declare()]));
    ann.limits = within(5000);
    let kit = Kit::new(script).tool(look);
    let engine = kit.start().await;
    let settings = Settings { round_limits: within(60_000), ..Settings::default() };
    let session = engine.open(opening(vec![ann, bob], settings)).await.unwrap();
    session.command(say(session.id(), "m1", "Go."), None).await.unwrap();
    let events = rounds(&session, 1).await;
    let opened = events.iter().find(|e| e.body.kind() == "round_opened").unwrap().at;
    let after = |seconds| Some(opened.checked_add(SignedDuration::from_secs(seconds)).unwrap());
    let mut told = told.lock().unwrap().clone();
    told.sort();
    assert_eq!(told, [("ann".to_owned(), after(5)), ("bob".to_owned(), after(60))]);
    engine.shutdown().await;
}

/// A kit in which Ann's only call waits for a person, and her round has ten minutes.
fn patient() -> (Kit, roundtable_core::event::Opening) {
    let act = FnTool::echo("act");
    let script = Script::default().voice("ann", [Reply::calls([Call::new("act", json!({}))])]);
    let ann = armed("Ann", [act.declare().with_approval()]);
    let settings = Settings { round_limits: within(600_000), ..Settings::default() };
    (Kit::new(script).tool(act), opening(vec![ann], settings))
}

#[tokio::test(start_paused = true)]
async fn a_limit_is_kept_for_a_session_that_is_not_in_memory() {
    let (kit, opening) = patient();
    let engine = kit.start().await;
    let session = engine.open(opening).await.unwrap();
    session.command(say(session.id(), "m1", "Go."), None).await.unwrap();
    tokio::time::sleep(Duration::from_secs(120)).await;
    assert_eq!(engine.loaded(), 0, "waiting for a person costs nothing");
    let events = rounds(&session, 1).await;
    assert_eq!(tool_outcomes(&events), [ToolOutcome::Cancelled]);
    assert_eq!(count(&events, "context_withdrawn"), 1);
    assert_eq!(turn_ends(&events)[0].1, TIME_IS_UP);
    let took = events.last().unwrap().at.duration_since(events[0].at);
    assert_eq!(took.as_secs(), 600);
    assert_eq!(session.state().await.unwrap().requests, []);
    engine.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn a_limit_is_kept_by_an_engine_that_was_started_since() {
    let (mut kit, opening) = patient();
    let engine = kit.start().await;
    let session = engine.open(opening).await.unwrap();
    session.command(say(session.id(), "m1", "Go."), None).await.unwrap();
    until("the call waits", || {
        let log = kit.store.disk().dump(session.id());
        log.iter().any(|stored| {
            matches!(&stored.event.body, Body::Context(ContextEvent::ContextRequested(_)))
        })
    })
    .await;
    engine.shutdown().await;
    (kit.node, kit.clock) = ("two", 595);
    let engine = kit.start().await;
    let session = engine.session(session.id());
    let events = rounds(&session, 1).await;
    assert_eq!(turn_ends(&events)[0].1, TIME_IS_UP);
    let took = events.last().unwrap().at.duration_since(events[0].at).as_secs();
    assert!((600..=605).contains(&took), "{took}");
    engine.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn an_approval_that_comes_after_the_session_left_memory_runs_the_call() {
    let (kit, opening) = patient();
    let engine = kit.start().await;
    let session = engine.open(opening).await.unwrap();
    session.command(say(session.id(), "m1", "Go."), None).await.unwrap();
    tokio::time::sleep(Duration::from_secs(120)).await;
    assert_eq!(engine.loaded(), 0);
    let log: Vec<_> = kit.store.disk().dump(session.id()).into_iter().map(|s| s.event).collect();
    let request = requests(&log).remove(0);
    assert_eq!(request.query, "May act be called with {}?");
    let yes = roundtable_core::context_request::ContextResult::approve(request.id);
    session.command(roundtable_core::input::Command::Provide(vec![yes]), None).await.unwrap();
    until("the call is made", || {
        let log = kit.store.disk().dump(session.id());
        log.iter().any(|stored| stored.event.body.kind() == "tool_call_finished")
    })
    .await;
    let log: Vec<_> = kit.store.disk().dump(session.id()).into_iter().map(|s| s.event).collect();
    assert_eq!(tool_outcomes(&log), [ToolOutcome::Returned(ToolResult::ok("{}"))]);
    engine.stop().await;
}

#[tokio::test(start_paused = true)]
async fn however_many_sessions_set_a_timer_at_once_each_is_woken() {
    let kit = Kit::new(Script::default().voice("ann", [Reply::text("Never.").at_gate("never")]));
    let engine = kit.start().await;
    let settings = Settings { round_limits: within(1000), ..Settings::default() };
    let mut sessions = Vec::new();
    for _ in 0..1500 {
        let session = engine.open(opening(vec![agent("Ann")], settings.clone())).await.unwrap();
        sessions.push(session);
    }
    let talk = sessions.iter().map(|session| session.command(say(session.id(), "m1", "Go."), None));
    futures_util::future::join_all(talk).await;
    tokio::time::sleep(Duration::from_millis(1100)).await;
    for session in &sessions {
        let log = kit.store.disk().dump(session.id());
        assert_eq!(log.last().unwrap().event.body.kind(), "round_closed", "{}", session.id());
    }
    engine.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn a_session_whose_mailbox_is_full_when_its_time_comes_looks_at_the_clock_itself() {
    let mut kit =
        Kit::new(Script::default().voice("ann", [Reply::text("Never.").at_gate("never")]));
    kit.config.mailbox = 1;
    let engine = kit.start().await;
    let settings = Settings { round_limits: within(50), ..Settings::default() };
    let session = engine.open(opening(vec![agent("Ann")], settings)).await.unwrap();
    session.command(say(session.id(), "m1", "Go."), None).await.unwrap();
    // Callers who leave the door no moment to itself.
    let crowd = (0..20).map(|_| async {
        while session.state().await.unwrap().round.is_some() {
            tokio::task::yield_now().await;
            tokio::time::sleep(Duration::from_micros(500)).await;
        }
    });
    let crowd = futures_util::future::join_all(crowd);
    tokio::time::timeout(Duration::from_secs(5), crowd).await.expect("the round ends in time");
    engine.shutdown().await;
}
