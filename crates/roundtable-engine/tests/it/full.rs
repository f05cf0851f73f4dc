//! A store that takes nothing for a while: the disk is full (F16), or someone else holds its lock.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use roundtable_backend::{Fault, Faults, MemoryStore};
use roundtable_core::event::{RoundOutcome, Seq};
use roundtable_core::id::SessionId;
use roundtable_core::settings::{Order, Settings};
use roundtable_engine::{Engine, SessionHandle};
use roundtable_models::scripted::{Call, Reply, Script};
use roundtable_ports::LogError;
use roundtable_testing::{FnTool, Kit, agent, opening, rounds, say, until};
use serde_json::json;
use tokio::time::Instant;

use crate::seen::{armed, count, replies, round_ends, tool_results};

/// A disk that is full while the switch is on.
#[derive(Default)]
struct Disk {
    full: AtomicBool,
}

impl Disk {
    fn fill(&self) {
        self.full.store(true, Ordering::Relaxed);
    }

    fn free(&self) {
        self.full.store(false, Ordering::Relaxed);
    }
}

impl Faults for Disk {
    fn on_append(&self, _: &SessionId, _: Seq) -> Fault {
        if self.full.load(Ordering::Relaxed) { Fault::Full } else { Fault::None }
    }
}

fn on_a_disk(mut kit: Kit) -> (Kit, Arc<Disk>) {
    let disk = Arc::new(Disk::default());
    kit.store = Arc::new(MemoryStore::with_faults(kit.store.disk().clone(), disk.clone()));
    (kit, disk)
}

/// A session of Ann and Bob, both asked and waiting at their gates.
async fn asked(kit: &Kit) -> (Engine, SessionHandle) {
    let engine = kit.start().await;
    let settings = Settings { order: Order::Parallel, ..Settings::default() };
    let session = engine.open(opening(vec![agent("Ann"), agent("Bob")], settings)).await.unwrap();
    session.command(say(session.id(), "m1", "Go."), None).await.unwrap();
    until("both are asked", || kit.model.count() == 2).await;
    (engine, session)
}

fn at_gates() -> Kit {
    let script = Script::default().voice("ann", [Reply::text("A.").at_gate("ann")]);
    Kit::new(script.voice("bob", [Reply::text("B.").at_gate("bob")]))
}

const A_LONG_TIME: Duration = Duration::from_secs(300);

#[tokio::test(start_paused = true)]
async fn f16_replies_that_arrive_while_the_disk_is_full_are_kept_and_not_asked_again() {
    let (kit, disk) = on_a_disk(at_gates());
    let (engine, session) = asked(&kit).await;
    let before = kit.store.disk().dump(session.id()).len();
    disk.fill();
    kit.model.gates().open("ann");
    tokio::time::sleep(A_LONG_TIME).await;
    kit.model.gates().open("bob");
    tokio::time::sleep(A_LONG_TIME).await;
    assert_eq!(kit.store.disk().dump(session.id()).len(), before, "nothing is half written");
    // Meanwhile callers are refused in time, and readers are answered.
    let refused = session.command(say(session.id(), "m2", "And?"), None).await.unwrap_err();
    assert_eq!(refused, LogError::Full.into());
    assert!(session.state().await.unwrap().round.is_some());
    disk.free();
    let events = rounds(&session, 1).await;
    assert_eq!(replies(&events), ["A.", "B."]);
    assert_eq!(round_ends(&events), [RoundOutcome::Completed]);
    assert_eq!(count(&events, "model_call_interrupted"), 0);
    assert_eq!(kit.model.count(), 2, "nobody is asked again");
    engine.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn f16_a_command_that_finds_the_disk_full_does_not_cut_off_what_runs() {
    let (kit, disk) = on_a_disk(at_gates());
    let (engine, session) = asked(&kit).await;
    disk.fill();
    let refused = session.command(say(session.id(), "m2", "And?"), None).await.unwrap_err();
    assert_eq!(refused, LogError::Full.into());
    disk.free();
    kit.model.gates().open("ann");
    kit.model.gates().open("bob");
    let events = rounds(&session, 1).await;
    assert_eq!(count(&events, "model_call_interrupted"), 0);
    assert_eq!(kit.model.count(), 2);
    engine.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn f16_a_tool_result_that_arrives_while_the_disk_is_full_is_kept_and_not_run_again() {
    let disk = Arc::new(Disk::default());
    let fills = disk.clone();
    let send = FnTool::new("send", move |_, _| {
        fills.fill();
        Box::pin(async { Ok(roundtable_core::tool::ToolResult::ok("sent")) })
    });
    let script = Script::default()
        .voice("ann", [Reply::calls([Call::new("send", json!({}))]), Reply::text("Done.")]);
    let mut kit = Kit::new(script).tool(send.clone());
    kit.store = Arc::new(MemoryStore::with_faults(kit.store.disk().clone(), disk.clone()));
    let engine = kit.start().await;
    let ann = armed("Ann", [send.declare()]);
    let session = engine.open(opening(vec![ann], Settings::default())).await.unwrap();
    session.command(say(session.id(), "m1", "Go."), None).await.unwrap();
    until("it is sent", || disk.full.load(Ordering::Relaxed)).await;
    tokio::time::sleep(A_LONG_TIME).await;
    disk.free();
    let events = rounds(&session, 1).await;
    assert_eq!(tool_results(&events).len(), 1);
    assert_eq!(count(&events, "tool_call_interrupted"), 0);
    assert_eq!(replies(&events).last().map(String::as_str), Some("Done."));
    engine.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn f16_a_reply_that_finds_no_room_in_memory_is_declared_lost_and_asked_again() {
    let (mut kit, disk) = on_a_disk(at_gates());
    // Room for one result, however small.
    kit.config.kept_bytes = 64 * 1024;
    let (engine, session) = asked(&kit).await;
    disk.fill();
    kit.model.gates().open("ann");
    kit.model.gates().open("bob");
    tokio::time::sleep(A_LONG_TIME).await;
    assert_eq!(kit.model.count(), 2, "nobody is asked while the answer could not be kept");
    disk.free();
    let events = rounds(&session, 1).await;
    assert_eq!(replies(&events), ["A.", "B."]);
    assert_eq!(count(&events, "model_call_interrupted"), 2, "a possible duplicate is declared");
    assert_eq!(kit.model.count(), 4);
    engine.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn f16_a_stop_while_the_disk_is_full_ends_in_time_and_what_was_kept_is_declared_lost() {
    let (kit, disk) = on_a_disk(at_gates());
    let (engine, session) = asked(&kit).await;
    disk.fill();
    kit.model.gates().open("ann");
    kit.model.gates().open("bob");
    tokio::time::sleep(A_LONG_TIME).await;
    let began = Instant::now();
    engine.shutdown().await;
    assert!(began.elapsed() <= kit.config.drain_within + Duration::from_secs(2));
    disk.free();
    let engine = Kit { node: "two", ..kit }.start().await;
    let session = engine.session(session.id());
    let events = rounds(&session, 1).await;
    assert_eq!(replies(&events), ["A.", "B."]);
    assert_eq!(count(&events, "model_call_interrupted"), 2, "a possible duplicate is declared");
    engine.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn the_state_is_read_while_a_commit_waits_for_the_store() {
    struct Slow(AtomicBool);
    impl Faults for Slow {
        fn on_append(&self, _: &SessionId, _: Seq) -> Fault {
            if self.0.load(Ordering::Relaxed) { Fault::Slow(A_LONG_TIME) } else { Fault::None }
        }
    }
    let mut kit = at_gates();
    let slow = Arc::new(Slow(AtomicBool::new(false)));
    kit.store = Arc::new(MemoryStore::with_faults(kit.store.disk().clone(), slow.clone()));
    let (engine, session) = asked(&kit).await;
    let before = session.state().await.unwrap();
    slow.0.store(true, Ordering::Relaxed);
    let (began, command) = (Instant::now(), say(session.id(), "m2", "And?"));
    let (said, seen) = tokio::join!(session.command(command, None), async {
        let seen = session.state().await.unwrap();
        (seen, began.elapsed())
    });
    assert_eq!(seen.0, before, "what is not committed is not shown");
    assert!(seen.1 < Duration::from_secs(1), "{:?}", seen.1);
    assert!(said.is_ok() && began.elapsed() >= A_LONG_TIME, "the commit went on");
    engine.stop().await;
}
