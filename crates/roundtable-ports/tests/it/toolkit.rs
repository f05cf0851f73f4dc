//! Toolkits: bound to one agent, run by whoever makes the context.

use std::sync::{Arc, Mutex};

use roundtable_core::id::AgentId;
use roundtable_core::prompt::{Params, Prompt};
use roundtable_core::tool::{Effect, ToolResult};
use roundtable_ports::{DynTool, Tool, ToolContext, ToolError, Toolkit};
use roundtable_testing::FnTool;
use serde_json::json;

use crate::caller::Caller;

fn agent(name: &str) -> AgentId {
    AgentId::new(name).unwrap()
}

fn kit(tools: impl IntoIterator<Item = FnTool>) -> Toolkit {
    let tools = tools.into_iter().map(|tool| Arc::new(tool) as Arc<dyn DynTool>);
    Toolkit::new(agent("ann"), tools)
}

/// A tool that says for whom it runs.
fn who() -> FnTool {
    FnTool::new("who", |_, context| {
        Box::pin(async move { Ok(ToolResult::ok(context.scope.ids.agent.to_string())) })
    })
}

#[tokio::test]
async fn r000_14_a_tool_runs_for_the_agent_that_calls_it_else_for_the_one_it_is_bound_to() {
    let (caller, toolkit) = (Caller::new(), kit([who()]));
    let run = async |toolkit: &Toolkit, agent: Option<&AgentId>| {
        toolkit.execute_tool("who", json!({}), agent, caller.context("tcl1")).await.message
    };
    assert_eq!(run(&toolkit, Some(&agent("bob"))).await, "agt_bob");
    assert_eq!(run(&toolkit, None).await, "agt_ann");
    // Running for another agent leaves nothing behind, and binding makes another toolkit.
    let other = toolkit.bind(agent("cid"));
    assert_eq!(run(&other, None).await, "agt_cid");
    assert_eq!(run(&toolkit, None).await, "agt_ann");
    assert_eq!((toolkit.agent(), other.agent()), (&agent("ann"), &agent("cid")));
}

#[tokio::test]
async fn r000_16_many_agents_at_once_share_a_toolkit_and_each_is_itself() {
    let barrier = Arc::new(tokio::sync::Barrier::new(50));
    let slow = FnTool::new("who", move |_, context| {
        let barrier = barrier.clone();
        Box::pin(async move {
            barrier.wait().await;
            Ok(ToolResult::ok(context.scope.ids.agent.to_string()))
        })
    });
    let (caller, toolkit) = (Caller::new(), kit([slow]));
    let runs = (0..50).map(|number| {
        let (toolkit, context) = (&toolkit, caller.context(&format!("call{number}")));
        async move {
            let agent = agent(&format!("a{number}"));
            let result = toolkit.execute_tool("who", json!({}), Some(&agent), context).await;
            assert_eq!(result.message, agent.as_str());
        }
    });
    futures_util::future::join_all(runs).await;
}

#[tokio::test]
async fn r002_4_r002_5_a_caller_makes_a_context_per_call_of_the_same_objects() {
    let caller = Caller::new();
    let (one, two) = (caller.context("one"), caller.context("two"));
    assert!(Arc::ptr_eq(&one.prompt, &two.prompt));
    assert!(Arc::ptr_eq(&one.adapter, &two.adapter));
    assert!(Arc::ptr_eq(&one.session, &two.session));
    assert!(one.event_bus.is_same_bus(&two.event_bus));
    assert!(!one.event_bus.is_same_bus(&Caller::new().context("one").event_bus));
    assert!(one.rendered_prompt.is_none(), "nothing is rendered without a model");
}

#[tokio::test]
async fn r002_11_a_handler_does_for_a_caller_what_it_does_for_an_engine() {
    let ask = FnTool::new("ask", |arguments, context| {
        Box::pin(async move {
            context.event_bus.publish("asked", arguments).await?;
            let prompt = Prompt::new("inner", "{what}?");
            let params = Params::from([("what".to_owned(), context.prompt.name.clone())]);
            let (bus, session) = (&context.event_bus, &context.session);
            let child = context.adapter.evaluate(&prompt, &params, bus, session).await?;
            context.event_bus.publish("done", json!(1)).await?;
            Ok(ToolResult::ok(child.output))
        })
    });
    let (caller, toolkit) = (Caller::new(), kit([ask]));
    let result = toolkit.execute_tool("ask", json!({ "a": 1 }), None, caller.context("one")).await;
    assert_eq!(result, ToolResult::ok("by hand?"));
    let notes: Vec<_> = caller.bus.notes.lock().unwrap().clone();
    let shown: Vec<_> = notes
        .iter()
        .map(|(call, ordinal, text)| (call.as_str(), *ordinal, text.as_str()))
        .collect();
    // Publications and prompts are numbered apart, from 1, under the call that they belong to.
    assert_eq!(
        shown,
        [("tcl_one", 1, "asked {\"a\":1}"), ("tcl_one", 1, "by hand?"), ("tcl_one", 2, "done 1")]
    );
}

#[tokio::test]
async fn whatever_goes_wrong_is_a_result_for_the_model() {
    let caller = Caller::new();
    let bad = FnTool::new("bad", |_, _| Box::pin(async { Err("no paper".into()) }));
    let worse = FnTool::new("worse", |_, _| Box::pin(async { panic!("no printer") }));
    let worst = FnTool::new("worst", |_, _| panic!("no room"));
    let toolkit = kit([bad, worse, worst]);
    let run =
        async |name: &str| toolkit.execute_tool(name, json!({}), None, caller.context("one")).await;
    assert_eq!(run("bad").await, ToolResult::failed("no paper"));
    assert_eq!(run("worse").await, ToolResult::failed("worse panicked"));
    assert_eq!(run("worst").await, ToolResult::failed("worst panicked"));
    let unknown = "unknown tool \"better\"; available: bad, worse, worst";
    assert_eq!(run("better").await, ToolResult::failed(unknown));
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Add {
    a: i64,
    b: i64,
}

/// A typed tool, as people write them.
struct Adder(Mutex<u32>);

impl Tool for Adder {
    type Params = Add;

    fn name(&self) -> &str {
        "add"
    }

    fn description(&self) -> &str {
        "Adds two numbers."
    }

    fn effect(&self) -> Effect {
        Effect::Idempotent
    }

    async fn run(&self, params: Add, _context: &ToolContext) -> Result<ToolResult, ToolError> {
        *self.0.lock().unwrap() += 1;
        Ok(ToolResult::ok("added").with_value(json!(params.a + params.b)))
    }
}

#[tokio::test]
async fn r002_2_a_typed_tool_gets_its_parameters_and_misfits_never_reach_it() {
    let (caller, adder) = (Caller::new(), Arc::new(Adder(Mutex::new(0))));
    let toolkit = Toolkit::new(agent("ann"), [adder.clone() as Arc<dyn DynTool>]);
    let run = async |input| toolkit.execute_tool("add", input, None, caller.context("one")).await;
    assert_eq!(run(json!({ "a": 2, "b": 3 })).await, ToolResult::ok("added").with_value(json!(5)));
    let misfit = run(json!({ "a": "two", "b": 3 })).await;
    assert!(!misfit.success && misfit.message.contains("invalid type"), "{misfit:?}");
    assert_eq!(*adder.0.lock().unwrap(), 1);
}

#[test]
fn a_typed_tool_tells_models_its_schema_and_sessions_its_effect() {
    let spec = Adder(Mutex::new(0)).spec();
    assert_eq!((spec.name.as_str(), spec.effect), ("add", Effect::Idempotent));
    assert_eq!(spec.schema["properties"]["a"]["type"], "integer");
    assert_eq!(spec.schema["required"], json!(["a", "b"]));
    let declared = spec.declare();
    assert_eq!((declared.name.as_str(), declared.effect), ("add", Effect::Idempotent));
}
