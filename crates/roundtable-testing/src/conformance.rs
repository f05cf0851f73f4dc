//! What every store has to do, whatever it is made of. A backend runs [`all`] on a factory of
//! empty stores.

use std::collections::BTreeSet;
use std::sync::Arc;

use futures_util::StreamExt as _;
use jiff::Timestamp;
use roundtable_core::agent::Agent;
use roundtable_core::digest::Digest;
use roundtable_core::event::{Event, Origin, Seq};
use roundtable_core::id::{CommandId, IterationId, NodeId, SessionId};
use roundtable_core::input::Env;
use roundtable_core::projection::{Summary, rows};
use roundtable_core::settings::Settings;
use roundtable_core::{Live, Starts};
use roundtable_ports::{
    Batch, CommandRecord, LeaseError, LogError, Ownership, Receipt, Snapshot, Store,
};

use crate::{opening, say};

/// Runs the whole suite.
pub async fn all(make: &(dyn Fn() -> Store + Sync)) {
    appends_are_ordered_and_read_back(&make()).await;
    an_append_after_another_head_is_a_conflict(&make()).await;
    a_stale_writer_is_fenced_in_the_commit(&make()).await;
    a_command_is_in_once(&make()).await;
    a_fork_reads_through_its_lineage(&make()).await;
    a_snapshot_is_overwritten_and_fenced(&make()).await;
    a_living_owner_keeps_its_session(&make()).await;
    drafts_are_overwritten_and_cleared(&make()).await;
    the_bell_rings_after_a_ring(&make()).await;
    the_directory_knows_what_is_due(&make()).await;
    many_sessions_append_at_once(&make()).await;
}

fn node(name: &str) -> NodeId {
    NodeId::new(name).expect("a node id")
}

fn session(name: &str) -> SessionId {
    SessionId::new(name).expect("a session id")
}

fn env() -> Env {
    Env::at(Timestamp::from_second(1_800_000_000).expect("a time"))
}

/// A session whose events can be appended one step after another.
struct Draft {
    live: Live,
    own: Ownership,
    origin: Option<Origin>,
}

impl Draft {
    async fn claim(store: &Store, name: &str, by: &str) -> Self {
        store.leases.renew(&node(by)).await.expect("a node that lives");
        let own = store.leases.claim_one(&session(name), &node(by)).await.expect("a free session");
        Self { live: Live::new(session(name)), own, origin: None }
    }

    fn open(&mut self) -> Vec<Arc<Event>> {
        let agents: Vec<Agent> = vec![crate::agent("Ann"), crate::agent("Bob")];
        let open =
            roundtable_core::input::Command::Open(Box::new(opening(agents, Settings::default())));
        self.step(open)
    }

    fn step(&mut self, command: roundtable_core::input::Command) -> Vec<Arc<Event>> {
        let events =
            self.live.step(&command.into(), &env(), Starts::Allowed).expect("an accepted command");
        events.into_iter().map(Arc::new).collect()
    }

    async fn append(
        &self,
        store: &Store,
        expect: Seq,
        events: &[Arc<Event>],
    ) -> Result<Seq, LogError> {
        self.append_with(store, expect, events, &[]).await
    }

    async fn append_with(
        &self,
        store: &Store,
        expect: Seq,
        events: &[Arc<Event>],
        commands: &[CommandRecord],
    ) -> Result<Seq, LogError> {
        let made: Vec<_> = events.iter().flat_map(|event| rows(event)).collect();
        let summary = Summary::of(&self.live.session);
        let batch = Batch {
            expect,
            origin: self.origin.as_ref(),
            events,
            rows: &made,
            commands,
            summary: &summary,
        };
        store.log.append(&self.own, batch).await
    }

    /// Opens the session and says something.
    async fn begin(&mut self, store: &Store) -> Vec<Arc<Event>> {
        let mut events = self.open();
        events.extend(self.step(say(&self.own.session.clone(), "m1", "Hello")));
        self.append(store, Seq(0), &events).await.expect("a first append");
        events
    }
}

async fn appends_are_ordered_and_read_back(store: &Store) {
    let mut draft = Draft::claim(store, "a", "one").await;
    let events = draft.begin(store).await;
    let read = store.log.read(&session("a"), Seq(1), 1000).await.expect("a log");
    assert_eq!(read, events, "what was appended is what is read");
    let page = store.log.read(&session("a"), Seq(3), 2).await.expect("a log");
    assert_eq!(page, events[2..4], "a page begins where it was asked to and ends in time");
    let head = events.last().expect("events").seq;
    assert_eq!(store.log.read(&session("a"), head.next(), 10).await.expect("a log"), []);
    assert_eq!(store.log.read(&session("b"), Seq(1), 10).await.expect("no log"), []);
}

async fn an_append_after_another_head_is_a_conflict(store: &Store) {
    let mut draft = Draft::claim(store, "a", "one").await;
    let events = draft.open();
    draft.append(store, Seq(0), &events).await.expect("a first append");
    let refused = draft.append(store, Seq(0), &events).await;
    assert_eq!(refused, Err(LogError::Conflict { head: Seq(1) }));
    assert_eq!(
        store.log.read(&session("a"), Seq(1), 10).await.expect("a log").len(),
        1,
        "nothing was added"
    );
}

async fn a_stale_writer_is_fenced_in_the_commit(store: &Store) {
    let mut draft = Draft::claim(store, "a", "one").await;
    let events = draft.open();
    draft.append(store, Seq(0), &events).await.expect("a first append");
    let newer = store.leases.claim_one(&session("a"), &node("one")).await.expect("its own session");
    assert!(newer.epoch > draft.own.epoch, "epochs grow");
    let more = draft.step(say(&session("a"), "m1", "Hello"));
    let refused = draft.append(store, Seq(1), &more).await;
    assert_eq!(refused, Err(LogError::Fenced { epoch: newer.epoch }));
    // Letting go with an old epoch changes nothing.
    store.leases.release(&draft.own).await.expect("a release");
    draft.own = newer;
    draft.append(store, Seq(1), &more).await.expect("the newer writer may");
}

async fn a_command_is_in_once(store: &Store) {
    let mut draft = Draft::claim(store, "a", "one").await;
    let events = draft.open();
    let record = CommandRecord {
        id: CommandId::new("c1").expect("a command id"),
        digest: Digest::of(b"what it said"),
        receipt: Receipt { after: Seq(0), seq: Seq(1), warnings: vec!["mind the gap".to_owned()] },
    };
    draft
        .append_with(store, Seq(0), &events, std::slice::from_ref(&record))
        .await
        .expect("a first append");
    assert_eq!(store.log.find_command(&session("a"), &record.id).await, Ok(Some(record.clone())));
    assert_eq!(store.log.find_command(&session("b"), &record.id).await, Ok(None));
    let more = draft.step(say(&session("a"), "m1", "Hello"));
    let refused = draft.append_with(store, Seq(1), &more, std::slice::from_ref(&record)).await;
    assert_eq!(refused, Err(LogError::Duplicate { id: record.id }));
    assert_eq!(
        store.log.read(&session("a"), Seq(2), 10).await,
        Ok(Vec::new()),
        "nothing was added"
    );
}

async fn a_fork_reads_through_its_lineage(store: &Store) {
    let mut parent = Draft::claim(store, "a", "one").await;
    let past = parent.open();
    parent.append(store, Seq(0), &past).await.expect("a first append");
    let mut fork = Draft::claim(store, "b", "one").await;
    past.iter().for_each(|event| fork.live.apply(event));
    let origin = Origin { session: session("a"), seq: Seq(1) };
    fork.origin = Some(origin.clone());
    let own = fork.step(roundtable_core::input::Command::Fork { origin, agents: None });
    fork.append(store, Seq(1), &own).await.expect("a fork");
    let more = fork.step(say(&session("b"), "m1", "Only in the fork"));
    fork.append(store, Seq(2), &more).await.expect("more of the fork");
    let later = parent.step(say(&session("a"), "m1", "Only in the parent"));
    parent.append(store, Seq(1), &later).await.expect("more of the parent");
    let expected: Vec<Arc<Event>> = [past, own, more].concat();
    assert_eq!(store.log.read(&session("b"), Seq(1), 1000).await, Ok(expected.clone()));
    assert_eq!(store.log.read(&session("b"), Seq(1), 1).await, Ok(expected[..1].to_vec()));
    assert_eq!(store.log.read(&session("b"), Seq(2), 1000).await, Ok(expected[1..].to_vec()));
}

async fn a_snapshot_is_overwritten_and_fenced(store: &Store) {
    let mut draft = Draft::claim(store, "a", "one").await;
    let events = draft.open();
    draft.append(store, Seq(0), &events).await.expect("a first append");
    let snapshot = |state: &[u8]| Snapshot { version: 1, seq: Seq(1), state: state.to_vec() };
    assert_eq!(store.log.find_snapshot(&session("a")).await, Ok(None));
    for state in [b"one".as_slice(), b"two"] {
        store.log.put_snapshot(&draft.own, snapshot(state)).await.expect("a snapshot");
        assert_eq!(store.log.find_snapshot(&session("a")).await, Ok(Some(snapshot(state))));
    }
    let stale = Ownership { epoch: draft.own.epoch - 1, ..draft.own.clone() };
    let refused = store.log.put_snapshot(&stale, snapshot(b"three")).await;
    assert!(matches!(refused, Err(LogError::Fenced { .. })), "{refused:?}");
}

async fn a_living_owner_keeps_its_session(store: &Store) {
    let mut draft = Draft::claim(store, "a", "one").await;
    let events = draft.open();
    draft.append(store, Seq(0), &events).await.expect("a first append");
    store.leases.renew(&node("two")).await.expect("a node that lives");
    let refused = store.leases.claim_one(&session("a"), &node("two")).await;
    assert_eq!(refused, Err(LeaseError::Held { node: node("one") }));
    store.leases.release(&draft.own).await.expect("a release");
    let taken = store.leases.claim_one(&session("a"), &node("two")).await.expect("a free session");
    assert!(taken.epoch > draft.own.epoch);
    // A node that never said that it lives does not keep anything.
    store.leases.release(&taken).await.expect("a release");
    store.leases.claim_one(&session("a"), &node("ghost")).await.expect("a free session");
    store
        .leases
        .claim_one(&session("a"), &node("two"))
        .await
        .expect("a session of a node that is gone");
}

async fn drafts_are_overwritten_and_cleared(store: &Store) {
    let mut draft = Draft::claim(store, "a", "one").await;
    let events = draft.open();
    draft.append(store, Seq(0), &events).await.expect("a first append");
    let iteration = IterationId::new("i1").expect("an iteration id");
    for text in ["Once", "Once upon"] {
        store.drafts.put_draft(&draft.own, &iteration, text).await.expect("a draft");
    }
    let noted = store.drafts.list_drafts(&session("a")).await.expect("drafts");
    assert_eq!(noted.into_iter().collect::<Vec<_>>(), [(iteration, "Once upon".to_owned())]);
    store.drafts.clear_drafts(&draft.own).await.expect("cleared");
    assert!(store.drafts.list_drafts(&session("a")).await.expect("drafts").is_empty());
}

async fn the_bell_rings_after_a_ring(store: &Store) {
    let mut rings = store.bell.listen(&session("a")).await;
    store.bell.ring(&session("a")).await;
    rings.next().await.expect("a ring");
}

async fn the_directory_knows_what_is_due(store: &Store) {
    let now = env().now;
    let mut idle = Draft::claim(store, "idle", "one").await;
    let events = idle.open();
    idle.append(store, Seq(0), &events).await.expect("a first append");
    let mut busy = Draft::claim(store, "busy", "one").await;
    busy.begin(store).await;
    let due = || store.directory.list_due(now, 10);
    assert_eq!(due().await, Ok(Vec::new()), "a living node drives what it owns");
    for draft in [&idle, &busy] {
        store.leases.release(&draft.own).await.expect("a release");
    }
    assert_eq!(due().await, Ok(vec![session("busy")]));
    let listed = store.directory.list(10).await.expect("a list");
    let ids: Vec<&str> = listed.iter().map(|listed| listed.session.as_str()).collect();
    assert_eq!(ids, ["ses_busy", "ses_idle"], "newest first");
    let found =
        store.directory.find(&session("busy")).await.expect("a directory").expect("a session");
    assert_eq!(
        (found.head, found.summary),
        (busy.live.session.head, Summary::of(&busy.live.session))
    );
    assert_eq!(store.directory.find(&session("nobody")).await, Ok(None));
}

async fn many_sessions_append_at_once(store: &Store) {
    let names: Vec<String> = (0..40).map(|index| format!("s{index}")).collect();
    let work = names.iter().map(|name| async move {
        let mut draft = Draft::claim(store, name, "one").await;
        draft.begin(store).await
    });
    let logs = futures_util::future::join_all(work).await;
    for (name, log) in names.iter().zip(logs) {
        assert_eq!(store.log.read(&session(name), Seq(1), 1000).await, Ok(log));
    }
    let listed = store.directory.list(100).await.expect("a list");
    assert_eq!(
        listed.iter().map(|l| l.session.clone()).collect::<BTreeSet<_>>().len(),
        names.len()
    );
}
