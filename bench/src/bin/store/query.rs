//! A scene with many messages, and how long its queries take.

use std::sync::Arc;
use std::time::Duration;

use roundtable::backend::SqliteStore;
use roundtable::core::id::NodeId;
use roundtable::ports::Store;
use roundtable_bench::{median, timed};

use super::append::TEXT;
use super::turn::{Commit, Talk};

/// How many messages the scene has.
pub const MESSAGES: u32 = 100_000;

/// How often each query is asked.
const TIMES: u32 = 500;

/// The median of each query.
pub async fn scene() -> anyhow::Result<Vec<(&'static str, Duration)>> {
    let directory = tempfile::tempdir()?;
    let store = Arc::new(SqliteStore::open(directory.path())?);
    let mut talk = Talk::scene(TEXT);
    let ports = Store::of(store.clone());
    let own = ports.leases.claim_one(talk.id(), &NodeId::new("bench")?).await?;
    let mut commits = vec![talk.open()];
    for turn in 1..=MESSAGES / 2 {
        commits.extend(talk.turn());
        if turn % 250 == 0 {
            let commit = Commit::all(std::mem::take(&mut commits));
            ports.log.append(&own, commit.batch()).await?;
        }
    }
    let scene = store.find_scene(talk.id()).await?.unwrap_or_default();
    anyhow::ensure!(store.get_latest_round(scene).await? == MESSAGES / 2, "a whole scene");
    // All over the scene, in an order that is no order.
    let numbers: Vec<u32> = (1..=TIMES).map(|i| i * 7919 % (MESSAGES / 2) + 1).collect();
    let mut took = Vec::new();
    for number in &numbers {
        let (messages, time) = timed(store.get_round_messages(scene, *number)).await;
        anyhow::ensure!(messages?.len() == 2, "a whole round");
        took.push(time);
    }
    let of_a_round = ("messages of a round", median(took));
    let mut took = Vec::new();
    for number in &numbers {
        let (round, time) = timed(store.get_round_data(scene, *number)).await;
        anyhow::ensure!(round?.is_some(), "a round");
        took.push(time);
    }
    let data = ("data of a round", median(took));
    let mut took = Vec::new();
    for _ in &numbers {
        let (number, time) = timed(store.initialize_round(scene)).await;
        anyhow::ensure!(number? == MESSAGES / 2 + 1, "the next number");
        took.push(time);
    }
    let next = ("number of the next round", median(took));
    let mut took = Vec::new();
    for _ in &numbers {
        let (message, time) = timed(store.get_last_message(scene)).await;
        anyhow::ensure!(message?.is_some(), "a message");
        took.push(time);
    }
    Ok(vec![of_a_round, data, next, ("the last message", median(took))])
}
