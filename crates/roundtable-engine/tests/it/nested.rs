//! Tool handlers that run prompts of their own: child turns of the same session (R002-9).

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use futures_util::stream::{self, BoxStream, StreamExt as _};
use roundtable_core::budget::Limits;
use roundtable_core::event::{Body, Event, RoundOutcome, Task, TurnEvent, TurnOutcome};
use roundtable_core::input::Command;
use roundtable_core::prompt::{Params, Prompt, Section};
use roundtable_core::settings::Settings;
use roundtable_core::tool::{ToolOutcome, ToolResult};
use roundtable_core::window::ReceivedMessage;
use roundtable_models::scripted::{Call, Reply, Script};
use roundtable_ports::{EvaluateError, Evaluation, ToolContext};
use roundtable_testing::{FnTool, Kit, message, opening, rounds, say, until};
use serde_json::json;

use crate::seen::{armed, count, one_round, round_ends, tool_outcomes, tool_results, turn_ends};

async fn ask(context: &ToolContext, prompt: &Prompt) -> Result<Evaluation, EvaluateError> {
    context.adapter.evaluate(prompt, &Params::new(), &context.event_bus, &context.session).await
}

/// A tool that has one prompt answered and hands the answer back as its value.
fn consult() -> FnTool {
    FnTool::new("consult", |_, context| {
        Box::pin(async move {
            let prompt = Prompt::new("advice", "What do you think of {topic}?")
                .with(Section::new("Role", "You give advice."));
            let params = Params::from([("topic".to_owned(), "rain".to_owned())]);
            let (bus, session) = (&context.event_bus, &context.session);
            let child = context.adapter.evaluate(&prompt, &params, bus, session).await?;
            assert_eq!(child.outcome, TurnOutcome::Answered);
            Ok(ToolResult::ok("consulted").with_value(json!({ "advice": child.output })))
        })
    })
}

fn consulting() -> Script {
    Script::default()
        .voice("ann", [Reply::calls([Call::new("consult", json!({}))]), Reply::text("Done.")])
        .voice("ann/advice", [Reply::text("Take an umbrella. You asked: {input}")])
}

/// The turns that tool calls started, with the events that started them.
fn children(events: &[Arc<Event>]) -> Vec<(&Arc<Event>, &Task)> {
    let child = |event| {
        let Event { body: Body::Turn(TurnEvent::TurnStarted { task, .. }), .. } =
            Arc::as_ref(event)
        else {
            return None;
        };
        task.tool_call().map(|_| (event, task))
    };
    events.iter().filter_map(child).collect()
}

#[tokio::test(start_paused = true)]
async fn r002_9_a_nested_prompt_is_a_child_turn_in_the_same_log_and_its_output_can_be_the_value() {
    let tool = consult();
    let ann = armed("Ann", [tool.declare()]);
    let kit = Kit::new(consulting()).tool(tool);
    let engine = kit.start().await;
    let (session, events) = one_round(&engine, vec![ann]).await;

    let call = events.iter().find(|e| e.body.kind() == "tool_call_started").unwrap();
    let [(started, task)] = children(&events)[..] else { panic!("one child") };
    assert_eq!(task.tool_call(), call.place.tool_call.as_ref());
    assert_eq!(started.place.round, call.place.round);
    let finished = events.iter().find(|e| e.body.kind() == "tool_call_finished").unwrap();
    assert_eq!(finished.place, call.place);
    let mut inside = events.iter().filter(|e| e.place.turn == started.place.turn);
    assert!(inside.clone().all(|e| call.seq < e.seq && e.seq < finished.seq));
    assert_eq!(inside.next_back().unwrap().body.kind(), "turn_ended");
    let advice = "Take an umbrella. You asked: What do you think of rain?";
    let value = json!({ "advice": advice });
    assert_eq!(tool_results(&events), [ToolResult::ok("consulted").with_value(value)]);
    // The outer model's next prompt has the message, and the value after it.
    let told = format!("consulted\n{{\"advice\":\"{advice}\"}}\n");
    assert!(kit.model.received()[2].prompt.ends_with(&told), "{}", kit.model.received()[2].prompt);
    let asked = &kit.model.received()[1];
    assert_eq!(asked.prompt, "# Role\nYou give advice.\nWhat do you think of rain?\n");
    assert_eq!(&asked.session, session.id());
    // What a child says is its parent's to tell: it is no message of the session.
    assert_eq!(session.state().await.unwrap().last_message, 2);
    engine.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn r002_9_a_child_draws_on_the_budget_of_its_parent() {
    let tool = consult();
    let mut ann = armed("Ann", [tool.declare()]);
    ann.limits = Limits { calls: Some(1), ..Limits::default() };
    let refused = FnTool::new("consult", |_, context| {
        Box::pin(async move {
            let child = ask(context, &Prompt::new("advice", "What now?")).await?;
            Ok(ToolResult::ok(format!("{:?}", child.outcome)))
        })
    });
    let kit = Kit::new(consulting()).tool(refused);
    let engine = kit.start().await;
    let (_, events) = one_round(&engine, vec![ann]).await;
    let spent = roundtable_core::budget::Exhausted::Calls;
    assert_eq!(
        tool_results(&events),
        [ToolResult::ok(format!("{:?}", TurnOutcome::Exhausted { budget: spent }))]
    );
    assert!(
        turn_ends(&events).iter().all(|(_, end)| *end == TurnOutcome::Exhausted { budget: spent })
    );
    assert_eq!(kit.model.count(), 1);
    engine.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn r002_9_a_stop_reaches_the_child_and_closes_it_before_its_parent() {
    let tool = consult();
    let ann = armed("Ann", [tool.declare()]);
    let script = Script::default()
        .voice("ann", [Reply::calls([Call::new("consult", json!({}))])])
        .voice("ann/advice", [Reply::text("never").at_gate("closed")]);
    let kit = Kit::new(script).tool(tool);
    let engine = kit.start().await;
    let session = engine.open(opening(vec![ann], Settings::default())).await.unwrap();
    session.command(say(session.id(), "m1", "Go."), None).await.unwrap();
    until("the child asks its model", || kit.model.count() == 2).await;
    session.command(Command::Stop, None).await.unwrap();
    let events = rounds(&session, 1).await;
    let last: Vec<&str> =
        events.iter().rev().take(7).rev().map(|event| event.body.kind()).collect();
    assert_eq!(
        last,
        [
            "model_call_cancelled",
            "iteration_closed",
            "turn_ended",
            "tool_call_finished",
            "iteration_closed",
            "turn_ended",
            "round_closed",
        ]
    );
    assert_eq!(tool_outcomes(&events), [ToolOutcome::Cancelled]);
    assert_eq!(round_ends(&events), [RoundOutcome::Incomplete]);
    engine.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn a_handler_can_have_several_prompts_answered_at_once() {
    let both = FnTool::new("consult", |_, context| {
        Box::pin(async move {
            let (one, two) = (Prompt::new("one", "1?"), Prompt::new("two", "2?"));
            let (one, two) = tokio::join!(ask(context, &one), ask(context, &two));
            Ok(ToolResult::ok(format!("{} {}", one?.output, two?.output)))
        })
    });
    let script = Script::default()
        .voice("ann", [Reply::calls([Call::new("consult", json!({}))]), Reply::text("Done.")])
        .voice("ann/one", [Reply::text("first").at_gate("one")])
        .voice("ann/two", [Reply::text("second")]);
    let ann = armed("Ann", [both.declare()]);
    let kit = Kit::new(script).tool(both);
    let engine = kit.start().await;
    let session = engine.open(opening(vec![ann], Settings::default())).await.unwrap();
    session.command(say(session.id(), "m1", "Go."), None).await.unwrap();
    // The second one answers while the first one waits at its gate.
    until("both children ask", || kit.model.count() == 3).await;
    kit.model.gates().open("one");
    let events = rounds(&session, 1).await;
    assert_eq!(tool_results(&events), [ToolResult::ok("first second")]);
    engine.shutdown().await;
}

/// A tool that goes down by one level, until the session has had enough.
fn dig() -> FnTool {
    FnTool::new("dig", |_, context| {
        Box::pin(async move {
            let prompt = Prompt::new("deeper", "Deeper?").offering("dig");
            match ask(context, &prompt).await {
                Ok(child) => Ok(ToolResult::ok(child.output)),
                Err(error) => Ok(ToolResult::failed(error.to_string())),
            }
        })
    })
}

fn digging() -> Script {
    let dig = || [Reply::calls([Call::new("dig", json!({}))]), Reply::text("{input} Up.")];
    Script::default().voice("ann", dig()).voice("ann/deeper", dig())
}

#[tokio::test(start_paused = true)]
async fn nesting_ends_at_the_depth_that_the_settings_allow() {
    let tool = dig();
    let ann = armed("Ann", [tool.declare()]);
    let kit = Kit::new(digging()).tool(tool);
    let engine = kit.start().await;
    let settings = Settings { max_depth: 3, ..Settings::default() };
    let session = engine.open(opening(vec![ann], settings)).await.unwrap();
    session.command(say(session.id(), "m1", "Go."), None).await.unwrap();
    let events = rounds(&session, 1).await;
    assert_eq!(count(&events, "turn_started"), 3);
    assert_eq!(
        tool_results(&events)[0],
        ToolResult::failed("turns can be nested at most 3 levels deep")
    );
    assert!(turn_ends(&events).iter().all(|(_, end)| *end == TurnOutcome::Answered));
    engine.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn one_permit_is_enough_for_a_hundred_sessions_that_nest_three_deep() {
    let tool = dig();
    let ann = armed("Ann", [tool.declare()]);
    let mut kit = Kit::new(digging()).tool(tool);
    kit.config.permits = 1;
    let engine = kit.start().await;
    let settings = Settings { max_depth: 3, ..Settings::default() };
    let mut sessions = Vec::new();
    for _ in 0..100 {
        let session = engine.open(opening(vec![ann.clone()], settings.clone())).await.unwrap();
        session.command(say(session.id(), "m1", "Go."), None).await.unwrap();
        sessions.push(session);
    }
    for session in &sessions {
        let events = rounds(session, 1).await;
        assert_eq!(round_ends(&events), [RoundOutcome::Completed]);
        assert_eq!(count(&events, "turn_ended"), 3);
    }
    assert_eq!(kit.model.count(), 600);
    engine.shutdown().await;
}

/// A tool whose handler waits for several things at once, and begins to wait for one while it is
/// about to be at work again after another.
fn juggle() -> FnTool {
    let pause = |ms| tokio::time::sleep(Duration::from_millis(ms));
    FnTool::new("juggle", move |arguments, context| {
        Box::pin(async move {
            let one = async {
                ask(context, &Prompt::new("one", "1?")).await?;
                pause(3).await;
                ask(context, &Prompt::new("two", "2?")).await
            };
            // Ends after the first one: the permit is wanted back while that one pauses.
            let three = async { ask(context, &Prompt::new("three", "3?")).await };
            // Refused at once: a wait that is over before a permit can be had.
            let long = Prompt::new("long", "x".repeat(2000));
            let refused = async {
                for _ in 0..arguments["refusals"].as_u64().unwrap() {
                    pause(1).await;
                    assert!(matches!(ask(context, &long).await, Err(EvaluateError::Refused(_))));
                }
            };
            let (one, two, ()) = tokio::join!(one, three, refused);
            Ok(ToolResult::ok(format!("{} {}", one?.output, two?.output)))
        })
    })
}

#[tokio::test(start_paused = true)]
async fn one_permit_is_enough_for_handlers_that_wait_for_several_things_at_once() {
    for refusals in [0, 100] {
        juggling(refusals).await;
    }
}

async fn juggling(refusals: u64) {
    let tool = juggle();
    let call = Call::new("juggle", json!({ "refusals": refusals }));
    let mut script = Script::default().voice("ann", [Reply::calls([call]), Reply::text("Done.")]);
    for (name, delay) in [("one", 1), ("two", 2), ("three", 2)] {
        script = script.voice(&format!("ann/{name}"), [Reply::text(name).after(delay)]);
    }
    let ann = armed("Ann", [tool.declare()]);
    let mut kit = Kit::new(script).tool(tool.timeout(Duration::from_secs(3600)));
    kit.config.permits = 1;
    let engine = kit.start().await;
    let settings = Settings { max_message_bytes: 1000, ..Settings::default() };
    let mut sessions = Vec::new();
    for _ in 0..10 {
        let session = engine.open(opening(vec![ann.clone()], settings.clone())).await.unwrap();
        session.command(say(session.id(), "m1", "Go."), None).await.unwrap();
        sessions.push(session);
    }
    for session in &sessions {
        let round = tokio::time::timeout(Duration::from_secs(600), rounds(session, 1)).await;
        let events = round.expect("nobody waits for a permit that it holds itself");
        assert_eq!(tool_results(&events), [ToolResult::ok("two three")]);
    }
    engine.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn a_call_that_is_cut_off_gives_its_permit_back() {
    let runs = Arc::new(AtomicU32::new(0));
    let counted = runs.clone();
    let hang = FnTool::new("hang", move |_, _| {
        counted.fetch_add(1, Ordering::Relaxed);
        Box::pin(std::future::pending())
    });
    let script = Script::default()
        .voice("ann", [Reply::calls([Call::new("hang", json!({}))]).after(1)])
        .voice("ann", [Reply::text("Again.")]);
    let ann = armed("Ann", [hang.clone().timeout(Duration::from_secs(3600)).declare()]);
    let mut kit = Kit::new(script).tool(hang.timeout(Duration::from_secs(3600)));
    kit.config.permits = 1;
    let engine = kit.start().await;
    let session = engine.open(opening(vec![ann], Settings::default())).await.unwrap();
    session.command(say(session.id(), "m1", "Go."), None).await.unwrap();
    until("the handler runs", || runs.load(Ordering::Relaxed) == 1).await;
    session.command(Command::Stop, None).await.unwrap();
    session.command(Command::Say(message(session.id(), "m2", "And now?")), None).await.unwrap();
    let events = tokio::time::timeout(Duration::from_secs(5), rounds(&session, 2)).await;
    let events = events.expect("the second round gets the permit of the first");
    assert_eq!(round_ends(&events), [RoundOutcome::Incomplete, RoundOutcome::Completed]);
    engine.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn a_bus_of_another_session_is_refused() {
    let stray = FnTool::new("consult", |_, context| {
        Box::pin(async move {
            struct Other(roundtable_core::id::SessionId);
            impl roundtable_ports::SessionReader for Other {
                fn id(&self) -> &roundtable_core::id::SessionId {
                    &self.0
                }
                fn messages(
                    &self,
                ) -> BoxStream<'_, Result<ReceivedMessage, roundtable_ports::LogError>>
                {
                    stream::empty().boxed()
                }
            }
            let other: Arc<dyn roundtable_ports::SessionReader> =
                Arc::new(Other(roundtable_core::id::SessionId::new("other")?));
            let prompt = Prompt::new("advice", "What?");
            let refused =
                context.adapter.evaluate(&prompt, &Params::new(), &context.event_bus, &other).await;
            Ok(ToolResult::ok(refused.unwrap_err().to_string()))
        })
    });
    let ann = armed("Ann", [stray.declare()]);
    let kit = Kit::new(consulting()).tool(stray);
    let engine = kit.start().await;
    let (_, events) = one_round(&engine, vec![ann]).await;
    assert_eq!(
        tool_results(&events),
        [ToolResult::ok(
            "the event bus belongs to another session; use the one of the tool context"
        )]
    );
    engine.shutdown().await;
}
