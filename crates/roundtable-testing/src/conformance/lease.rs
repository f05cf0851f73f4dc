//! Leases: one writer per session, and a fence in the commit itself.

use std::collections::BTreeSet;

use jiff::{SignedDuration, Timestamp};
use roundtable_core::event::Seq;
use roundtable_core::id::IterationId;
use roundtable_ports::{CRASH_WINDOW, Crash, LeaseError, LogError, Snapshot, Store};

use super::fixture::{Draft, env, node, session};
use crate::say;

pub async fn a_stale_writer_is_fenced_in_the_commit(store: &Store) {
    let mut draft = Draft::opened(store, "a", "one").await;
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

pub async fn a_writer_that_let_go_is_fenced(store: &Store) {
    let mut draft = Draft::opened(store, "a", "one").await;
    store.leases.release(&draft.own).await.expect("a release");
    let more = draft.step(say(&session("a"), "m1", "Hello"));
    let refused = draft.append(store, Seq(1), &more).await;
    assert!(matches!(refused, Err(LogError::Fenced { .. })), "{refused:?}");
    let snapshot = Snapshot { version: 1, seq: Seq(1), state: Vec::new() };
    let refused = store.log.put_snapshot(&draft.own, snapshot).await;
    assert!(matches!(refused, Err(LogError::Fenced { .. })), "{refused:?}");
}

pub async fn drafts_are_fenced(store: &Store) {
    let draft = Draft::opened(store, "a", "one").await;
    let iteration = IterationId::new("i1").expect("an iteration id");
    store.drafts.put_draft(&draft.own, &iteration, "Once").await.expect("a draft");
    store.leases.claim_one(&session("a"), &node("one")).await.expect("its own session");
    let late = store.drafts.put_draft(&draft.own, &iteration, "Once upon").await;
    assert!(matches!(late, Err(LogError::Fenced { .. })), "{late:?}");
    let late = store.drafts.clear_drafts(&draft.own).await;
    assert!(matches!(late, Err(LogError::Fenced { .. })), "{late:?}");
    let noted = store.drafts.list_drafts(&session("a")).await.expect("drafts");
    assert_eq!(noted.into_values().collect::<Vec<_>>(), ["Once"]);
}

pub async fn a_living_owner_keeps_its_session(store: &Store) {
    let draft = Draft::opened(store, "a", "one").await;
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

/// The epochs of a session that was never written begin anew; an old writer is fenced all the
/// same, because another one has the session.
pub async fn a_claim_that_comes_to_nothing_leaves_no_trace(store: &Store) {
    let mut first = Draft::claim(store, "a", "one").await;
    store.leases.release(&first.own).await.expect("a release");
    assert_eq!(store.directory.find(&session("a")).await, Ok(None));
    assert_eq!(store.directory.list(10).await, Ok(Vec::new()));
    let mut second = Draft::claim(store, "a", "two").await;
    let events = first.open();
    let refused = first.append(store, Seq(0), &events).await;
    assert!(matches!(refused, Err(LogError::Fenced { .. })), "{refused:?}");
    let events = second.open();
    second.append(store, Seq(0), &events).await.expect("the one who has it may");
}

pub async fn f11_of_many_nodes_that_claim_at_once_one_gets_it(store: &Store) {
    let nodes: Vec<_> = (0..8).map(|index| node(&format!("n{index}"))).collect();
    for node in &nodes {
        store.leases.renew(node).await.expect("a node that lives");
    }
    for round in 0..25 {
        let wanted = session(&format!("s{round}"));
        let claims = nodes.iter().map(|node| store.leases.claim_one(&wanted, node));
        let claims = futures_util::future::join_all(claims).await;
        let winners: Vec<_> = claims.iter().flatten().collect();
        assert_eq!(winners.len(), 1, "{claims:?}");
        let held = LeaseError::Held { node: winners[0].node.clone() };
        let losers: BTreeSet<String> = claims
            .iter()
            .filter_map(|claim| claim.as_ref().err())
            .map(ToString::to_string)
            .collect();
        assert_eq!(losers.into_iter().collect::<Vec<_>>(), [held.to_string()]);
    }
}

fn parked(reason: &str) -> LeaseError {
    LeaseError::Parked { reason: reason.to_owned() }
}

/// Nodes that never said that they live are dead as soon as they have claimed.
pub async fn f35_a_session_whose_owners_die_three_times_in_a_row_is_parked(store: &Store) {
    Draft::opened(store, "b", "one").await;
    let draft = Draft::opened(store, "a", "one").await;
    store.leases.release(&draft.own).await.expect("a release");
    let a = session("a");
    let first = store.leases.claim_one(&a, &node("ghost1")).await.expect("a free session");
    let second = store.leases.claim_one(&a, &node("ghost2")).await.expect("of a dead owner");
    // From here on it is claimed by itself alone.
    let refused = store.leases.claim_one(&a, &node("ghost3")).await;
    assert_eq!(refused, Err(LeaseError::Suspect));
    let third = store.leases.claim_alone(&a, &node("ghost3")).await.expect("of a dead owner");
    assert_eq!([first.takeovers, second.takeovers, third.takeovers], [0, 1, 2]);
    let why = "3 processes in a row ended while they owned it";
    for _ in 0..2 {
        let refused = store.leases.claim_alone(&a, &node("one")).await;
        assert_eq!(refused, Err(parked(why)));
    }
    // It can be seen, nobody looks for it, and the others are as they were.
    let listed = store.directory.find(&a).await.expect("a look").expect("a session");
    assert_eq!(listed.parked.as_deref(), Some(why));
    let others = store.directory.find(&session("b")).await.expect("a look").expect("a session");
    assert_eq!(others.parked, None);
    // Someone wants it to go on.
    assert_eq!(store.leases.unpark(&a).await, Ok(true));
    assert_eq!(store.leases.unpark(&a).await, Ok(false));
    let own = store.leases.claim_one(&a, &node("ghost4")).await.expect("a free session");
    assert!(own.epoch > third.epoch && own.takeovers == 0, "{own:?}");
}

pub async fn f35_a_session_that_is_under_way_or_let_go_counts_afresh(store: &Store) {
    let draft = Draft::opened(store, "a", "one").await;
    store.leases.release(&draft.own).await.expect("a release");
    let a = session("a");
    for round in 0..5 {
        store.leases.claim_one(&a, &node("ghost1")).await.expect("a claim");
        let taken = store.leases.claim_one(&a, &node("ghost2")).await.expect("of a dead owner");
        assert_eq!(taken.takeovers, 1, "{round}");
        if round % 2 == 0 {
            store.leases.settle(&taken).await.expect("it is under way");
            let again = store.leases.claim_one(&a, &node("ghost3")).await.expect("a claim");
            assert_eq!(again.takeovers, 1);
            // The one before has no say any more.
            store.leases.settle(&taken).await.expect("nothing happens");
            store.leases.release(&again).await.expect("a release");
        } else {
            store.leases.release(&taken).await.expect("a release");
        }
    }
}

pub async fn f35_a_session_that_panics_three_times_within_ten_minutes_is_parked(store: &Store) {
    let mut draft = Draft::claim(store, "a", "one").await;
    draft.begin(store).await;
    store.leases.release(&draft.own).await.expect("a release");
    let (a, one) = (session("a"), node("one"));
    let due = || store.directory.list_due(env().now, 10);
    assert_eq!(due().await, Ok(vec![a.clone()]));
    let crash = async |seconds: i64| {
        store.leases.claim_one(&a, &one).await.expect("a claim");
        let at = Timestamp::UNIX_EPOCH + SignedDuration::from_secs(seconds);
        let crash = Crash { at, message: format!("at {seconds}") };
        store.leases.crashed(&a, &one, &crash).await.expect("a note")
    };
    // Too far apart.
    let late = CRASH_WINDOW.as_secs() + 1;
    assert_eq!([crash(0).await, crash(1).await, crash(late).await], [None, None, None]);
    // A node that does not own it has nothing to say.
    let at = Timestamp::UNIX_EPOCH + SignedDuration::from_secs(late);
    let foreign = Crash { at, message: "of another".to_owned() };
    assert_eq!(store.leases.crashed(&a, &node("two"), &foreign).await, Ok(None));
    assert_eq!(crash(late + 1).await, None);
    let why = format!("it failed 3 times within 10 minutes; last error: at {}", late + 2);
    assert_eq!(crash(late + 2).await.as_deref(), Some(why.as_str()));
    assert_eq!(store.leases.claim_one(&a, &one).await, Err(parked(&why)));
    let listed = store.directory.find(&a).await.expect("a look").expect("a session");
    assert_eq!(listed.parked, Some(why));
    assert_eq!(due().await, Ok(Vec::new()), "nobody looks for it");
    assert_eq!(store.leases.unpark(&a).await, Ok(true));
    assert_eq!(due().await, Ok(vec![a.clone()]));
    assert_eq!([crash(late + 3).await, crash(late + 4).await], [None, None]);
    assert!(crash(late + 5).await.is_some(), "it is parked again");
}
