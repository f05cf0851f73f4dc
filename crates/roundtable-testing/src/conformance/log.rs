//! The log: ordered, complete, idempotent by command.

use std::collections::BTreeSet;
use std::sync::Arc;

use roundtable_core::event::{Body, Event, Origin, Seq, ToolCallEvent};
use roundtable_core::id::IterationId;
use roundtable_core::input::Command;
use roundtable_core::scope::Place;
use roundtable_ports::{LogError, Ownership, Snapshot, Store};
use serde_json::{Value, json};

use super::fixture::{Draft, command, record, session};
use crate::say;

pub async fn appends_are_ordered_and_read_back(store: &Store) {
    let mut draft = Draft::claim(store, "a", "one").await;
    let events = draft.begin(store).await;
    let read = |from: u64, most: usize| {
        let log = store.log.clone();
        async move { log.read(&session("a"), Seq(from), most).await.expect("a log") }
    };
    assert_eq!(read(1, 1000).await, events, "what was appended is what is read");
    assert_eq!(read(0, usize::MAX).await, events, "from before the first one, without a limit");
    assert_eq!(read(3, 2).await, events[2..4], "a page begins where it was asked to");
    assert_eq!(read(1, 0).await, [], "nothing is nothing");
    let head = events.last().expect("events").seq.0;
    for beyond in [head + 1, head + 2, u64::from(u32::MAX), u64::from(u32::MAX) + 3, u64::MAX] {
        assert_eq!(read(beyond, 10).await, [], "there is nothing at {beyond}");
    }
    assert_eq!(store.log.read(&session("b"), Seq(1), 10).await.expect("no log"), []);
}

pub async fn an_append_after_another_head_is_a_conflict(store: &Store) {
    let draft = Draft::opened(store, "a", "one").await;
    let mut again = Draft::claim(store, "b", "one").await;
    let events = again.open();
    let refused = draft.append(store, Seq(0), &events).await;
    assert_eq!(refused, Err(LogError::Conflict { head: Seq(1) }));
    let refused = again.append(store, Seq(4), &events).await;
    assert_eq!(refused, Err(LogError::Conflict { head: Seq(0) }), "also of a new session");
    let read = store.log.read(&session("a"), Seq(1), 10).await.expect("a log");
    assert_eq!(read.len(), 1, "nothing was added");
    assert_eq!(store.directory.find(&session("b")).await, Ok(None), "nothing was made");
}

pub async fn a_command_is_in_once(store: &Store) {
    let mut draft = Draft::claim(store, "a", "one").await;
    let events = draft.open();
    let first = record("c1", 0, 1);
    draft
        .append_with(store, Seq(0), &events, std::slice::from_ref(&first))
        .await
        .expect("a first append");
    assert_eq!(store.log.find_command(&session("a"), &first.id).await, Ok(Some(first.clone())));
    assert_eq!(store.log.find_command(&session("a"), &command("c2")).await, Ok(None));
    assert_eq!(store.log.find_command(&session("b"), &first.id).await, Ok(None));
    let more = draft.step(say(&session("a"), "m1", "Hello"));
    let both = [record("c2", 1, 2), first.clone()];
    let refused = draft.append_with(store, Seq(1), &more, &both).await;
    assert_eq!(refused, Err(LogError::Duplicate { id: first.id }));
    let read = store.log.read(&session("a"), Seq(2), 10).await;
    assert_eq!(read, Ok(Vec::new()), "nothing was added");
    let found = store.log.find_command(&session("a"), &command("c2")).await;
    assert_eq!(found, Ok(None), "nor is the other command of that commit");
}

pub async fn a_command_without_events_is_remembered_too(store: &Store) {
    let draft = Draft::opened(store, "a", "one").await;
    let nothing = record("c1", 1, 1);
    let head = draft.append_with(store, Seq(1), &[], std::slice::from_ref(&nothing)).await;
    assert_eq!(head, Ok(Seq(1)));
    assert_eq!(store.log.find_command(&session("a"), &nothing.id).await, Ok(Some(nothing)));
}

pub async fn s23_a_body_that_no_reader_takes_is_refused_and_nothing_is_written(store: &Store) {
    let draft = Draft::opened(store, "a", "one").await;
    let event = |levels: usize| {
        let data = (0..levels).fold(json!(1), |inner, _| Value::Array(vec![inner]));
        let body = Body::ToolCall(ToolCallEvent::ToolCallPublished {
            ordinal: 1,
            topic: "deep".to_owned(),
            data,
        });
        let at = super::fixture::env().now;
        Arc::new(Event { seq: Seq(2), at, place: Place::session(), body })
    };
    for levels in [65, 127, 500] {
        let refused = draft.append(store, Seq(1), &[event(levels)]).await;
        let what = format!("a value is nested {levels} levels deep; at most 64 levels are allowed");
        let error = refused.expect_err("a refusal");
        assert_eq!(error, LogError::Unstorable { what });
        assert!(!error.is_transient(), "trying again changes nothing");
    }
    let read = store.log.read(&session("a"), Seq(2), 10).await;
    assert_eq!(read, Ok(Vec::new()), "nothing was added");
    let fits = event(64);
    draft.append(store, Seq(1), std::slice::from_ref(&fits)).await.expect("64 levels");
    assert_eq!(store.log.read(&session("a"), Seq(2), 10).await, Ok(vec![fits]));
}

pub async fn a_fork_reads_through_its_lineage(store: &Store) {
    let mut parent = Draft::claim(store, "a", "one").await;
    let past = parent.open();
    let known = record("c1", 0, 1);
    parent
        .append_with(store, Seq(0), &past, std::slice::from_ref(&known))
        .await
        .expect("a first append");
    let mut fork = Draft::claim(store, "b", "one").await;
    past.iter().for_each(|event| fork.live.apply(event));
    let origin = Origin { session: session("a"), seq: Seq(1) };
    fork.origin = Some(origin.clone());
    let own = fork.step(Command::Fork { origin, agents: None });
    fork.append(store, Seq(1), &own).await.expect("a fork");
    let more = fork.step(say(&session("b"), "m1", "Only in the fork"));
    fork.append(store, Seq(2), &more).await.expect("more of the fork");
    let later = parent.step(say(&session("a"), "m1", "Only in the parent"));
    parent.append(store, Seq(1), &later).await.expect("more of the parent");
    let expected: Vec<Arc<Event>> = [past, own, more].concat();
    assert_eq!(store.log.read(&session("b"), Seq(1), 1000).await, Ok(expected.clone()));
    assert_eq!(store.log.read(&session("b"), Seq(1), 1).await, Ok(expected[..1].to_vec()));
    assert_eq!(store.log.read(&session("b"), Seq(2), 1000).await, Ok(expected[1..].to_vec()));
    let inherited = store.log.find_command(&session("b"), &known.id).await;
    assert_eq!(inherited, Ok(None), "a command of the origin is not one of the fork");
}

pub async fn pages_of_any_size_are_the_same_log(store: &Store) {
    let mut trunk = Draft::claim(store, "a", "one").await;
    trunk.begin(store).await;
    trunk.stop(store).await;
    let mut past = store.log.read(&session("a"), Seq(1), 1000).await.expect("a log");
    let mut name = "a".to_owned();
    // A fork of a fork of a fork, each going on a little.
    for next in ["b", "c", "d"] {
        let origin = Origin { session: session(&name), seq: past[past.len() - 1].seq };
        Draft::fork(store, &past, origin, next).await;
        past = store.log.read(&session(next), Seq(1), 1000).await.expect("a log");
        next.clone_into(&mut name);
    }
    let numbers: Vec<u64> = past.iter().map(|event| event.seq.0).collect();
    assert_eq!(numbers, (1..=past.len() as u64).collect::<Vec<_>>(), "no gap at any joint");
    for size in 1..=past.len() {
        let mut pages = Vec::new();
        loop {
            let from = Seq(pages.len() as u64 + 1);
            let page = store.log.read(&session("d"), from, size).await.expect("a page");
            assert!(page.len() <= size, "a page has at most {size} events");
            if page.is_empty() {
                break;
            }
            pages.extend(page);
        }
        assert_eq!(pages, past, "in pages of {size}");
    }
}

pub async fn a_snapshot_is_overwritten_and_fenced(store: &Store) {
    let draft = Draft::opened(store, "a", "one").await;
    let snapshot = |state: &[u8]| Snapshot { version: 1, seq: Seq(1), state: state.to_vec() };
    assert_eq!(store.log.find_snapshot(&session("a")).await, Ok(None));
    for state in [b"one".as_slice(), b"two"] {
        store.log.put_snapshot(&draft.own, snapshot(state)).await.expect("a snapshot");
        assert_eq!(store.log.find_snapshot(&session("a")).await, Ok(Some(snapshot(state))));
    }
    let stale = Ownership { epoch: draft.own.epoch - 1, ..draft.own.clone() };
    let refused = store.log.put_snapshot(&stale, snapshot(b"three")).await;
    assert!(matches!(refused, Err(LogError::Fenced { .. })), "{refused:?}");
    assert_eq!(store.log.find_snapshot(&session("a")).await, Ok(Some(snapshot(b"two"))));
}

pub async fn there_is_no_snapshot_of_what_is_not_there(store: &Store) {
    assert_eq!(store.log.find_snapshot(&session("a")).await, Ok(None));
    let draft = Draft::claim(store, "a", "one").await;
    let snapshot = Snapshot { version: 1, seq: Seq(0), state: b"nothing".to_vec() };
    store.log.put_snapshot(&draft.own, snapshot).await.expect("a claimed session");
    assert_eq!(store.log.find_snapshot(&session("a")).await, Ok(None));
    assert_eq!(store.directory.find(&session("a")).await, Ok(None));
}

pub async fn drafts_are_overwritten_and_cleared(store: &Store) {
    let draft = Draft::opened(store, "a", "one").await;
    let iteration = IterationId::new("i1").expect("an iteration id");
    for text in ["Once", "Once upon"] {
        store.drafts.put_draft(&draft.own, &iteration, text).await.expect("a draft");
    }
    let noted = store.drafts.list_drafts(&session("a")).await.expect("drafts");
    assert_eq!(noted.into_iter().collect::<Vec<_>>(), [(iteration, "Once upon".to_owned())]);
    assert!(store.drafts.list_drafts(&session("b")).await.expect("drafts").is_empty());
    store.drafts.clear_drafts(&draft.own).await.expect("cleared");
    assert!(store.drafts.list_drafts(&session("a")).await.expect("drafts").is_empty());
}

pub async fn many_sessions_append_at_once(store: &Store) {
    let names: Vec<String> = (0..40).map(|index| format!("s{index}")).collect();
    let work = names.iter().map(|name| async move {
        let mut draft = Draft::claim(store, name, "one").await;
        draft.begin(store).await
    });
    let logs = futures_util::future::join_all(work).await;
    for (name, log) in names.iter().zip(logs) {
        assert_eq!(store.log.read(&session(name), Seq(1), 1000).await, Ok(log));
    }
    let listed = store.directory.list(usize::MAX).await.expect("a list");
    let listed: BTreeSet<_> = listed.iter().map(|listed| listed.session.clone()).collect();
    assert_eq!(listed.len(), names.len());
}
