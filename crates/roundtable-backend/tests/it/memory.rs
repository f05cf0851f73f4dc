//! What only the store in memory can do: die with its process, and fail on purpose.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use jiff::Timestamp;
use roundtable_backend::{Disk, Fault, Faults, MemoryStore};
use roundtable_core::event::{Event, Seq};
use roundtable_core::id::{NodeId, SessionId};
use roundtable_core::input::{Command, Env};
use roundtable_core::program::Programs;
use roundtable_core::projection::Summary;
use roundtable_core::settings::Settings;
use roundtable_core::{Live, Starts};
use roundtable_ports::{Batch, LeaseError, Leases as _, LogError, Ownership, SessionLog as _};
use roundtable_testing::{agent, opening};

fn node(name: &str) -> NodeId {
    NodeId::new(name).unwrap()
}

fn session() -> SessionId {
    SessionId::new("mine").unwrap()
}

/// Opens a session in a store, as far as the store lets it.
async fn open(store: &MemoryStore, own: &Ownership) -> Result<Seq, LogError> {
    let mut live = Live::new(session(), &Programs::default());
    let open = Command::Open(Box::new(opening(vec![agent("Ann")], Settings::default())));
    let env = Env::at(Timestamp::UNIX_EPOCH);
    let events = live.step(&open.into(), &env, Starts::Allowed).unwrap();
    let events: Vec<Arc<Event>> = events.into_iter().map(Arc::new).collect();
    let batch = Batch {
        expect: Seq(0),
        origin: None,
        events: &events,
        rows: &[],
        commands: &[],
        summary: &Summary::of(&live.session),
        spent: roundtable_core::budget::Spend::default(),
    };
    store.append(own, batch).await
}

#[tokio::test]
async fn a_process_that_is_gone_owns_nothing_and_what_it_wrote_stays() {
    let disk = Arc::new(Disk::default());
    let first = MemoryStore::on(disk.clone());
    first.renew(&node("one")).await.unwrap();
    let own = first.claim_one(&session(), &node("one")).await.unwrap();
    open(&first, &own).await.unwrap();
    let second = MemoryStore::on(disk.clone());
    second.renew(&node("two")).await.unwrap();
    let held = second.claim_one(&session(), &node("two")).await;
    assert_eq!(held, Err(LeaseError::Held { node: node("one") }));
    drop(first);
    let taken = second.claim_one(&session(), &node("two")).await.unwrap();
    assert!(taken.epoch > own.epoch);
    assert_eq!(disk.dump(&session()).len(), 1);
    assert_eq!(second.read(&session(), Seq(1), 10).await.unwrap().len(), 1);
}

/// Does one bad thing, and notes what it was asked.
struct Bad(Fault, Mutex<Vec<(SessionId, Seq)>>);

impl Faults for Bad {
    fn on_append(&self, session: &SessionId, expect: Seq) -> Fault {
        let mut asked = self.1.lock().unwrap();
        asked.push((session.clone(), expect));
        if asked.len() == 1 { self.0 } else { Fault::None }
    }
}

#[tokio::test(start_paused = true)]
async fn a_fault_does_what_it_says_and_the_disk_shows_whether_it_was_committed() {
    let unavailable = |text: &str| Some(Err(LogError::Unavailable(text.to_owned())));
    let conflict = Some(Err(LogError::Conflict { head: Seq(0) }));
    let cases = [
        (Fault::None, Some(Ok(Seq(1))), 1),
        (Fault::Conflict, conflict, 0),
        (Fault::Unavailable, unavailable("injected"), 0),
        (Fault::Unstorable, Some(Err(LogError::Unstorable { what: "injected".to_owned() })), 0),
        (Fault::AckLost, unavailable("injected: the response was lost"), 1),
        (Fault::Fenced, Some(Err(LogError::Fenced { epoch: 2 })), 0),
        (Fault::CrashBefore, None, 0),
        (Fault::CrashAfter, None, 1),
    ];
    for (fault, answer, committed) in cases {
        let (disk, bad) = (Arc::new(Disk::default()), Arc::new(Bad(fault, Mutex::default())));
        let store = MemoryStore::with_faults(disk.clone(), bad.clone());
        let own = store.claim_one(&session(), &node("one")).await.unwrap();
        let appended = tokio::time::timeout(Duration::from_secs(60), open(&store, &own)).await;
        assert_eq!(appended.ok(), answer, "{fault:?}");
        assert_eq!(disk.dump(&session()).len(), committed, "{fault:?}");
        assert_eq!(bad.1.lock().unwrap().as_slice(), [(session(), Seq(0))]);
    }
}
