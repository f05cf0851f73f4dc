//! The inbox: commands for sessions that another process owns.

use std::time::Duration;

use futures_util::StreamExt as _;
use roundtable_core::event::Seq;
use roundtable_ports::{Answered, LogError, PostedCommand, Receipt, Store};

use super::fixture::{Draft, command, node, session};
use crate::say;

fn posted(name: &str, id: &str, text: &str) -> PostedCommand {
    PostedCommand {
        id: command(id),
        session: session(name),
        command: say(&session(name), id, text),
        digest: None,
    }
}

fn done(seq: u64) -> Answered {
    Answered::Done(Receipt { after: Seq(seq - 1), seq: Seq(seq), warnings: Vec::new() })
}

pub async fn a_command_is_listed_for_the_owner_and_nobody_else(store: &Store) {
    let draft = Draft::opened(store, "a", "one").await;
    let other = Draft::opened(store, "b", "two").await;
    let (first, second) = (posted("a", "c1", "Hello"), posted("b", "c1", "Hello there"));
    let third = posted("a", "c0", "Hello again");
    for posted in [&first, &second, &third, &first] {
        store.inbox.post(posted).await.expect("a post");
    }
    let listed = |name: &'static str| async move { store.inbox.list_posted(&node(name)).await };
    let all_of = |mut listed: Vec<PostedCommand>| {
        listed.sort_by(|a, b| a.id.cmp(&b.id));
        listed
    };
    let of_one = listed("one").await.expect("a list");
    assert_eq!(all_of(of_one), [third.clone(), first.clone()], "posting twice is posting once");
    assert_eq!(listed("two").await, Ok(vec![second.clone()]));
    assert_eq!(listed("three").await, Ok(Vec::new()));
    // What waits follows the session to whoever owns it next.
    store.leases.release(&draft.own).await.expect("a release");
    assert_eq!(listed("one").await, Ok(Vec::new()));
    store.leases.claim_one(&session("a"), &node("two")).await.expect("a free session");
    assert_eq!(listed("two").await.expect("a list").len(), 3);
    store.leases.release(&other.own).await.expect("a release");
    assert_eq!(all_of(listed("two").await.expect("a list")), [third, first]);
}

pub async fn an_answer_is_taken_once(store: &Store) {
    let _own = Draft::opened(store, "a", "one").await;
    let asked = posted("a", "c1", "Hello");
    let take = || store.inbox.take_answer(&asked.session, &asked.id);
    assert_eq!(take().await, Ok(None), "nothing was posted");
    store.inbox.post(&asked).await.expect("a post");
    assert_eq!(take().await, Ok(None), "nothing is answered");
    for answer in [done(2), Answered::CommandReused, Answered::Refused("no".to_owned())] {
        store.inbox.post(&asked).await.expect("a post");
        store.inbox.answer(&asked.session, &asked.id, &answer).await.expect("an answer");
        assert_eq!(store.inbox.list_posted(&node("one")).await, Ok(Vec::new()), "it is done");
        let both = futures_util::future::join(take(), take()).await;
        let answers: Vec<_> = [both.0, both.1].into_iter().flatten().flatten().collect();
        assert_eq!(answers, [answer], "of two who take it, one gets it");
        assert_eq!(take().await, Ok(None));
    }
    // An answer that nobody waits for is no answer to the next one.
    store.inbox.answer(&asked.session, &asked.id, &done(2)).await.expect("an answer");
    assert_eq!(take().await, Ok(None));
}

pub async fn the_first_answer_stands(store: &Store) {
    let _own = Draft::opened(store, "a", "one").await;
    let asked = posted("a", "c1", "Hello");
    store.inbox.post(&asked).await.expect("a post");
    for seq in [2, 3] {
        store.inbox.answer(&asked.session, &asked.id, &done(seq)).await.expect("an answer");
    }
    assert_eq!(store.inbox.take_answer(&asked.session, &asked.id).await, Ok(Some(done(2))));
}

/// S31: the same id with another content is refused, not given the first one's answer.
pub async fn an_id_names_one_command_of_one_session(store: &Store) {
    let _own = Draft::opened(store, "a", "one").await;
    let asked = posted("a", "c1", "Hello");
    store.inbox.post(&asked).await.expect("a post");
    let refused = store.inbox.post(&posted("a", "c1", "Something else")).await;
    assert_eq!(refused, Err(LogError::Duplicate { id: command("c1") }));
    store.inbox.post(&posted("b", "c1", "Something else")).await.expect("another session's id");
    store.inbox.answer(&session("b"), &command("c1"), &done(9)).await.expect("an answer");
    assert_eq!(store.inbox.take_answer(&session("a"), &command("c1")).await, Ok(None));
    assert_eq!(store.inbox.take_answer(&session("b"), &command("c1")).await, Ok(Some(done(9))));
}

pub async fn the_bell_rings_for_posts_and_answers(store: &Store) {
    let _own = Draft::opened(store, "a", "one").await;
    let asked = posted("a", "c1", "Hello");
    let mut rings = store.inbox.listen_inbox().await;
    let mut rung = async || tokio::time::timeout(Duration::from_secs(10), rings.next()).await;
    store.inbox.post(&asked).await.expect("a post");
    rung().await.expect("a ring in time").expect("a bell");
    store.inbox.answer(&asked.session, &asked.id, &done(2)).await.expect("an answer");
    rung().await.expect("a ring in time").expect("a bell");
}
