//! A person's words are erased: from the log, from all that was made of them, and from the file.

use std::path::Path;
use std::sync::Arc;

use roundtable_backend::{EraseError, SqliteStore, Words};
use roundtable_core::Live;
use roundtable_core::event::{Body, Event, Seq};
use roundtable_core::id::{IterationId, NodeId};
use roundtable_core::input::Command;
use roundtable_core::program::Programs;
use roundtable_engine::EngineError;
use roundtable_ports::{Answered, LogError, Ownership, PostedCommand, Snapshot, Store};
use roundtable_testing::say;

use crate::table::{Table, lines, rounds, session, shell};

/// A word that occurs nowhere else.
const CANARY: &str = "zanzibarquokka";

fn store_of(store: &Arc<SqliteStore>) -> Store {
    Store::of(store.clone())
}

async fn claim(store: &Arc<SqliteStore>, name: &str) -> Ownership {
    let node = NodeId::new("eraser").unwrap();
    let store = store_of(store);
    store.leases.renew(&node).await.unwrap();
    store.leases.claim_one(&session(name), &node).await.unwrap()
}

async fn read(store: &Arc<SqliteStore>, name: &str) -> Vec<Arc<Event>> {
    store_of(store).log.read(&session(name), Seq(1), usize::MAX).await.unwrap()
}

/// How often a word is in the bytes of the file and of its log.
pub fn occurrences(directory: &Path, word: &str) -> usize {
    let files = ["roundtable.db", "roundtable.db-wal"];
    let count = |bytes: Vec<u8>| {
        bytes.windows(word.len()).filter(|w| w.eq_ignore_ascii_case(word.as_bytes())).count()
    };
    files.iter().filter_map(|name| std::fs::read(directory.join(name)).ok()).map(count).sum()
}

#[tokio::test]
async fn erased_words_are_gone_and_the_chain_still_holds() {
    let directory = tempfile::tempdir().unwrap();
    let table = Table::at(directory.path()).await;
    let lake = table.play("lake", 1).await;
    table.say(&lake, "m2", &format!("My name is {CANARY}.")).await;
    rounds(&lake, 2).await;
    table.engine.shutdown().await;
    assert!(occurrences(directory.path(), CANARY) > 0);
    let before = read(&table.store, "lake").await;
    let own = claim(&table.store, "lake").await;
    let erased = table.store.erase(&own, &Words::By("User".to_owned())).await.unwrap();
    assert_eq!(erased.len(), 2);
    let after = read(&table.store, "lake").await;
    for (old, new) in before.iter().zip(&after) {
        let gone = erased.contains(&new.seq);
        assert_eq!(new.body == Body::Redacted, gone, "event {}", new.seq);
        assert_eq!((old.seq, old.at, &old.place), (new.seq, new.at, &new.place));
        assert!(gone || old == new);
    }
    let mut live = Live::new(session("lake"), &Programs::default());
    after.iter().for_each(|event| live.apply(event));
    assert_eq!((live.session.rounds_completed, live.session.last_message), (2, 6));
    assert_eq!(occurrences(directory.path(), CANARY), 0);
    let shell = shell(directory.path());
    let said = "SELECT messageNumber, sender, message FROM Messages ORDER BY 1";
    assert_eq!(lines(&shell, said)[..2], ["1|User|", "2|Ann|Ann nods."]);
    let found = format!("SELECT count(*) FROM message_text WHERE message_text MATCH '{CANARY}'");
    assert_eq!(lines(&shell, &found), ["0"]);
    shell
        .execute_batch(
            "INSERT INTO message_text (message_text, rank) VALUES ('integrity-check', 1)",
        )
        .unwrap();
}

#[tokio::test]
async fn a_session_goes_on_after_words_of_it_were_erased() {
    let directory = tempfile::tempdir().unwrap();
    let table = Table::at(directory.path()).await;
    let lake = table.play("lake", 2).await;
    // Whoever drives the session is fenced by the claim, and reads it again.
    let own = {
        let store = store_of(&table.store);
        let node = table.engine.parts().node.clone();
        store.leases.claim_one(&session("lake"), &node).await.unwrap()
    };
    table.store.erase(&own, &Words::By("Ann".to_owned())).await.unwrap();
    store_of(&table.store).leases.release(&own).await.unwrap();
    while let Err(error) = lake.command(say(lake.id(), "m3", "Go on."), None).await {
        assert!(matches!(error, EngineError::Log(LogError::Fenced { .. })), "{error}");
        tokio::task::yield_now().await;
    }
    rounds(&lake, 3).await;
    let said = table.store.get_round_messages(1, 3).await.unwrap();
    assert_eq!(said.len(), 3);
    let state = lake.state().await.unwrap();
    let mut live = Live::new(session("lake"), &Programs::default());
    read(&table.store, "lake").await.iter().for_each(|event| live.apply(event));
    assert_eq!(live.session, state, "I7");
    table.close().await;
}

#[tokio::test]
async fn what_was_made_of_the_words_goes_with_them() {
    let directory = tempfile::tempdir().unwrap();
    let table = Table::at(directory.path()).await;
    let lake = table.play("lake", 0).await;
    let text = format!("My name is {CANARY}.");
    let id = |name: &str| roundtable_core::id::CommandId::new(name).unwrap();
    lake.command(say(lake.id(), "m1", &text), Some(id("c1"))).await.unwrap();
    rounds(&lake, 1).await;
    table.engine.shutdown().await;
    let (own, store) = (claim(&table.store, "lake").await, store_of(&table.store));
    let iteration = IterationId::new("i1").unwrap();
    store.drafts.put_draft(&own, &iteration, &text).await.unwrap();
    let head = table.head("lake").await;
    let snapshot = Snapshot { version: 1, seq: head, state: text.clone().into_bytes() };
    store.log.put_snapshot(&own, snapshot).await.unwrap();
    let posted = |name: &str, text: &str| PostedCommand {
        id: id(name),
        session: session("lake"),
        command: say(&session("lake"), name, text),
        digest: None,
    };
    for (name, text) in [("c1", text.as_str()), ("c2", &text), ("c3", "Not in the log yet.")] {
        store.inbox.post(&posted(name, text)).await.unwrap();
    }
    let refused = Answered::Refused("no".to_owned());
    store.inbox.answer(&session("lake"), &id("c2"), &refused).await.unwrap();
    table.store.erase(&own, &Words::By("User".to_owned())).await.unwrap();
    assert_eq!(occurrences(directory.path(), CANARY), 0);
    assert_eq!(store.log.find_snapshot(&session("lake")).await, Ok(None));
    assert!(store.drafts.list_drafts(&session("lake")).await.unwrap().is_empty());
    let waiting = lines(&shell(directory.path()), "SELECT id FROM inbox");
    assert_eq!(waiting, ["cmd_c3"], "what is not in the log yet is still to come");
    // A digest of a few words would tell which they were to anyone who tries some.
    let record = store.log.find_command(&session("lake"), &id("c1")).await.unwrap().unwrap();
    assert_eq!(record.digest.as_str(), "");
}

#[tokio::test]
async fn what_a_session_is_made_of_cannot_be_erased() {
    let directory = tempfile::tempdir().unwrap();
    let table = Table::at(directory.path()).await;
    let lake = table.play("lake", 1).await;
    table.engine.shutdown().await;
    drop(lake);
    let before = read(&table.store, "lake").await;
    let own = claim(&table.store, "lake").await;
    let erase = |seqs: &[u64]| {
        let words = Words::Of(seqs.iter().map(|seq| Seq(*seq)).collect());
        let (store, own) = (table.store.clone(), own.clone());
        async move { store.erase(&own, &words).await }
    };
    let opened = EraseError::NotWords { seq: Seq(1), kind: "session_opened".to_owned() };
    assert_eq!(erase(&[2, 1]).await, Err(opened));
    assert_eq!(erase(&[2, 999]).await, Err(EraseError::NotOwn { seq: Seq(999) }));
    assert_eq!(erase(&[0]).await, Err(EraseError::NotOwn { seq: Seq(0) }));
    assert_eq!(read(&table.store, "lake").await, before, "all of it, or nothing");
    let nobody = claim(&table.store, "nobody").await;
    let refused = table.store.erase(&nobody, &Words::By("User".to_owned())).await;
    assert_eq!(refused, Err(EraseError::NotFound));
    let stale = Ownership { epoch: own.epoch - 1, ..own.clone() };
    let refused = table.store.erase(&stale, &Words::By("User".to_owned())).await;
    assert!(matches!(refused, Err(EraseError::Log(LogError::Fenced { .. }))), "{refused:?}");
    assert_eq!(erase(&[2]).await, Ok(vec![Seq(2)]));
    assert_eq!(erase(&[2]).await, Ok(vec![Seq(2)]), "again does no harm");
}

#[tokio::test]
async fn words_of_an_open_round_are_not_erased() {
    let directory = tempfile::tempdir().unwrap();
    let table = Table::at(directory.path()).await;
    let mut opening = crate::table::scene();
    opening.agents = vec![roundtable_testing::agent("Cyd")];
    let lake = table.engine.open_as(&session("lake"), opening, None).await.unwrap();
    table.say(&lake, "m1", "Hello.").await;
    table.engine.stop().await;
    let own = claim(&table.store, "lake").await;
    let refused = table.store.erase(&own, &Words::By("User".to_owned())).await;
    assert_eq!(refused, Err(EraseError::Busy));
    assert_eq!(
        refused.unwrap_err().to_string(),
        "a round is running; stop it or wait for its end, then erase"
    );
}

/// Pages are split, merged and moved while many sessions are written; no copy stays behind.
#[tokio::test]
async fn no_copy_of_erased_words_is_left_in_a_busy_file() {
    let directory = tempfile::tempdir().unwrap();
    let table = Table::at(directory.path()).await;
    let mut handles = Vec::new();
    for index in 0..12 {
        handles.push(table.play(&format!("s{index}"), 0).await);
    }
    for round in 1..=6 {
        for (index, handle) in handles.iter().enumerate() {
            let filler = "lorem ipsum ".repeat((index * 37 + round * 11) % 400);
            let secret = if index % 3 == 0 { CANARY } else { "nothing" };
            table
                .say(handle, &format!("m{round}"), &format!("{filler} {secret}{round} {filler}"))
                .await;
        }
        for handle in &handles {
            rounds(handle, round).await;
        }
        let again = Command::Regenerate;
        for handle in handles.iter().filter(|_| round == 4) {
            handle.command(again.clone(), None).await.unwrap();
        }
        for handle in handles.iter().filter(|_| round == 4) {
            rounds(handle, round + 1).await;
            handle.command(Command::SelectTake { number: 4, take: 1 }, None).await.unwrap();
        }
    }
    table.engine.shutdown().await;
    let before = occurrences(directory.path(), CANARY);
    assert!(before > 20, "{before}");
    for index in (0..12).step_by(3) {
        let own = claim(&table.store, &format!("s{index}")).await;
        table.store.erase(&own, &Words::By("User".to_owned())).await.unwrap();
    }
    assert_eq!(occurrences(directory.path(), CANARY), 0);
    for index in 0..12 {
        read(&table.store, &format!("s{index}")).await;
    }
    let rest = lines(
        &shell(directory.path()),
        "SELECT count(*) FROM message_text WHERE message_text MATCH 'nothing3'",
    );
    assert_eq!(rest, ["8"], "other people's words are found as before");
}
