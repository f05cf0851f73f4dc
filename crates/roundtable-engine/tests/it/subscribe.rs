//! Reading a session: every committed event, in order, once, from any point.

use std::sync::Arc;
use std::time::Duration;

use roundtable_backend::MemoryStore;
use roundtable_core::Reject;
use roundtable_core::event::{Event, Seq};
use roundtable_core::id::SessionId;
use roundtable_core::settings::Settings;
use roundtable_core::tool::ToolDecl;
use roundtable_engine::{EngineError, SessionHandle, Update};
use roundtable_models::scripted::{Call, Reply, Script};
use roundtable_testing::{BadBell, Kit, agent, opening, rounds, say};
use serde_json::json;

use crate::seen::{armed, one_round};

/// A script with something of everything.
fn lively() -> Script {
    let question = json!({ "query": "When?", "reason": "I wonder", "priority": "optional" });
    Script::default()
        .voice("ann", [Reply::calls([Call::new("request_context", question)]), Reply::text("Yes.")])
        .voice("bob", [Reply::text("A longer answer, bit by bit.").in_pieces(4, 1)])
}

fn agents() -> Vec<roundtable_core::agent::Agent> {
    vec![armed("Ann", [ToolDecl::request_context()]), agent("Bob")]
}

/// What a reader gets that begins here, up to the end of the log.
async fn read(session: &SessionHandle, from: Seq, head: Seq) -> Vec<Arc<Event>> {
    let mut subscription = session.subscribe(from).await.unwrap();
    let mut events = Vec::new();
    while events.last().map_or(from <= head, |event: &Arc<Event>| event.seq < head) {
        events.push(subscription.next_event().await.unwrap());
    }
    events
}

#[tokio::test(start_paused = true)]
async fn from_every_position_a_reader_gets_exactly_the_rest_of_the_log() {
    let kit = Kit::new(lively());
    let engine = kit.start().await;
    let (session, log) = one_round(&engine, agents()).await;
    let head = log.last().unwrap().seq;
    assert_eq!(log.len() as u64, head.0);
    for from in 0..=head.0 + 1 {
        let rest = &log[usize::try_from(from.max(1) - 1).unwrap()..];
        assert_eq!(read(&session, Seq(from), head).await, rest, "from {from}");
    }
    engine.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn f23_a_position_beyond_the_end_is_a_typed_error() {
    let kit = Kit::new(lively());
    let engine = kit.start().await;
    let (session, log) = one_round(&engine, agents()).await;
    let head = log.last().unwrap().seq;
    let beyond = session.subscribe(Seq(head.0 + 2)).await.err().unwrap();
    assert_eq!(beyond, EngineError::BeyondEnd { from: Seq(head.0 + 2), head });
    assert_eq!(
        beyond.to_string(),
        format!("event {} does not exist yet; the last event is {head}", head.0 + 2)
    );
    engine.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn f23_a_session_that_does_not_exist_is_not_found() {
    let kit = Kit::new(lively());
    let engine = kit.start().await;
    let nowhere = SessionId::new("nowhere").unwrap();
    let error = engine.subscribe(&nowhere, Seq(1)).await.err().unwrap();
    assert_eq!(error, Reject::NotFound { session: nowhere }.into());
    assert_eq!(engine.loaded(), 0, "looking leaves no trace");
    engine.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn f20_whatever_the_bell_does_a_reader_gets_exactly_the_log() {
    for bell in [BadBell::Silent, BadBell::Restless, BadBell::HangsUp] {
        let mut kit = Kit::new(lively());
        kit.bell = Some(Arc::new(bell));
        let engine = kit.start().await;
        let session = engine.open(opening(agents(), Settings::default())).await.unwrap();
        // Attached before anything is said, and reading while it is said.
        let mut subscription = session.subscribe(Seq(1)).await.unwrap();
        session.command(say(session.id(), "m1", "Go."), None).await.unwrap();
        session.command(say(session.id(), "m2", "Go on."), None).await.unwrap();
        let mut live = Vec::new();
        while live.iter().filter(|e: &&Arc<Event>| e.body.kind() == "round_closed").count() < 2 {
            live.push(subscription.next_event().await.unwrap());
        }
        let log: Vec<_> =
            kit.store.disk().dump(session.id()).into_iter().map(|s| s.event).collect();
        assert_eq!(live, log, "{bell:?}");
        engine.shutdown().await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_reader_in_another_process_follows_by_looking() {
    let kit = Kit::new(lively());
    let engine = kit.start().await;
    let session = engine.open(opening(agents(), Settings::default())).await.unwrap();
    // Another process on the same disk hears no bell of this one.
    let other =
        Kit { store: Arc::new(MemoryStore::on(kit.store.disk().clone())), ..Kit::new(lively()) };
    let elsewhere = Kit { node: "two", ..other }.start().await;
    let mut subscription = elsewhere.subscribe(session.id(), Seq(1)).await.unwrap();
    session.command(say(session.id(), "m1", "Go."), None).await.unwrap();
    let log = rounds(&session, 1).await;
    for event in &log {
        assert_eq!(&subscription.next_event().await.unwrap(), event);
    }
    // Reading takes no ownership: the session is still driven where it was.
    session.command(say(session.id(), "m2", "Go on."), None).await.unwrap();
    rounds(&session, 2).await;
    engine.shutdown().await;
    elsewhere.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn a_reader_that_is_slow_or_many_do_not_hold_the_session_up() {
    let kit = Kit::new(lively());
    let engine = kit.start().await;
    let session = engine.open(opening(agents(), Settings::default())).await.unwrap();
    let mut idle = Vec::new();
    for _ in 0..100 {
        idle.push(session.subscribe(Seq(1)).await.unwrap());
    }
    for number in 1..=3 {
        session.command(say(session.id(), &format!("m{number}"), "Go."), None).await.unwrap();
    }
    let log = rounds(&session, 3).await;
    for mut subscription in idle {
        for event in &log {
            assert_eq!(&subscription.next_event().await.unwrap(), event);
        }
    }
    engine.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn a_reader_gets_what_was_committed_before_the_engine_ended_and_then_its_end() {
    let kit = Kit::new(lively());
    let engine = kit.start().await;
    let (session, log) = one_round(&engine, agents()).await;
    let mut behind = session.subscribe(Seq(1)).await.unwrap();
    let mut waiting = session.subscribe(log.last().unwrap().seq.next()).await.unwrap();
    let (end, ()) = tokio::join!(waiting.next(), engine.shutdown());
    assert_eq!(end, Err(EngineError::Stopping));
    for event in log {
        assert_eq!(behind.next().await, Ok(Update::Event(event)));
    }
    assert_eq!(behind.next().await, Err(EngineError::Stopping));
}

#[tokio::test(start_paused = true)]
async fn a_stream_of_updates_is_the_same_as_asking_for_them() {
    use futures_util::StreamExt as _;
    let kit = Kit::new(lively());
    let engine = kit.start().await;
    let (session, log) = one_round(&engine, agents()).await;
    let stream = session.subscribe(Seq(1)).await.unwrap().into_stream();
    let updates: Vec<_> = stream.take(log.len()).map(Result::unwrap).collect().await;
    assert_eq!(updates, log.into_iter().map(Update::Event).collect::<Vec<_>>());
    engine.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn nothing_is_seen_before_it_is_committed() {
    use roundtable_backend::{Fault, Faults};
    /// Refuses the first tries of the commit that follows on the opening.
    struct Stubborn(std::sync::atomic::AtomicU32);
    impl Faults for Stubborn {
        fn on_append(&self, _session: &SessionId, expect: Seq) -> Fault {
            let tries =
                self.0.fetch_add(u32::from(expect == Seq(1)), std::sync::atomic::Ordering::Relaxed);
            if expect == Seq(1) && tries < 3 { Fault::Unavailable } else { Fault::None }
        }
    }
    let mut kit = Kit::new(lively());
    let faults = Arc::new(Stubborn(std::sync::atomic::AtomicU32::new(0)));
    kit.store = Arc::new(MemoryStore::with_faults(kit.store.disk().clone(), faults));
    let engine = kit.start().await;
    let session = engine.open(opening(agents(), Settings::default())).await.unwrap();
    let mut subscription = session.subscribe(Seq(2)).await.unwrap();
    let said = say(session.id(), "m1", "Go.");
    let (receipt, first) = tokio::join!(session.command(said, None), subscription.next_event());
    let first = first.unwrap();
    assert_eq!(first.body.kind(), "session_input_accepted");
    assert!(receipt.unwrap().seq >= first.seq);
    let log: Vec<_> = kit.store.disk().dump(session.id()).into_iter().map(|s| s.event).collect();
    assert_eq!(log[1], first);
    let late = tokio::time::timeout(Duration::from_secs(60), rounds(&session, 1)).await.unwrap();
    assert_eq!(late[..log.len()], log[..]);
    engine.shutdown().await;
}
