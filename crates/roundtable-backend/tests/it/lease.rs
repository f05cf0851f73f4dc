//! Leases on a file: several stores on one directory, in one process or in several.

use std::path::Path;
use std::sync::Arc;

use roundtable_backend::SqliteStore;
use roundtable_core::id::NodeId;
use roundtable_ports::{LeaseError, Leases as _, Store};

use crate::table::{append_opening, lines, session, shell};

fn node(name: &str) -> NodeId {
    NodeId::new(name).unwrap()
}

fn open(directory: &Path) -> Arc<SqliteStore> {
    Arc::new(SqliteStore::open(directory).unwrap())
}

#[tokio::test]
async fn two_stores_in_one_process_are_two_processes_to_each_other() {
    let directory = tempfile::tempdir().unwrap();
    let (one, two) = (open(directory.path()), open(directory.path()));
    one.renew(&node("one")).await.unwrap();
    two.renew(&node("two")).await.unwrap();
    one.renew(&node("one")).await.unwrap();
    let own = one.claim_one(&session("a"), &node("one")).await.unwrap();
    let held = LeaseError::Held { node: node("one") };
    assert_eq!(two.claim_one(&session("a"), &node("two")).await, Err(held));
    let taken = two.renew(&node("one")).await.unwrap_err().to_string();
    assert!(taken.contains("another process runs as nod_one"), "{taken}");
    // Closing a store is the end of its nodes.
    drop(one);
    let mine = two.claim_one(&session("a"), &node("two")).await.unwrap();
    assert!(mine.epoch > own.epoch);
}

/// F11: many sessions whose owner is dead, wanted by several stores at the same moment.
#[test]
fn f11_of_many_stores_that_want_a_dead_owners_sessions_at_once_one_gets_each() {
    const SESSIONS: usize = 250;
    const STORES: usize = 4;
    let directory = tempfile::tempdir().unwrap();
    let runtime = || tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime().block_on(async {
        let dead = Store::of(open(directory.path()));
        for index in 0..SESSIONS {
            append_opening(&dead, &session(&format!("s{index}")), &node("dead")).await;
        }
        // Owned by a node that never said that it lives.
        for index in 0..SESSIONS {
            dead.leases.claim_one(&session(&format!("s{index}")), &node("dead")).await.unwrap();
        }
    });
    let begin = Arc::new(std::sync::Barrier::new(STORES));
    let threads: Vec<_> = (0..STORES)
        .map(|index| {
            let (path, begin) = (directory.path().to_owned(), begin.clone());
            std::thread::spawn(move || {
                runtime().block_on(async {
                    let (store, own) = (open(&path), node(&format!("n{index}")));
                    store.renew(&own).await.unwrap();
                    begin.wait();
                    let wanted: Vec<_> =
                        (0..SESSIONS).map(|index| session(&format!("s{index}"))).collect();
                    let claims = wanted.iter().map(|wanted| store.claim_one(wanted, &own));
                    let claims = futures_util::future::join_all(claims).await;
                    begin.wait();
                    claims
                })
            })
        })
        .collect();
    let claims: Vec<Vec<_>> = threads.into_iter().map(|thread| thread.join().unwrap()).collect();
    for wanted in 0..SESSIONS {
        let claims: Vec<_> = claims.iter().map(|of_store| of_store[wanted].clone()).collect();
        let winner = claims.iter().position(Result::is_ok).expect("someone who gets it");
        let held = LeaseError::Held { node: node(&format!("n{winner}")) };
        let others = claims.iter().enumerate().filter(|(store, _)| *store != winner);
        for (store, claim) in others {
            assert_eq!(claim, &Err(held.clone()), "session {wanted}, store {store}");
        }
    }
}

#[tokio::test]
async fn what_dead_processes_left_is_cleared_away() {
    let directory = tempfile::tempdir().unwrap();
    let nodes = directory.path().join("nodes");
    std::fs::create_dir_all(&nodes).unwrap();
    for index in 0..20 {
        std::fs::write(nodes.join(format!("nod_dead{index}.lock")), b"").unwrap();
    }
    let (store, other) = (open(directory.path()), open(directory.path()));
    other.renew(&node("other")).await.unwrap();
    store.renew(&node("one")).await.unwrap();
    let mut left: Vec<String> = std::fs::read_dir(&nodes)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    left.sort();
    assert_eq!(left, ["nod_one.lock", "nod_other.lock"]);
}

/// A process that begins to live while others look whether it does is not taken for dead.
#[test]
fn a_process_can_begin_to_live_while_others_look() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().to_owned();
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(3).enable_all().build().unwrap();
    runtime.block_on(async {
        let looking = open(&path);
        looking.renew(&node("looking")).await.unwrap();
        looking.claim_one(&session("a"), &node("new")).await.unwrap();
        let looker = looking.clone();
        let look = tokio::spawn(async move {
            loop {
                // Sees the owner dead or alive, and clears its file away when it is dead.
                let claimed = looker.claim_one(&session("a"), &node("looking")).await;
                if let Ok(claimed) = claimed {
                    looker.release(&claimed).await.unwrap();
                    looker.claim_one(&session("a"), &node("new")).await.ok();
                }
                tokio::task::yield_now().await;
            }
        });
        for _ in 0..40 {
            let store = open(&path);
            store.renew(&node("new")).await.unwrap();
            assert!(path.join("nodes/nod_new.lock").exists(), "its file was cleared away");
            drop(store);
        }
        look.abort();
    });
}

#[tokio::test]
async fn an_epoch_is_never_used_twice_once_there_is_a_log() {
    let directory = tempfile::tempdir().unwrap();
    let store = Store::of(open(directory.path()));
    store.leases.renew(&node("one")).await.unwrap();
    append_opening(&store, &session("a"), &node("one")).await;
    let mut last = 1;
    for _ in 0..5 {
        let own = store.leases.claim_one(&session("a"), &node("one")).await.unwrap();
        assert_eq!(own.epoch, last + 1);
        last = own.epoch;
        store.leases.release(&own).await.unwrap();
    }
    assert_eq!(lines(&shell(directory.path()), "SELECT epoch, owner FROM lease"), ["6|"]);
}
