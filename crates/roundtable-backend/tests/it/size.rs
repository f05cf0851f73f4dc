//! F36: what it costs to come back to a session does not depend on how long it is.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use async_trait::async_trait;
use roundtable_backend::SqliteStore;
use roundtable_core::event::{Body, Event, RoundEvent, RoundOutcome, Seq};
use roundtable_core::id::{CommandId, NodeId, SessionId};
use roundtable_core::input::{Command, Env};
use roundtable_core::program::Programs;
use roundtable_core::projection::{Summary, rows as rows_of};
use roundtable_core::settings::Settings;
use roundtable_core::{Live, Starts};
use roundtable_engine::{Config, SessionHandle, SystemClock};
use roundtable_models::scripted::ScriptedModel;
use roundtable_ports::{
    Batch, Clock as _, CommandRecord, LogError, Ownership, SessionLog, Snapshot, Store,
};
use roundtable_testing::{agent, opening, say};

use crate::table::{Table, lines, rounds, script, session, shell, soon, start};

/// A log that counts the events that are read from it.
struct Counting {
    inner: Arc<dyn SessionLog>,
    read: Arc<AtomicUsize>,
}

#[async_trait]
impl SessionLog for Counting {
    async fn append(&self, own: &Ownership, batch: Batch<'_>) -> Result<Seq, LogError> {
        self.inner.append(own, batch).await
    }

    async fn read(
        &self,
        session: &SessionId,
        from: Seq,
        most: usize,
    ) -> Result<Vec<Arc<Event>>, LogError> {
        let events = self.inner.read(session, from, most).await?;
        self.read.fetch_add(events.len(), Ordering::Relaxed);
        Ok(events)
    }

    async fn find_command(
        &self,
        session: &SessionId,
        id: &CommandId,
    ) -> Result<Option<CommandRecord>, LogError> {
        self.inner.find_command(session, id).await
    }

    async fn find_snapshot(&self, session: &SessionId) -> Result<Option<Snapshot>, LogError> {
        self.inner.find_snapshot(session).await
    }

    async fn put_snapshot(&self, own: &Ownership, snapshot: Snapshot) -> Result<(), LogError> {
        self.inner.put_snapshot(own, snapshot).await
    }
}

/// A long session, made the short way: without an engine, and with rounds that are stopped.
async fn long(store: &Store, name: &SessionId, most: u64) {
    let node = NodeId::new("patient").unwrap();
    let own = store.leases.claim_one(name, &node).await.unwrap();
    let settings = Settings { window_rounds: 4, ..Settings::default() };
    let opening = opening(vec![agent("Ann"), agent("Bob")], settings);
    let mut live = Live::new(name.clone(), &Programs::default());
    let mut commands = vec![Command::Open(Box::new(opening))];
    let (mut head, mut number) = (Seq(0), 0);
    while head.0 < most {
        for _ in 0..200 {
            number += 1;
            commands.extend([say(name, &format!("m{number}"), "And then?"), Command::Stop]);
        }
        let env = Env::at(SystemClock.now());
        let step = |command: Command| live.step(&command.into(), &env, Starts::Allowed).unwrap();
        let events: Vec<_> = commands.drain(..).flat_map(step).map(Arc::new).collect();
        let rows: Vec<_> = events.iter().flat_map(|event| rows_of(event, &live)).collect();
        let summary = &Summary::of(&live.session);
        let batch = Batch {
            expect: head,
            origin: None,
            events: &events,
            rows: &rows,
            commands: &[],
            summary,
            spent: roundtable_core::budget::Spend::default(),
        };
        head = store.log.append(&own, batch).await.unwrap();
    }
    store.leases.release(&own).await.unwrap();
}

#[tokio::test]
async fn f36_a_session_with_100_000_events_comes_back_from_its_snapshot_and_the_tail() {
    comes_back(100_000).await;
}

#[tokio::test]
#[ignore = "takes a minute; the same as above with ten times the events"]
async fn f36_a_session_with_a_million_events_comes_back_from_its_snapshot_and_the_tail() {
    comes_back(1_000_000).await;
}

async fn comes_back(most: u64) {
    let directory = tempfile::tempdir().unwrap();
    let store = Store::of(Arc::new(SqliteStore::open(directory.path()).unwrap()));
    long(&store, &session("long"), most).await;
    let counted = |store: &Store| {
        let read = Arc::new(AtomicUsize::new(0));
        let log: Arc<dyn SessionLog> =
            Arc::new(Counting { inner: store.log.clone(), read: read.clone() });
        (Store { log, ..store.clone() }, read)
    };
    let model = || ScriptedModel::new(script());
    // The first time the whole log is read, and a snapshot is left.
    let (first, all) = counted(&store);
    let engine = start(first, model(), Config::default()).await;
    let handle = engine.session(&session("long"));
    handle.command(say(handle.id(), "last", "Still here?"), None).await.unwrap();
    until_closed(&handle, most).await;
    engine.shutdown().await;
    assert!(all.load(Ordering::Relaxed) as u64 > most, "{all:?}");

    let (second, few) = counted(&store);
    let engine = start(second, model(), Config::default()).await;
    let state = engine.session(&session("long")).state().await.unwrap();
    assert!(state.head.0 > most && state.rounds_completed == 1, "{}", state.head);
    assert!(few.load(Ordering::Relaxed) < 200, "{few:?} events were read");
    engine.shutdown().await;
}

/// Waits until a round completes after a position.
async fn until_closed(handle: &SessionHandle, from: u64) {
    let mut subscription = handle.subscribe(Seq(from)).await.unwrap();
    let completed = Body::Round(RoundEvent::RoundClosed {
        outcome: RoundOutcome::Completed,
        ends: None,
        note: None,
    });
    soon(async { while subscription.next_event().await.unwrap().body != completed {} }).await;
}

/// Storage grows no faster than the conversation: no round repeats what earlier ones said.
#[tokio::test]
async fn a_round_takes_as_many_bytes_at_the_end_as_at_the_beginning() {
    let directory = tempfile::tempdir().unwrap();
    let table = Table::at(directory.path()).await;
    let handle = table.play("lake", 0).await;
    let (mut bytes, mut before) = (Vec::new(), table.head("lake").await);
    let shell = shell(directory.path());
    for number in 1..=60 {
        table.say(&handle, &format!("m{number}"), "How are you?").await;
        rounds(&handle, number).await;
        let sql = format!("SELECT sum(length(body)) FROM event WHERE (id & 0xffffffff) > {before}");
        bytes.push(lines(&shell, &sql)[0].parse::<u64>().unwrap());
        before = table.head("lake").await;
    }
    let (first, last) = (bytes[0], bytes[bytes.len() - 1]);
    assert!(last < first + first / 20, "{bytes:?}");
    table.close().await;
}
