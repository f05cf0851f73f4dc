//! What a tool handler is given (seed 002).

use std::sync::{Arc, Mutex};

use roundtable_core::event::{Body, IterationEvent, Seq};
use roundtable_core::prompt::{Prompt, RenderedPrompt};
use roundtable_core::scope::Scope;
use roundtable_core::settings::Settings;
use roundtable_core::tool::ToolResult;
use roundtable_models::scripted::{Call, Reply, Script};
use roundtable_ports::{Adapter, SessionLog as _, SessionReader, ToolContext};
use roundtable_testing::{FnTool, Kit, RecordingModel, opening, rounds, say, until};
use serde_json::json;
use tokio::sync::Barrier;

use crate::seen::{armed, count, json as as_json, tool_results};

/// What a handler saw, kept beyond its call where that is possible at all.
#[derive(Clone)]
struct Seen {
    prompt: Arc<Prompt>,
    rendered: Option<Arc<RenderedPrompt>>,
    adapter: Arc<dyn Adapter>,
    session: Arc<dyn SessionReader>,
    scope: Scope,
    /// Where the context and the session's bus are: the same place at the same time is the same thing.
    context_at: usize,
    bus_at: usize,
}

impl Seen {
    fn of(context: &ToolContext) -> Self {
        Self {
            prompt: context.prompt.clone(),
            rendered: context.rendered_prompt.clone(),
            adapter: context.adapter.clone(),
            session: context.session.clone(),
            scope: context.scope.ids.clone(),
            context_at: std::ptr::from_ref(context) as usize,
            bus_at: std::ptr::from_ref(context.event_bus.session()) as usize,
        }
    }
}

type Sights = Arc<Mutex<Vec<Seen>>>;

/// A tool that keeps what it sees, and answers when so many calls of it are under way.
fn watch(sights: &Sights, together: usize) -> FnTool {
    let (sights, barrier) = (sights.clone(), Arc::new(Barrier::new(together)));
    FnTool::new("watch", move |_, context| {
        let (sights, barrier) = (sights.clone(), barrier.clone());
        Box::pin(async move {
            sights.lock().unwrap().push(Seen::of(context));
            barrier.wait().await;
            Ok(ToolResult::ok("seen"))
        })
    })
}

fn call() -> Call {
    Call::new("watch", json!({}))
}

#[tokio::test(start_paused = true)]
async fn r002_4_r002_5_two_calls_get_two_contexts_of_the_same_objects() {
    let sights = Sights::default();
    let watch = watch(&sights, 2);
    let script = Script::default().voice(
        "ann",
        [
            Reply::calls([call(), call()]),
            Reply::calls([call(), call()]),
            Reply::text("That is all."),
        ],
    );
    let ann = armed("Ann", [watch.declare()]);
    let kit = Kit::new(script).tool(watch);
    let engine = kit.start().await;
    let session = engine.open(opening(vec![ann], Settings::default())).await.unwrap();
    session.command(say(session.id(), "m1", "Look."), None).await.unwrap();
    rounds(&session, 1).await;

    let sights = sights.lock().unwrap().clone();
    assert_eq!(sights.len(), 4);
    // Both calls of an iteration are under way at once, so equal places would be one context.
    assert_ne!(sights[0].context_at, sights[1].context_at);
    assert_ne!(sights[2].context_at, sights[3].context_at);
    for other in &sights[1..] {
        let first = &sights[0];
        assert!(Arc::ptr_eq(&first.prompt, &other.prompt));
        assert!(Arc::ptr_eq(&first.adapter, &other.adapter));
        assert!(Arc::ptr_eq(&first.session, &other.session));
        assert_eq!(first.bus_at, other.bus_at);
    }
    // The rendered prompt is that of the model call that asked: the same for its calls, another later.
    let rendered: Vec<_> = sights.iter().map(|seen| seen.rendered.clone().unwrap()).collect();
    assert!(Arc::ptr_eq(&rendered[0], &rendered[1]));
    assert!(Arc::ptr_eq(&rendered[2], &rendered[3]));
    assert!(rendered[0].messages.len() < rendered[2].messages.len());
    let mut calls: Vec<_> = sights.iter().map(|seen| seen.scope.place.tool_call.clone()).collect();
    calls.dedup();
    assert_eq!(calls.len(), 4);
    engine.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn r002_6_the_rendered_prompt_is_what_the_model_received() {
    let sights = Sights::default();
    let watch = watch(&sights, 1);
    let script = Script::default().voice(
        "ann",
        [Reply::calls([call()]).after(5), Reply::calls([call()]), Reply::text("Done.")],
    );
    let mut kit = Kit::new(script).tool(watch.clone());
    let model = RecordingModel::new(kit.model.clone());
    kit = kit.model("recorded", model.clone());
    let mut ann = armed("Ann", [watch.declare()]);
    ann.model = "recorded".to_owned();
    let engine = kit.start().await;
    let session = engine.open(opening(vec![ann], Settings::default())).await.unwrap();
    session.command(say(session.id(), "m1", "Look."), None).await.unwrap();
    let events = rounds(&session, 1).await;

    let hashes: Vec<_> = events
        .iter()
        .filter_map(|event| match &event.body {
            Body::Iteration(IterationEvent::ModelCallStarted { prompt, .. }) => Some(&prompt.hash),
            _ => None,
        })
        .collect();
    let sights = sights.lock().unwrap().clone();
    assert_eq!(sights.len(), 2);
    for (index, seen) in sights.iter().enumerate() {
        let rendered = seen.rendered.as_ref().unwrap();
        let request = &model.requests()[index];
        assert_eq!(rendered.messages, request.messages);
        let offered: Vec<_> = request.tools.iter().map(|tool| tool.name.clone()).collect();
        assert_eq!(rendered.tools, offered);
        assert_eq!(&rendered.hash, hashes[index]);
        assert_eq!(seen.prompt.name, request.prompt);
    }
    engine.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn r002_6_a_handler_that_runs_again_after_a_restart_has_no_rendered_prompt_yet() {
    let sights = Sights::default();
    let script = Script::default().voice("ann", [Reply::calls([call()]), Reply::text("Done.")]);
    let mut kit = Kit::new(script);
    let gates = kit.model.gates().clone();
    let kept = sights.clone();
    let watch = FnTool::new("watch", move |_, context| {
        let (kept, gates) = (kept.clone(), gates.clone());
        Box::pin(async move {
            kept.lock().unwrap().push(Seen::of(context));
            gates.wait("answer").await;
            Ok(ToolResult::ok("seen"))
        })
    });
    let ann = armed("Ann", [watch.declare()]);
    kit = kit.tool(watch);
    let engine = kit.start().await;
    let session = engine.open(opening(vec![ann], Settings::default())).await.unwrap();
    session.command(say(session.id(), "m1", "Look."), None).await.unwrap();
    until("the handler runs", || sights.lock().unwrap().len() == 1).await;
    engine.stop().await;

    let engine = kit.start().await;
    until("the handler runs again", || sights.lock().unwrap().len() == 2).await;
    kit.model.gates().open("answer");
    let events = rounds(&engine.session(session.id()), 1).await;
    let sights = sights.lock().unwrap().clone();
    assert!(sights[0].rendered.is_some());
    assert!(sights[1].rendered.is_none());
    assert_eq!(sights[0].prompt, sights[1].prompt);
    assert_eq!(sights[0].scope, sights[1].scope);
    assert_eq!(count(&events, "tool_call_interrupted"), 1);
    assert_eq!(count(&events, "tool_call_finished"), 1);
    // The recorded model call was not made again.
    assert_eq!(kit.model.count(), 2);
    engine.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn r002_7_r002_8_a_context_is_built_after_the_start_is_committed_and_holds_no_new_ids() {
    let logs: Arc<Mutex<Vec<(Scope, String)>>> = Arc::default();
    let kept = logs.clone();
    let script = Script::default().voice("ann", [Reply::calls([call()]), Reply::text("Done.")]);
    let kit = Kit::new(script);
    let store = kit.store.clone();
    let read = FnTool::new("watch", move |_, context| {
        let (kept, store) = (kept.clone(), store.clone());
        Box::pin(async move {
            let events = store.read(context.session.id(), Seq(1), 100).await?;
            assert_eq!(events.last().unwrap().body.kind(), "tool_call_started");
            assert_eq!(events.last().unwrap().place, context.scope.ids.place);
            kept.lock().unwrap().push((context.scope.ids.clone(), as_json(&events)));
            Ok(ToolResult::ok("read"))
        })
    });
    let ann = armed("Ann", [read.declare()]);
    let kit = kit.tool(read);
    let engine = kit.start().await;
    let mut opening = opening(vec![ann], Settings::default());
    (opening.actor, opening.tenant) = (Some("ada".to_owned()), Some("lovelace".to_owned()));
    let session = engine.open(opening).await.unwrap();
    session.command(say(session.id(), "m1", "Look."), None).await.unwrap();
    let events = rounds(&session, 1).await;
    assert_eq!(tool_results(&events), [ToolResult::ok("read")]);

    let (scope, log) = logs.lock().unwrap()[0].clone();
    let message = scope.message.clone().unwrap();
    assert_eq!((message.message_id(), message.conversation_id()), ("m1", session.id().as_str()));
    assert_eq!((scope.round_number, scope.iteration_number), (1, 1));
    assert_eq!(scope.domain, "default");
    assert_eq!((scope.actor.as_deref(), scope.tenant.as_deref()), (Some("ada"), Some("lovelace")));
    let place = &scope.place;
    for id in [
        place.round.as_ref().unwrap().as_str(),
        place.turn.as_ref().unwrap().as_str(),
        place.iteration.as_ref().unwrap().as_str(),
        place.tool_call.as_ref().unwrap().as_str(),
        scope.agent.as_str(),
    ] {
        assert!(log.contains(id), "{id} is not in the log");
    }
    engine.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn r002_9_what_a_handler_publishes_is_committed_under_its_call() {
    let script = Script::default().voice("ann", [Reply::calls([call()]), Reply::text("Done.")]);
    let kit = Kit::new(script);
    let store = kit.store.clone();
    let tell = FnTool::new("watch", move |_, context| {
        let store = store.clone();
        Box::pin(async move {
            context.event_bus.publish("progress", json!({ "done": 1 })).await?;
            context.event_bus.publish("progress", json!({ "done": 2 })).await?;
            let seen = store.read(context.session.id(), Seq(1), 100).await?;
            Ok(ToolResult::ok(count(&seen, "tool_call_published").to_string()))
        })
    });
    let ann = armed("Ann", [tell.declare()]);
    let kit = kit.tool(tell);
    let engine = kit.start().await;
    let session = engine.open(opening(vec![ann], Settings::default())).await.unwrap();
    session.command(say(session.id(), "m1", "Look."), None).await.unwrap();
    let events = rounds(&session, 1).await;
    assert_eq!(tool_results(&events), [ToolResult::ok("2")]);
    let started = events.iter().find(|event| event.body.kind() == "tool_call_started").unwrap();
    let published = events.iter().filter(|event| event.body.kind() == "tool_call_published");
    assert!(published.into_iter().all(|event| event.place == started.place));
    engine.shutdown().await;
}
