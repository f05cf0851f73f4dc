//! What sessions spend and hold, written with their events.

use roundtable_core::budget::Spend;
use roundtable_core::id::IterationId;
use roundtable_core::input::Command;
use roundtable_core::projection::Row;
use roundtable_core::quota::{Day, Spending};
use roundtable_core::settings::Settings;
use roundtable_ports::{Batch, Owner, Store};

use super::fixture::{Draft, env};
use crate::{agent, opening, say};

fn owner(tenant: &str, actor: &str) -> Owner {
    Owner { tenant: Some(tenant.to_owned()), actor: Some(actor.to_owned()) }
}

fn spend(calls: u64) -> Spend {
    Spend { calls, tokens: 10 * calls, cost: 100 * calls }
}

fn today() -> Day {
    Day::of(env().now)
}

/// A session of an owner, opened, with so much spent in its first commit.
async fn opened(store: &Store, name: &str, whose: &Owner, spent: Spend) -> Draft {
    let mut draft = Draft::claim(store, name, "one").await;
    let mut opening = opening(vec![agent("Ann"), agent("Bob")], Settings::default());
    (opening.tenant, opening.actor) = (whose.tenant.clone(), whose.actor.clone());
    let events = draft.step(Command::Open(Box::new(opening)));
    draft.spent = spent;
    draft.append(store, roundtable_core::event::Seq(0), &events).await.expect("an append");
    draft.spent = Spend::default();
    draft
}

/// Commits reservation rows.
async fn append_rows(store: &Store, draft: &Draft, rows: &[Row]) {
    let summary = roundtable_core::projection::Summary::of(&draft.live.session);
    let batch = Batch {
        expect: draft.live.session.head,
        origin: None,
        events: &[],
        rows,
        commands: &[],
        summary: &summary,
        spent: Spend::default(),
    };
    store.log.append(&draft.own, batch).await.expect("an append");
}

pub async fn s25_what_is_spent_counts_for_its_day_and_its_owner(store: &Store) {
    let (ann, bob) = (owner("a", "ann"), owner("a", "bob"));
    opened(store, "one", &ann, spend(1)).await;
    let mut two = opened(store, "two", &ann, spend(2)).await;
    opened(store, "three", &bob, spend(4)).await;
    let head = two.live.session.head;
    let events = two.step(say(&two.own.session.clone(), "m1", "Hello"));
    two.spent = spend(8);
    two.append(store, head, &events).await.expect("an append");
    let spent = async |owner: Option<&Owner>, day: Day| {
        store.quotas.spending(owner, day, None).await.expect("sums").spent
    };
    assert_eq!(spent(Some(&ann), today()).await, spend(11));
    assert_eq!(spent(Some(&bob), today()).await, spend(4));
    assert_eq!(spent(None, today()).await, spend(15));
    assert_eq!(spent(Some(&owner("b", "ann")), today()).await, Spend::default());
    assert_eq!(spent(None, Day(today().0 + 1)).await, Spend::default());
}

pub async fn s25_reservations_are_counted_in_the_order_in_which_they_were_made(store: &Store) {
    let (ann, bob) = (owner("a", "ann"), owner("a", "bob"));
    let one = opened(store, "one", &ann, Spend::default()).await;
    let two = opened(store, "two", &bob, Spend::default()).await;
    let id = |name: &str| IterationId::new(name).expect("an id");
    let reserve = |name: &str, calls: u64| {
        vec![Row::Reservation { iteration: id(name), amount: spend(calls) }]
    };
    append_rows(store, &one, &reserve("i1", 1)).await;
    append_rows(store, &two, &reserve("i2", 2)).await;
    append_rows(store, &one, &reserve("i3", 4)).await;
    let reserved = async |owner: Option<&Owner>, up_to: Option<&str>| {
        let up_to = up_to.map(id);
        let sums = store.quotas.spending(owner, today(), up_to.as_ref()).await.expect("sums");
        let Spending { spent, reserved } = sums;
        assert_eq!(spent, Spend::default());
        reserved
    };
    assert_eq!(reserved(None, Some("i1")).await, spend(1));
    assert_eq!(reserved(None, Some("i2")).await, spend(3));
    assert_eq!(reserved(None, Some("i3")).await, spend(7));
    assert_eq!(reserved(Some(&ann), Some("i3")).await, spend(5), "those of others do not count");
    assert_eq!(reserved(Some(&ann), None).await, spend(5));
    assert_eq!(reserved(None, Some("unknown")).await, spend(7), "all of them");
    append_rows(store, &one, &[Row::ReservationGone { iteration: id("i1") }]).await;
    assert_eq!(reserved(None, Some("i2")).await, spend(2));
    append_rows(store, &two, &reserve("i2", 2)).await;
    assert_eq!(reserved(None, Some("i3")).await, spend(4), "started again, it is the last one");
}

pub async fn s25_sessions_running_rounds_and_bytes_are_counted_per_owner(store: &Store) {
    let (ann, bob) = (owner("a", "ann"), owner("a", "bob"));
    opened(store, "one", &ann, Spend::default()).await;
    let mut two = opened(store, "two", &ann, Spend::default()).await;
    opened(store, "three", &bob, Spend::default()).await;
    let before = store.quotas.holdings(Some(&ann)).await.expect("sums");
    let head = two.live.session.head;
    let events = two.step(say(&two.own.session.clone(), "m1", &"x".repeat(5000)));
    two.append(store, head, &events).await.expect("an append");
    let after = store.quotas.holdings(Some(&ann)).await.expect("sums");
    let all = store.quotas.holdings(None).await.expect("sums");
    let other = store.quotas.holdings(Some(&bob)).await.expect("sums");
    assert_eq!((before.sessions, before.running), (2, 0));
    assert_eq!((after.sessions, after.running), (2, 1));
    assert!(after.bytes >= before.bytes + 5000 && before.bytes > 0, "{before:?} {after:?}");
    assert_eq!((all.sessions, all.running), (3, 1));
    assert_eq!(all.bytes, after.bytes + other.bytes);
    two.stop(store).await;
    assert_eq!(store.quotas.holdings(Some(&ann)).await.expect("sums").running, 0);
}
