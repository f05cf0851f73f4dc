//! Readers: the writer's folds, and one look at the log for whoever waits.

use std::sync::Arc;

use roundtable::backend::MemoryStore;
use roundtable::core::Live;
use roundtable::debate::find_settled;
use roundtable::ports::Store;
use roundtable::prelude::*;
use roundtable::{Keep, Reader};
use roundtable_testing::CountingLog;

async fn counted(script: Script) -> (Engine, ScriptedModel, Arc<CountingLog>) {
    let mut store = Store::of(Arc::new(MemoryStore::new()));
    let log = Arc::new(CountingLog::new(store.log.clone()));
    store.log = log.clone();
    let model = ScriptedModel::new(script);
    let engine = Engine::builder().custom_model("scripted", model.clone()).store(store);
    (engine.build().await.unwrap(), model, log)
}

#[tokio::test(start_paused = true)]
async fn whoever_waits_for_a_round_reads_the_log_once() {
    let script = Script::default()
        .voice("ann", [Reply::text("Yes.").at_gate("shut")])
        .voice("bob", [Reply::text("No.")]);
    let (engine, model, log) = counted(script).await;
    let wish = engine.debate("Shall we?").agent("Ann").agent("Bob").rounds(2);
    let debate = wish.start().await.unwrap();
    let bob_is_done = |live: &Live| {
        let mut rounds = live.window.rounds();
        rounds.any(|round| round.turns.iter().any(|turn| turn.text == "No.")).then_some(())
    };
    let mut reader = Reader::open(debate.session(), Keep::Window).await.unwrap();
    reader.until(bob_is_done).await.unwrap();
    log.take(debate.id());
    let waiting = debate.wait(1);
    tokio::pin!(waiting);
    assert!(futures_util::poll!(&mut waiting).is_pending(), "Ann is silent");
    model.gates().open("shut");
    let findings = waiting.await.unwrap();
    assert_eq!(findings.responses.len(), 2);
    let reads = log.take(debate.id());
    assert!(reads.len() > 15 && reads.values().all(|times| *times == 1), "{reads:?}");
    engine.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn whoever_asks_reads_nothing_that_the_session_has_in_memory() {
    let script = Script::default().voice("ann", [Reply::text("One.")]);
    let (engine, _, log) = counted(script.voice("ann", [Reply::text("Two.")])).await;
    let session = engine.chat("Counting").agent("Ann").open().await.unwrap();
    session.ask("Count.").await.unwrap();
    log.take(session.id());
    let report = session.ask("Go on.").await.unwrap();
    assert_eq!((report.number, report.answers[0].text.as_str()), (2, "Two."));
    assert_eq!(log.take(session.id()), [].into());
    engine.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn a_summary_is_waited_for_with_one_look_at_the_log() {
    let script = Script::default().voice("ann", [Reply::text("Yes.")]);
    let script = script.voice("bob", [Reply::text("No.")]).voice("ann", [Reply::text("So.")]);
    let (engine, _, log) = counted(script).await;
    let wish = engine.debate("Shall we?").agent("Ann").agent("Bob").rounds(1);
    let debate = wish.start().await.unwrap();
    debate.wait(1).await.unwrap();
    log.take(debate.id());
    let ann = roundtable_core::id::AgentId::new("ann").unwrap();
    let summed = debate.synthesize(Some(&ann)).await.unwrap();
    assert_eq!((summed.number, summed.agent), (1, ann));
    let reads = log.take(debate.id());
    assert!(reads.len() > 15 && reads.values().all(|times| *times == 1), "{reads:?}");
    engine.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn a_reader_from_the_start_and_one_from_now_come_to_the_same() {
    let script = Script::default().voice("ann", [Reply::text("Yes.")]);
    let (engine, ..) = counted(script.voice("bob", [Reply::text("No.")])).await;
    let wish = engine.debate("Shall we?").agent("Ann").agent("Bob").rounds(1);
    let debate = wish.start().await.unwrap();
    let mut replayed = Reader::replay(debate.session()).await.unwrap();
    assert_eq!(replayed.now().session.head.0, 0);
    let settled = |live: &Live| find_settled(live, 1);
    let first = replayed.until(settled).await.unwrap().unwrap();
    assert_eq!(debate.reader().await.unwrap().until(settled).await.unwrap().unwrap(), first);
    let head = debate.session().state().await.unwrap().head;
    let window = Reader::open(debate.session(), Keep::Window).await.unwrap();
    assert_eq!(window.now().session, replayed.read_to(head).await.unwrap().session);
    engine.shutdown().await;
}
