//! A session that crashes its task again and again is parked; the others go on (F35).

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

use roundtable_backend::{Fault, Faults, MemoryStore};
use roundtable_core::event::Seq;
use roundtable_core::id::SessionId;
use roundtable_core::input::Command;
use roundtable_core::settings::Settings;
use roundtable_engine::{Engine, EngineError, Parking, SessionHandle};
use roundtable_models::scripted::{Reply, Script};
use roundtable_ports::LeaseError;
use roundtable_testing::{Kit, agent, opening, rounds, say};

use crate::seen::replies;

/// Where the session "bad" panics, as long as it does.
#[derive(Default)]
struct Poison {
    /// In every commit that follows on the sixth event.
    appends: AtomicBool,
    /// In every read of the log.
    reads: AtomicBool,
    panics: AtomicU32,
}

impl Poison {
    fn strike(&self, session: &SessionId, is_set: &AtomicBool) {
        if session.suffix() == "bad" && is_set.load(Ordering::Relaxed) {
            self.panics.fetch_add(1, Ordering::Relaxed);
            panic!("no such seat in /srv/canary");
        }
    }
}

impl Faults for Poison {
    fn on_append(&self, session: &SessionId, expect: Seq) -> Fault {
        if expect == Seq(6) {
            self.strike(session, &self.appends);
        }
        Fault::None
    }

    fn on_read(&self, session: &SessionId) -> bool {
        self.strike(session, &self.reads);
        false
    }
}

const WHY: &str = "it failed 3 times within 10 minutes; last error: no such seat in …";

async fn start() -> (Kit, Arc<Poison>, Engine) {
    let mut kit = Kit::new(Script::default().voice("ann", [Reply::text("Well.")]));
    let poison = Arc::new(Poison::default());
    kit.store = Arc::new(MemoryStore::with_faults(kit.store.disk().clone(), poison.clone()));
    let engine = kit.start().await;
    (kit, poison, engine)
}

async fn open(engine: &Engine, id: &str) -> SessionHandle {
    let opening = opening(vec![agent("Ann")], Settings::default());
    engine.open_as(&SessionId::new(id).unwrap(), opening, None).await.unwrap()
}

async fn until_parked(session: &SessionHandle) -> String {
    loop {
        if let Some(reason) = session.parked().await.unwrap() {
            return reason;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

#[tokio::test(start_paused = true)]
async fn f35_a_session_that_panics_three_times_is_parked_and_tried_again_on_demand() {
    let (_kit, poison, engine) = start().await;
    poison.appends.store(true, Ordering::Relaxed);
    let (bad, good) = (open(&engine, "bad").await, open(&engine, "good").await);
    let mut parkings = engine.listen_parkings();
    bad.command(say(bad.id(), "m1", "Go."), None).await.unwrap();
    assert_eq!(until_parked(&bad).await, WHY);
    let parking = Parking { session: bad.id().clone(), reason: WHY.to_owned() };
    assert_eq!(parkings.recv().await, Ok(parking));
    // Nobody touches it any more, however long it takes; the others go on.
    tokio::time::sleep(Duration::from_hours(1)).await;
    assert_eq!(poison.panics.load(Ordering::Relaxed), 3);
    good.command(say(good.id(), "m1", "Go."), None).await.unwrap();
    assert_eq!(replies(&rounds(&good, 1).await), ["Well."]);
    // It can be read, and what does not speak to it is refused with the reason.
    assert_eq!(bad.state().await.unwrap().head, Seq(6));
    let parked = EngineError::Lease(LeaseError::Parked { reason: WHY.to_owned() });
    assert_eq!(bad.command(Command::Stop, None).await, Err(parked));
    // Tried again in vain, it is parked again.
    assert_eq!(bad.try_again().await, Ok(true));
    tokio::time::sleep(Duration::from_secs(60)).await;
    assert_eq!(until_parked(&bad).await, WHY);
    assert_eq!(poison.panics.load(Ordering::Relaxed), 6);
    // The cause is gone.
    poison.appends.store(false, Ordering::Relaxed);
    assert_eq!(bad.try_again().await, Ok(true));
    assert_eq!(bad.try_again().await, Ok(false));
    assert_eq!(replies(&rounds(&bad, 1).await), ["Well."]);
    assert_eq!(bad.parked().await, Ok(None));
    engine.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn f35_what_is_said_to_a_parked_session_tries_it_again() {
    let (_kit, poison, engine) = start().await;
    poison.appends.store(true, Ordering::Relaxed);
    let bad = open(&engine, "bad").await;
    bad.command(say(bad.id(), "m1", "Go."), None).await.unwrap();
    until_parked(&bad).await;
    poison.appends.store(false, Ordering::Relaxed);
    bad.command(say(bad.id(), "m2", "Go on."), None).await.unwrap();
    assert_eq!(replies(&rounds(&bad, 2).await), ["Well.", "Well."]);
    engine.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn f35_whoever_waits_for_a_task_that_panics_is_told_the_truth() {
    let (kit, poison, engine) = start().await;
    let bad = open(&engine, "bad").await;
    bad.command(say(bad.id(), "m1", "Go."), None).await.unwrap();
    rounds(&bad, 1).await;
    engine.shutdown().await;
    let engine = kit.start().await;
    poison.reads.store(true, Ordering::Relaxed);
    let bad = engine.session(bad.id());
    let told = bad.command(say(bad.id(), "m2", "Go."), None).await;
    assert_eq!(told, Err(EngineError::Crashed));
    // Reading it fails in the same way, and brings nothing down.
    assert_eq!(bad.state().await.map(|state| state.head), Err(EngineError::Crashed));
    let parked = loop {
        match bad.command(Command::Stop, None).await {
            Err(EngineError::Crashed) => {}
            told => break told,
        }
    };
    let expected = EngineError::Lease(LeaseError::Parked { reason: WHY.to_owned() });
    assert_eq!(parked, Err(expected.clone()));
    assert_eq!(bad.state().await.map(|state| state.head), Err(expected));
    poison.reads.store(false, Ordering::Relaxed);
    assert_eq!(bad.try_again().await, Ok(true));
    bad.command(say(bad.id(), "m3", "Go."), None).await.unwrap();
    assert_eq!(replies(&rounds(&bad, 2).await), ["Well.", "Well."]);
    engine.shutdown().await;
}
