//! Stopping: what runs is seen through, nothing new begins, and whoever comes next goes on.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use roundtable_core::agent::Agent;
use roundtable_core::event::{Body, IterationEvent, RoundOutcome};
use roundtable_core::input::Command;
use roundtable_core::prompt::{Params, Prompt};
use roundtable_core::settings::{Order, Settings};
use roundtable_core::tool::ToolResult;
use roundtable_engine::{CutCall, CutTarget, Engine, EngineError, SessionHandle};
use roundtable_models::scripted::{Call, Reply, Script};
use roundtable_testing::{FnTool, Kit, agent, opening, rounds, say, until};
use serde_json::json;

use crate::seen::{armed, count, kinds, replies, round_ends, tool_results};

async fn begin(engine: &Engine, agents: Vec<Agent>, order: Order) -> SessionHandle {
    let settings = Settings { order, ..Settings::default() };
    let session = engine.open(opening(agents, settings)).await.unwrap();
    session.command(say(session.id(), "m1", "Go."), None).await.unwrap();
    session
}

fn log(kit: &Kit, session: &SessionHandle) -> Vec<Arc<roundtable_core::event::Event>> {
    kit.store.disk().dump(session.id()).into_iter().map(|stored| stored.event).collect()
}

#[tokio::test(start_paused = true)]
async fn a_drain_records_what_runs_and_starts_nothing_new() {
    let echo = FnTool::echo("echo");
    let script = Script::default()
        .voice(
            "ann",
            [Reply::calls([Call::new("echo", json!({}))]).at_gate("ann"), Reply::text("A.")],
        )
        .voice("bob", [Reply::text("B.")]);
    let kit = Kit::new(script).tool(echo.clone());
    let engine = kit.start().await;
    let agents = vec![armed("Ann", [echo.declare()]), agent("Bob")];
    let session = begin(&engine, agents, Order::Sequential).await;
    until("Ann is asked", || kit.model.count() == 1).await;
    let gates = kit.model.gates().clone();
    tokio::join!(engine.shutdown(), async {
        tokio::time::sleep(Duration::from_secs(1)).await;
        gates.open("ann");
    });
    assert_eq!(engine.loaded(), 0);
    let drained = log(&kit, &session);
    // Her answer is recorded with the call that it asks for; the call waits for whoever comes next.
    assert_eq!(kinds(&drained).last().unwrap(), "tool_call_requested");
    assert_eq!(kit.model.count(), 1);

    let engine = Kit { node: "two", ..kit }.start().await;
    let session = engine.session(session.id());
    let events = rounds(&session, 1).await;
    assert_eq!(replies(&events), ["", "A.", "B."]);
    assert_eq!(events[..drained.len()], drained[..]);
    assert_eq!(count(&events, "model_call_interrupted"), 0);
    assert_eq!(count(&events, "tool_call_interrupted"), 0);
    assert_eq!(round_ends(&events), [RoundOutcome::Completed]);
    engine.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn a_planned_stop_of_many_sessions_makes_no_call_twice() {
    let mut script = Script::default();
    for name in ["ann", "bob", "cid"] {
        script = script.voice(name, [Reply::text("Well: {input}").after(20).in_pieces(2, 3)]);
    }
    let mut kit = Kit::new(script);
    let engine = kit.start().await;
    let mut sessions = Vec::new();
    for number in 0..40 {
        let agents = vec![agent("Ann"), agent("Bob"), agent("Cid")];
        let order = if number % 2 == 0 { Order::Sequential } else { Order::Parallel };
        sessions.push(begin(&engine, agents, order).await);
        tokio::time::sleep(Duration::from_millis(number)).await;
    }
    // Stopped again and again while rounds are under way.
    let (mut engine, nodes) = (engine, ["two", "three", "four", "five"]);
    for node in nodes {
        engine.shutdown().await;
        assert_eq!(engine.loaded(), 0);
        kit.node = node;
        engine = kit.start().await;
        tokio::time::sleep(Duration::from_millis(15)).await;
    }
    for session in &sessions {
        let events = rounds(&engine.session(session.id()), 1).await;
        assert_eq!(count(&events, "model_call_interrupted"), 0);
        assert_eq!(count(&events, "model_call_finished"), 3);
    }
    assert_eq!(kit.model.count(), 120);
    engine.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn commands_during_a_drain_are_told_to_come_back() {
    let kit = Kit::new(Script::default().voice("ann", [Reply::text("A.").at_gate("ann")]));
    let engine = kit.start().await;
    let session = begin(&engine, vec![agent("Ann")], Order::Parallel).await;
    until("Ann is asked", || kit.model.count() == 1).await;
    let gates = kit.model.gates().clone();
    tokio::join!(engine.shutdown(), async {
        tokio::time::sleep(Duration::from_millis(1)).await;
        let again = say(session.id(), "m2", "And?");
        assert_eq!(session.command(again, None).await, Err(EngineError::Stopping));
        assert_eq!(session.command(Command::Stop, None).await, Err(EngineError::Stopping));
        let other = engine.open(opening(vec![agent("Ann")], Settings::default())).await;
        assert_eq!(other.err(), Some(EngineError::Stopping));
        // Reading goes on.
        assert!(session.state().await.unwrap().round.is_some());
        gates.open("ann");
    });
    assert_eq!(session.state().await.err(), Some(EngineError::Stopping));
    assert_eq!(
        EngineError::Stopping.to_string(),
        "the engine is stopping; retry when it is running again"
    );
    assert_eq!(kinds(&log(&kit, &session)).last().unwrap(), "round_closed");
}

#[tokio::test(start_paused = true)]
async fn what_takes_longer_than_the_drain_limit_is_cut_off_and_declared() {
    let script = Script::default().voice("ann", [Reply::text("slow words").in_pieces(1, 400_000)]);
    let mut kit = Kit::new(script);
    kit.config.drain_within = Duration::from_secs(1000);
    let engine = kit.start().await;
    let session = begin(&engine, vec![agent("Ann")], Order::Parallel).await;
    until("Ann is asked", || kit.model.count() == 1).await;
    let drained = tokio::time::timeout(Duration::from_secs(1001), engine.shutdown()).await;
    drained.expect("the limit holds");
    assert_eq!(engine.loaded(), 0);
    let cut = CutCall {
        session: session.id().clone(),
        agent: Some("Ann".to_owned()),
        target: CutTarget::Model("scripted".to_owned()),
    };
    assert_eq!(engine.cut_calls(), std::slice::from_ref(&cut));
    let told = format!("{}: call of model scripted for Ann", session.id());
    assert_eq!(cut.to_string(), told);

    kit.node = "two";
    let engine = kit.start().await;
    let session = engine.session(session.id());
    let events = rounds(&session, 1).await;
    let interrupted: Vec<_> = events
        .iter()
        .filter_map(|event| match &event.body {
            Body::Iteration(IterationEvent::ModelCallInterrupted {
                attempt,
                partial,
                possible_duplicate,
                ..
            }) => Some((*attempt, partial.as_str(), *possible_duplicate)),
            _ => None,
        })
        .collect();
    // What had been noted is kept with the attempt, and the call is made again.
    assert_eq!(interrupted, [(1, "sl", true)]);
    assert_eq!(replies(&events), ["slow words"]);
    assert_eq!(kit.model.count(), 2);
    engine.shutdown().await;
    assert_eq!(engine.cut_calls(), [], "nothing ran any more");
}

#[tokio::test(start_paused = true)]
async fn a_tool_that_outlasts_the_drain_is_named_with_its_agent() {
    let slow = FnTool::new("slow", |_, _| Box::pin(std::future::pending()));
    let script = Script::default().voice("ann", [Reply::calls([Call::new("slow", json!({}))])]);
    let kit = Kit::new(script).tool(slow.clone());
    let engine = kit.start().await;
    let session = begin(&engine, vec![armed("Ann", [slow.declare()])], Order::Parallel).await;
    until("the tool is called", || count(&log(&kit, &session), "tool_call_started") == 1).await;
    engine.shutdown().await;
    let cut = engine.cut_calls();
    let told: Vec<String> = cut.iter().map(ToString::to_string).collect();
    assert_eq!(told, [format!("{}: call of tool slow for Ann", session.id())]);
}

#[tokio::test(start_paused = true)]
async fn a_second_stop_ends_at_once_and_so_does_a_stop_after_a_drain() {
    let kit = Kit::new(Script::default().voice("ann", [Reply::text("A.").at_gate("never")]));
    let engine = kit.start().await;
    let session = begin(&engine, vec![agent("Ann")], Order::Parallel).await;
    until("Ann is asked", || kit.model.count() == 1).await;
    let soon = Duration::from_millis(10);
    tokio::time::timeout(soon, engine.stop()).await.expect("at once");
    tokio::time::timeout(soon, engine.stop()).await.expect("at once");
    tokio::time::timeout(soon, engine.shutdown()).await.expect("at once");
    assert_eq!(engine.loaded(), 0);
    assert_eq!(session.command(Command::Stop, None).await, Err(EngineError::Stopping));
}

#[tokio::test(start_paused = true)]
async fn a_stop_while_a_drain_waits_ends_both() {
    let kit = Kit::new(Script::default().voice("ann", [Reply::text("A.").at_gate("never")]));
    let engine = kit.start().await;
    begin(&engine, vec![agent("Ann")], Order::Parallel).await;
    until("Ann is asked", || kit.model.count() == 1).await;
    let both = async {
        tokio::join!(engine.shutdown(), async {
            tokio::time::sleep(Duration::from_secs(1)).await;
            engine.stop().await;
        })
    };
    tokio::time::timeout(Duration::from_secs(2), both).await.expect("the drain gives way");
    assert_eq!(engine.loaded(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_stop_does_not_wait_for_a_store_that_hangs() {
    use roundtable_backend::{Fault, Faults, MemoryStore};
    /// The second commit never returns.
    struct Hangs;
    impl Faults for Hangs {
        fn on_append(
            &self,
            _session: &roundtable_core::id::SessionId,
            expect: roundtable_core::event::Seq,
        ) -> Fault {
            if expect.0 == 1 { Fault::CrashBefore } else { Fault::None }
        }
    }
    let mut kit = Kit::new(Script::default());
    kit.store = Arc::new(MemoryStore::with_faults(kit.store.disk().clone(), Arc::new(Hangs)));
    let engine = kit.start().await;
    let session = engine.open(opening(vec![agent("Ann")], Settings::default())).await.unwrap();
    let (told, ()) = tokio::join!(session.command(say(session.id(), "m1", "Go."), None), async {
        tokio::time::sleep(Duration::from_secs(5)).await;
        tokio::time::timeout(Duration::from_secs(1), engine.stop()).await.expect("at once");
    });
    assert_eq!(told, Err(EngineError::Stopping), "what was not committed is not acknowledged");
    assert_eq!(log(&kit, &session).len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_drain_sees_a_running_handler_through() {
    let runs = Arc::new(AtomicU32::new(0));
    let counted = runs.clone();
    let slow = FnTool::new("slow", move |_, context| {
        counted.fetch_add(1, Ordering::Relaxed);
        Box::pin(async move {
            tokio::time::sleep(Duration::from_secs(10)).await;
            context.event_bus.publish("half", json!({})).await?;
            tokio::time::sleep(Duration::from_secs(10)).await;
            Ok(ToolResult::ok("done"))
        })
    });
    let slow = slow.effect(roundtable_core::tool::Effect::Effectful);
    let script = Script::default()
        .voice("ann", [Reply::calls([Call::new("slow", json!({}))]), Reply::text("A.")]);
    let mut kit = Kit::new(script).tool(slow.clone());
    let engine = kit.start().await;
    let session = begin(&engine, vec![armed("Ann", [slow.declare()])], Order::Parallel).await;
    until("the handler runs", || runs.load(Ordering::Relaxed) == 1).await;
    engine.shutdown().await;
    let drained = log(&kit, &session);
    assert_eq!(tool_results(&drained), [ToolResult::ok("done")]);
    assert_eq!(count(&drained, "tool_call_published"), 1);
    kit.node = "two";
    let engine = kit.start().await;
    let events = rounds(&engine.session(session.id()), 1).await;
    assert_eq!((replies(&events).len(), runs.load(Ordering::Relaxed)), (2, 1));
    engine.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn a_drain_answers_the_prompts_of_a_running_handler_and_starts_nothing_else() {
    let two = FnTool::new("two", |_, context| {
        Box::pin(async move {
            let (bus, session) = (&context.event_bus, &context.session);
            let mut said = Vec::new();
            for name in ["one", "two"] {
                let prompt = Prompt::new(name, "?");
                let child = context.adapter.evaluate(&prompt, &Params::new(), bus, session).await?;
                said.push(child.output);
            }
            Ok(ToolResult::ok(said.join(" ")))
        })
    });
    let script = Script::default()
        .voice("ann", [Reply::calls([Call::new("two", json!({}))]), Reply::text("A.")])
        .voice("ann/one", [Reply::text("1").at_gate("one")])
        .voice("ann/two", [Reply::text("2")]);
    let mut kit = Kit::new(script).tool(two.clone());
    let engine = kit.start().await;
    let session = begin(&engine, vec![armed("Ann", [two.declare()])], Order::Parallel).await;
    until("the first nested prompt is asked", || kit.model.count() == 2).await;
    let gates = kit.model.gates().clone();
    tokio::join!(engine.shutdown(), async {
        tokio::time::sleep(Duration::from_secs(1)).await;
        gates.open("one");
    });
    // The handler has to end first, so it is answered; what follows from it waits.
    let drained = log(&kit, &session);
    assert_eq!(tool_results(&drained), [ToolResult::ok("1 2")]);
    assert_eq!(kit.model.count(), 3, "seat, one, two");
    kit.node = "two";
    let engine = kit.start().await;
    let events = rounds(&engine.session(session.id()), 1).await;
    assert_eq!(replies(&events), ["", "1", "2", "A."]);
    assert_eq!(count(&events, "model_call_interrupted"), 0);
    assert_eq!(kit.model.count(), 4, "and the seat again");
    engine.shutdown().await;
}
