//! Leases: one writer per session, and a fence in the commit itself.

use std::collections::BTreeSet;

use roundtable_core::event::Seq;
use roundtable_core::id::IterationId;
use roundtable_ports::{LeaseError, LogError, Snapshot, Store};

use super::fixture::{Draft, node, session};
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
