//! JSON that nests too deeply reaches no log, and what a store refuses for good harms no session.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use futures_util::{FutureExt as _, StreamExt as _, stream};
use roundtable_backend::{Disk, Fault, Faults, MemoryStore};
use roundtable_core::event::{RoundOutcome, Seq, TurnOutcome};
use roundtable_core::id::SessionId;
use roundtable_core::settings::Settings;
use roundtable_core::tool::ToolResult;
use roundtable_engine::EngineError;
use roundtable_models::scripted::{Call, Reply, Script};
use roundtable_ports::{Chunk, LogError};
use roundtable_testing::{FnModel, FnTool, Kit, agent, opening, rounds, say};
use serde_json::{Value, json};

use crate::seen::{armed, one_round, replies, round_ends, tool_results, turn_ends};

fn deep(levels: usize) -> Value {
    (0..levels).fold(json!(1), |inner, _| Value::Array(vec![inner]))
}

/// A model that calls `look` with arguments of these depths at once, and then is done.
fn digger(depths: &'static [usize]) -> FnModel {
    FnModel::new(move |request| {
        let call = |levels: &usize| Chunk::ToolCall {
            name: "look".to_owned(),
            arguments: deep(*levels),
            reference: None,
        };
        let mut chunks: Vec<Chunk> = match request.messages.len() {
            1 => depths.iter().map(call).collect(),
            _ => vec![Chunk::Text("Done.".to_owned())],
        };
        chunks.push(Chunk::Done(Default::default()));
        async move { Ok(stream::iter(chunks.into_iter().map(Ok)).boxed()) }.boxed()
    })
}

#[tokio::test(start_paused = true)]
async fn s23_arguments_of_any_depth_fail_their_call_and_no_other() {
    let look = FnTool::new("look", |_, _| Box::pin(async { Ok(ToolResult::ok("seen")) }));
    let look = look.schema(json!({}));
    let mut ann = armed("Ann", [look.declare()]);
    ann.model = "digger".to_owned();
    ann.persona = String::new();
    let kit = Kit::new(Script::default()).model("digger", digger(&[64, 65, 127, 100_000]));
    let engine = kit.tool(look).start().await;
    let (_, events) = one_round(&engine, vec![ann]).await;
    let mut told: Vec<String> =
        tool_results(&events).into_iter().map(|result| result.message).collect();
    told.sort();
    let refused = |levels: usize| {
        format!(
            "not run: the arguments of look are nested {levels} levels deep; at most 64 levels are \
             allowed. They were not stored. Call it again with fewer levels."
        )
    };
    assert_eq!(told, [refused(100_000), refused(127), refused(65), "seen".to_owned()]);
    assert_eq!(round_ends(&events), [RoundOutcome::Completed]);
    engine.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn s23_values_of_any_depth_are_left_out_and_published_data_is_refused() {
    let dig = FnTool::new("dig", |_, context| {
        Box::pin(async move {
            let refused = context.event_bus.publish("found", deep(100_000)).await.unwrap_err();
            Ok(ToolResult::ok(refused.to_string()).with_value(deep(100_000)))
        })
    });
    let ann = armed("Ann", [dig.declare()]);
    let script = Script::default()
        .voice("ann", [Reply::calls([Call::new("dig", json!({}))]), Reply::text("Done.")]);
    let engine = Kit::new(script).tool(dig).start().await;
    let (_, events) = one_round(&engine, vec![ann]).await;
    let why = "nested 100000 levels deep; at most 64 levels are allowed";
    let told = format!("the published data is {why}\n[the value is left out: it is {why}]");
    assert_eq!(tool_results(&events), [ToolResult::ok(told)]);
    engine.shutdown().await;
}

/// Refuses one append for good: the one with this number.
struct Refusal {
    at: u32,
    appends: AtomicU32,
}

impl Faults for Refusal {
    fn on_append(&self, _session: &SessionId, _expect: Seq) -> Fault {
        let number = self.appends.fetch_add(1, Ordering::Relaxed) + 1;
        if number == self.at { Fault::Unstorable } else { Fault::None }
    }
}

fn refusing(at: u32, script: Script) -> Kit {
    let faults = Arc::new(Refusal { at, appends: AtomicU32::new(0) });
    let mut kit = Kit::new(script);
    kit.store = Arc::new(MemoryStore::with_faults(Arc::new(Disk::default()), faults));
    kit
}

#[tokio::test(start_paused = true)]
async fn s23_an_answer_that_cannot_be_stored_fails_its_call_and_is_not_asked_for_again() {
    // Opening, message, answer.
    let kit = refusing(3, Script::default().voice("ann", [Reply::text("Hm.")]));
    let engine = kit.start().await;
    let (_, events) = one_round(&engine, vec![agent("Ann")]).await;
    let error = "the answer was refused: this cannot be stored: injected".to_owned();
    let [(_, end)] = &turn_ends(&events)[..] else { panic!("one turn") };
    assert_eq!(*end, TurnOutcome::Failed { error });
    assert_eq!(kit.model.count(), 1);
    engine.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn s23_a_result_that_cannot_be_stored_fails_its_call_and_the_turn_goes_on() {
    let look = FnTool::new("look", |_, _| Box::pin(async { Ok(ToolResult::ok("seen")) }));
    let ann = armed("Ann", [look.declare()]);
    let script = Script::default()
        .voice("ann", [Reply::calls([Call::new("look", json!({}))]), Reply::text("Done.")]);
    // Opening, message, call, result.
    let kit = refusing(4, script).tool(look);
    let engine = kit.start().await;
    let (_, events) = one_round(&engine, vec![ann]).await;
    let told = "the result was refused: this cannot be stored: injected";
    assert_eq!(tool_results(&events), [ToolResult::failed(told)]);
    assert_eq!(replies(&events).last().map(String::as_str), Some("Done."));
    engine.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn s23_a_command_that_cannot_be_stored_is_refused_and_the_session_goes_on() {
    let kit = refusing(2, Script::default());
    let engine = kit.start().await;
    let session = engine.open(opening(vec![agent("Ann")], Settings::default())).await.unwrap();
    let refused = session.command(say(session.id(), "m1", "Go."), None).await;
    let what = "injected".to_owned();
    assert_eq!(refused.unwrap_err(), EngineError::Log(LogError::Unstorable { what }));
    session.command(say(session.id(), "m1", "Go."), None).await.unwrap();
    assert_eq!(round_ends(&rounds(&session, 1).await), [RoundOutcome::Completed]);
    engine.shutdown().await;
}
