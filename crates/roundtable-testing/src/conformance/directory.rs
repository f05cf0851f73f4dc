//! The directory and the bell: what there is, what is due, and when to look.

use futures_util::StreamExt as _;
use jiff::{SignedDuration, Timestamp};
use roundtable_core::event::{Change, Origin, Seq};
use roundtable_core::input::Command;
use roundtable_core::projection::{COMPLETION, Summary};
use roundtable_core::session::Status;
use roundtable_core::stage::Name;
use roundtable_ports::{LogError, Selection, SessionListing, Store};

use super::fixture::{Draft, env, node, session};

pub async fn the_bell_rings_after_a_ring(store: &Store) {
    let mut rings = store.bell.listen(&session("a")).await;
    store.bell.ring(&session("a")).await;
    rings.next().await.expect("a ring");
}

pub async fn the_directory_knows_what_is_due(store: &Store) {
    let now = env().now;
    let idle = Draft::opened(store, "idle", "one").await;
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

/// A session of a tenant with a topic.
async fn listed(store: &Store, name: &str, topic: &str, tenant: Option<&str>) {
    let mut draft = Draft::claim(store, name, "one").await;
    let events = draft.open();
    let usual = Summary::of(&draft.live.session);
    let tenant = tenant.map(str::to_owned);
    let summary = Summary { topic: topic.to_owned(), tenant, ..usual };
    draft.append_as(store, Seq(0), &events, &[], &summary).await.expect("a first append");
}

pub async fn the_directory_finds_the_newest_of_those_that_are_asked_for(store: &Store) {
    listed(store, "a", "Über Rust", None).await;
    listed(store, "b", "Tabs or spaces", Some("acme")).await;
    listed(store, "c", "RUST again", None).await;
    let all = Selection::default();
    let select = async |selection: &Selection, most| {
        let found = store.directory.select(selection, most).await.expect("a list");
        found.iter().map(|listed| listed.session.suffix().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(select(&all, 10).await, ["c", "b", "a"]);
    assert_eq!(select(&all, 2).await, ["c", "b"]);
    let before = Selection { before: Some(session("b")), ..all.clone() };
    assert_eq!(select(&before, 10).await, ["a"]);
    let unknown = Selection { before: Some(session("nobody")), ..all.clone() };
    assert_eq!(select(&unknown, 10).await, Vec::<String>::new());
    let topic = |part: &str| Selection { topic: Some(part.to_owned()), ..all.clone() };
    assert_eq!(select(&topic("rust"), 10).await, ["c", "a"]);
    assert_eq!(select(&topic("über"), 10).await, ["a"]);
    assert_eq!(select(&topic("%"), 10).await, Vec::<String>::new());
    let tenant =
        |name: Option<&str>| Selection { tenant: Some(name.map(str::to_owned)), ..all.clone() };
    assert_eq!(select(&tenant(None), 10).await, ["c", "a"]);
    assert_eq!(select(&tenant(Some("acme")), 10).await, ["b"]);
    assert_eq!(select(&tenant(Some("nobody")), 10).await, Vec::<String>::new());
    let page = |name| Selection { before: Some(session(name)), ..tenant(None) };
    assert_eq!(select(&page("c"), 10).await, ["a"], "a page continues within its tenant");
    assert_eq!(select(&page("a"), 10).await, Vec::<String>::new());
    let kind = |kind| Selection { kind: Some(Name::constant(kind)), ..all.clone() };
    assert_eq!(select(&kind("chat"), 10).await, ["c", "b", "a"]);
    assert_eq!(select(&kind("scene"), 10).await, Vec::<String>::new());
    let paused = Selection { status: Some(Status::Paused), ..all.clone() };
    assert_eq!(select(&paused, 10).await, Vec::<String>::new());
    let began = store.directory.list(1).await.expect("a list").remove(0).created_at;
    let since = |from, to| Selection { from: Some(from), to: Some(to), ..all.clone() };
    let later = began.checked_add(SignedDuration::from_secs(1)).expect("a time");
    assert_eq!(select(&since(began, later), 10).await, ["c", "b", "a"]);
    assert_eq!(select(&since(later, later), 10).await, Vec::<String>::new());
}

pub async fn the_directory_lists_archived_sessions_when_they_are_asked_for(store: &Store) {
    let mut kept = Draft::opened(store, "kept", "one").await;
    let mut put_away = Draft::opened(store, "put-away", "one").await;
    let select = async |archived| {
        let selection = Selection { archived, ..Selection::default() };
        let found = store.directory.select(&selection, 10).await.expect("a list");
        let named =
            found.iter().map(|it| (it.session.suffix().to_owned(), it.summary.topic.clone()));
        named.collect::<Vec<_>>()
    };
    let rename = |title: &str| Change { title: Some(title.to_owned()), ..Change::default() };
    kept.send(store, Command::Change(rename("Kept"))).await;
    let archived = |archived| Change { archived: Some(archived), ..rename("Put away") };
    put_away.send(store, Command::Change(archived(true))).await;
    let (kept, away) =
        (("kept".to_owned(), "Kept".to_owned()), ("put-away".to_owned(), "Put away".to_owned()));
    assert_eq!(select(Some(false)).await, std::slice::from_ref(&kept));
    assert_eq!(select(Some(true)).await, std::slice::from_ref(&away));
    assert_eq!(select(None).await, [away.clone(), kept.clone()]);
    put_away.send(store, Command::Change(archived(false))).await;
    assert_eq!(select(Some(false)).await, [away, kept]);
    assert_eq!(select(Some(true)).await, []);
}

pub async fn the_directory_lists_completions_only_by_their_kind(store: &Store) {
    Draft::opened(store, "shown", "one").await;
    let mut hidden = Draft::claim(store, "hidden", "one").await;
    let events = hidden.open();
    let summary = Summary { kind: COMPLETION, ..Summary::of(&hidden.live.session) };
    hidden.append_as(store, Seq(0), &events, &[], &summary).await.expect("a first append");
    let names = |found: Vec<SessionListing>| {
        found.iter().map(|listed| listed.session.suffix().to_owned()).collect::<Vec<_>>()
    };
    let select = async |kind| {
        let selection = Selection { kind, ..Selection::default() };
        names(store.directory.select(&selection, 10).await.expect("a list"))
    };
    assert_eq!(select(None).await, ["shown"]);
    assert_eq!(select(Some(COMPLETION)).await, ["hidden"]);
    assert_eq!(names(store.directory.list(10).await.expect("a list")), ["shown"]);
    assert!(store.directory.find(&session("hidden")).await.expect("a store").is_some());
}

pub async fn f38_a_deleted_session_is_gone_and_its_writer_stays_fenced(store: &Store) {
    let mut gone = Draft::opened(store, "gone", "one").await;
    gone.begin_round(store).await;
    assert_eq!(store.directory.delete(&gone.own).await, Ok(false), "a round is open");
    gone.stop(store).await;
    let past = store.log.read(&session("gone"), Seq(1), 100).await.expect("a log");
    let origin = Origin { session: session("gone"), seq: gone.live.session.head };
    let fork = Draft::fork(store, &past, origin, "fork").await;
    assert_eq!(store.directory.find_fork(&session("gone")).await, Ok(Some(session("fork"))));
    assert_eq!(store.directory.delete(&gone.own).await, Ok(false), "a fork needs its past");
    assert_eq!(store.directory.find_fork(&session("fork")).await, Ok(None));
    assert_eq!(store.directory.delete(&fork.own).await, Ok(true));
    let before = gone.own.clone();
    store.leases.release(&gone.own).await.expect("a release");
    gone.own = store.leases.claim_one(&session("gone"), &node("one")).await.expect("a claim");
    assert_eq!(
        store.directory.delete(&before).await,
        Err(LogError::Fenced { epoch: gone.own.epoch }),
        "only the owner deletes"
    );
    assert_eq!(store.directory.delete(&gone.own).await, Ok(true));
    assert_eq!(store.directory.find(&session("gone")).await, Ok(None));
    assert_eq!(store.log.read(&session("gone"), Seq(1), 100).await, Ok(Vec::new()));
    assert_eq!(store.directory.list(10).await, Ok(Vec::new()));
    let head = gone.live.session.head;
    let late = gone.step(Command::Pause);
    let refused = gone.append(store, head, &late).await;
    assert!(matches!(refused, Err(LogError::Fenced { .. })), "{refused:?}");
}

/// A session that waits for people, and has to be looked at by a certain time.
async fn sleeping(store: &Store, name: &str, by: &str, wake_at: Timestamp) -> Draft {
    let mut draft = Draft::claim(store, name, by).await;
    let events = draft.open();
    let summary =
        Summary { has_work: false, wake_at: Some(wake_at), ..Summary::of(&draft.live.session) };
    draft.append_as(store, Seq(0), &events, &[], &summary).await.expect("a first append");
    draft
}

pub async fn the_directory_knows_when_something_is_due_next(store: &Store) {
    let now = env().now;
    let at = |seconds: i64| now.checked_add(SignedDuration::from_secs(seconds)).expect("a time");
    assert_eq!(store.directory.next_wake().await, Ok(None));
    let later = sleeping(store, "later", "one", at(60)).await;
    let sooner = sleeping(store, "sooner", "one", at(30)).await;
    assert_eq!(store.directory.next_wake().await, Ok(None), "its owner sees to it");
    store.leases.release(&later.own).await.expect("a release");
    assert_eq!(store.directory.next_wake().await, Ok(Some(at(60))));
    store.leases.release(&sooner.own).await.expect("a release");
    assert_eq!(store.directory.next_wake().await, Ok(Some(at(30))));
    let due = |seconds: i64| store.directory.list_due(at(seconds), 10);
    assert_eq!(due(29).await, Ok(Vec::new()));
    assert_eq!(due(30).await, Ok(vec![session("sooner")]));
    assert_eq!(due(60).await.expect("a list").len(), 2);
    store.leases.claim_one(&session("sooner"), &node("one")).await.expect("a free session");
    assert_eq!(due(60).await, Ok(vec![session("later")]));
}

/// A page of what is due is a page of what someone has to be found for.
pub async fn what_living_nodes_own_does_not_hide_what_is_due(store: &Store) {
    for index in 0..10 {
        let mut owned = Draft::claim(store, &format!("owned{index}"), "one").await;
        owned.begin(store).await;
    }
    let mut left = Draft::claim(store, "left", "one").await;
    left.begin(store).await;
    store.leases.release(&left.own).await.expect("a release");
    assert_eq!(store.directory.list_due(env().now, 3).await, Ok(vec![session("left")]));
}
