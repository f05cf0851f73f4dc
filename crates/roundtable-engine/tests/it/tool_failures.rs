//! What goes wrong with a tool is data for the model, never the end of the run.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use roundtable_core::context_request::{About, ContextResult, Decision, Priority};
use roundtable_core::event::{RoundOutcome, TurnOutcome};
use roundtable_core::input::Command;
use roundtable_core::settings::Settings;
use roundtable_core::tool::{Effect, ToolOutcome, ToolResult};
use roundtable_engine::{EngineError, Toolset};
use roundtable_models::scripted::{Call, Reply, Script};
use roundtable_ports::DynTool;
use roundtable_testing::{FnTool, Kit, go_on, opening, rounds, say, until};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::seen::{armed, one_round, replies, requests, round_ends, tool_outcomes, turn_ends};

/// Runs one tool call and checks that the turn goes on to its answer; returns what the model was told.
async fn told(tool: FnTool, arguments: Value) -> ToolResult {
    let script = Script::default()
        .voice("ann", [Reply::calls([Call::new("act", arguments)]), Reply::text("I see.")]);
    let ann = armed("Ann", [tool.declare()]);
    let kit = Kit::new(script).tool(tool);
    let engine = kit.start().await;
    let (_, events) = one_round(&engine, vec![ann]).await;
    assert_eq!(replies(&events), ["", "I see."]);
    assert_eq!(turn_ends(&events)[0].1, TurnOutcome::Answered);
    assert_eq!(round_ends(&events), [RoundOutcome::Completed]);
    let outcomes = tool_outcomes(&events);
    let [ToolOutcome::Returned(result)] = outcomes.as_slice() else {
        panic!("one result: {outcomes:?}");
    };
    assert!(kit.model.received()[1].prompt.contains(&result.message), "the model is told");
    engine.shutdown().await;
    result.clone()
}

#[tokio::test(start_paused = true)]
async fn an_unknown_tool_is_a_failed_result_that_names_the_known_ones() {
    let tool = FnTool::echo("other");
    let result = told(tool, json!({})).await;
    assert_eq!(result, ToolResult::failed("unknown tool \"act\"; available: other"));
}

#[tokio::test(start_paused = true)]
async fn arguments_that_do_not_fit_the_schema_never_reach_the_handler() {
    let tool = FnTool::new("act", |_, _| panic!("it was called"));
    let schema = json!({
        "type": "object",
        "properties": { "amount": { "type": "integer" } },
        "required": ["amount"]
    });
    let result = told(tool.schema(schema), json!({ "amount": "much" })).await;
    assert!(!result.success);
    let text = "the arguments of act do not match its schema: at \"/amount\": \"much\" is not of type \"integer\"";
    assert_eq!(result.message, text);
}

#[tokio::test(start_paused = true)]
async fn an_error_in_a_handler_is_a_failed_result_with_its_text() {
    let tool = FnTool::new("act", |_, _| Box::pin(async { Err("the printer is on fire".into()) }));
    assert_eq!(told(tool, json!({})).await, ToolResult::failed("the printer is on fire"));
}

#[tokio::test(start_paused = true)]
async fn f31_a_panic_in_a_handler_is_a_failed_result() {
    let later = FnTool::new("act", |_, _| Box::pin(async { panic!("not so well") }));
    assert_eq!(told(later, json!({})).await, ToolResult::failed("act panicked"));
    let at_once = FnTool::new("act", |_, _| panic!("not at all well"));
    assert_eq!(told(at_once, json!({})).await, ToolResult::failed("act panicked"));
}

#[tokio::test(start_paused = true)]
async fn a_handler_that_takes_too_long_is_cut_off_with_a_failed_result() {
    let tool = FnTool::new("act", |_, _| Box::pin(std::future::pending()));
    let result = told(tool.timeout(Duration::from_secs(3)), json!({})).await;
    assert_eq!(result, ToolResult::failed("act took longer than 3 s"));
}

#[tokio::test(start_paused = true)]
async fn an_effectful_handler_that_fails_by_itself_is_known_to_have_failed() {
    let tool = FnTool::new("act", |_, _| Box::pin(async { Err("declined".into()) }));
    let result = told(tool.effect(Effect::Effectful), json!({})).await;
    assert_eq!(result, ToolResult::failed("declined"));
}

#[tokio::test(start_paused = true)]
async fn an_effectful_call_that_was_cut_off_becomes_a_question_and_is_refused_until_it_is_answered()
{
    let runs = Arc::new(AtomicU32::new(0));
    let counted = runs.clone();
    // The first call never ends; the later ones do.
    let pay = FnTool::new("pay", move |_, _| {
        let first = counted.fetch_add(1, Ordering::Relaxed) == 0;
        Box::pin(async move {
            if first {
                std::future::pending::<()>().await;
            }
            Ok(ToolResult::ok("paid"))
        })
    });
    let pay = pay.effect(Effect::Effectful).timeout(Duration::from_secs(5));
    let pay_ten = || Reply::calls([Call::new("pay", json!({ "amount": 10 }))]);
    let pay_five = || Reply::calls([Call::new("pay", json!({ "amount": 5 }))]);
    let script = Script::default()
        .voice("ann", [pay_ten(), pay_ten(), pay_five(), Reply::text("I wait.")])
        .voice("ann", [pay_ten(), Reply::text("Paid.")]);
    let ann = armed("Ann", [pay.declare()]);
    let kit = Kit::new(script).tool(pay);
    let engine = kit.start().await;
    let (session, events) = one_round(&engine, vec![ann]).await;

    let question = requests(&events).remove(0);
    assert_eq!(question.priority, Priority::Required);
    assert!(matches!(question.about, About::Outcome { .. }));
    let refused = format!(
        "not run: an equal call of pay may already have taken effect ({}); wait for the answer",
        question.id
    );
    assert_eq!(
        tool_outcomes(&events),
        [
            ToolOutcome::Unknown { request: question.id.clone() },
            ToolOutcome::Returned(ToolResult::failed(refused)),
            ToolOutcome::Returned(ToolResult::ok("paid")),
        ]
    );
    assert_eq!(round_ends(&events), [RoundOutcome::Completed]);
    assert_eq!(runs.load(Ordering::Relaxed), 2);

    // It holds the session back like any other question.
    let head = session.state().await.unwrap().head;
    let refused = session.command(say(session.id(), "m2", "Again."), None).await.unwrap_err();
    assert!(refused.to_string().starts_with("Cannot continue: 1 required context request(s)"));
    assert_eq!(session.state().await.unwrap().head, head);
    let answer = ContextResult::decided(question.id, Decision::DidNotHappen);
    session.command(go_on(session.id(), "m2", vec![answer]), None).await.unwrap();
    let events = rounds(&session, 2).await;
    assert_eq!(tool_outcomes(&events)[3], ToolOutcome::Returned(ToolResult::ok("paid")));
    assert_eq!(runs.load(Ordering::Relaxed), 3);
    engine.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn an_effectful_call_that_panicked_is_unknown_too() {
    let pay = FnTool::new("pay", |_, _| Box::pin(async { panic!("halfway") }));
    let pay = pay.effect(Effect::Effectful);
    let script = Script::default()
        .voice("ann", [Reply::calls([Call::new("pay", json!({}))]), Reply::text("I wait.")]);
    let ann = armed("Ann", [pay.declare()]);
    let kit = Kit::new(script).tool(pay);
    let engine = kit.start().await;
    let (session, events) = one_round(&engine, vec![ann]).await;
    let request = requests(&events).remove(0);
    assert_eq!(tool_outcomes(&events), [ToolOutcome::Unknown { request: request.id.clone() }]);
    assert_eq!(
        request.reason,
        "The call started, and pay panicked. Do not repeat it without knowing its outcome."
    );
    assert_eq!(session.state().await.unwrap().requests, [request]);
    engine.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn a_stop_cancels_a_harmless_call_and_asks_about_an_effectful_one() {
    let started: Arc<Mutex<Vec<CancellationToken>>> = Arc::default();
    let hang = |name: &str| {
        let started = started.clone();
        FnTool::new(name, move |_, context| {
            started.lock().unwrap().push(context.scope.cancellation.clone());
            Box::pin(std::future::pending())
        })
    };
    let (look, pay) = (hang("look"), hang("pay").effect(Effect::Effectful));
    let calls = [Call::new("look", json!({})), Call::new("pay", json!({}))];
    let script = Script::default().voice("ann", [Reply::calls(calls)]);
    let ann = armed("Ann", [look.declare(), pay.declare()]);
    let kit = Kit::new(script).tool(look).tool(pay);
    let engine = kit.start().await;
    let session = engine.open(opening(vec![ann], Settings::default())).await.unwrap();
    session.command(say(session.id(), "m1", "Go."), None).await.unwrap();
    until("both run", || started.lock().unwrap().len() == 2).await;
    assert!(started.lock().unwrap().iter().all(|token| !token.is_cancelled()));
    session.command(Command::Stop, None).await.unwrap();
    let events = rounds(&session, 1).await;
    let request = requests(&events).remove(0);
    assert_eq!(
        tool_outcomes(&events),
        [ToolOutcome::Cancelled, ToolOutcome::Unknown { request: request.id }]
    );
    assert_eq!(round_ends(&events), [RoundOutcome::Incomplete]);
    // What a handler handed its token to hears of it too.
    assert!(started.lock().unwrap().iter().all(CancellationToken::is_cancelled));
    engine.shutdown().await;
}

#[test]
fn s12_no_tool_stands_in_for_another_under_its_name() {
    let twice = |name: &str, tools: Vec<FnTool>| {
        let tools = tools.into_iter().map(|tool| Arc::new(tool) as Arc<dyn DynTool>);
        let refused = Toolset::new(tools).err();
        assert_eq!(refused, Some(EngineError::ToolTwice { tool: name.to_owned() }));
    };
    twice("act", vec![FnTool::echo("act"), FnTool::echo("look"), FnTool::echo("act")]);
    twice("request_context", vec![FnTool::echo("request_context")]);
    twice("delegate", vec![FnTool::echo("delegate")]);
    let bad = FnTool::echo("act").schema(json!({ "type": "nonsense" }));
    let refused = Toolset::new([Arc::new(bad) as Arc<dyn DynTool>]).err();
    assert!(matches!(refused, Some(EngineError::BadSchema { tool, .. }) if tool == "act"));
}
