//! Lists of debates.

use roundtable::debate::DebateStatus;
use roundtable::prelude::*;

use super::engine;

async fn hold(engine: &Engine, topic: &str, mode: Mode, rounds: u32) -> Debate {
    let debate = engine
        .debate(topic)
        .agent("Ann")
        .agent("Bob")
        .mode(mode)
        .rounds(rounds)
        .start()
        .await
        .unwrap();
    debate.wait(1).await.unwrap();
    debate
}

#[tokio::test]
async fn debates_are_listed_newest_first_by_topic_mode_status_and_date() {
    let (engine, _) = engine(Script::default()).await;
    hold(&engine, "Trams or buses?", Mode::Collaborative, 3).await;
    hold(&engine, "Which database?", Mode::Delphi, 1).await;
    hold(&engine, "More TRAMS?", Mode::Delphi, 3).await.pause().await.unwrap();
    engine.panel("Trams, without rules").agent("Ann").open().await.unwrap();
    let topics = |filter: DebateFilter| {
        let engine = engine.clone();
        async move {
            let listed = engine.debates(&filter).await.unwrap();
            listed.into_iter().map(|entry| entry.topic).collect::<Vec<_>>()
        }
    };
    let all = DebateFilter::default();
    assert_eq!(topics(all.clone()).await, ["More TRAMS?", "Which database?", "Trams or buses?"]);
    let trams = DebateFilter { topic: Some("trams".to_owned()), ..all.clone() };
    assert_eq!(topics(trams).await, ["More TRAMS?", "Trams or buses?"]);
    let delphi = DebateFilter { mode: Some(Mode::Delphi), ..all.clone() };
    assert_eq!(topics(delphi).await, ["More TRAMS?", "Which database?"]);
    let status = |status| DebateFilter { status: Some(status), ..DebateFilter::default() };
    assert_eq!(topics(status(DebateStatus::Paused)).await, ["More TRAMS?"]);
    assert_eq!(topics(status(DebateStatus::Completed)).await, ["Which database?"]);
    assert_eq!(topics(status(DebateStatus::Active)).await, ["Trams or buses?"]);
    assert_eq!(topics(DebateFilter { limit: Some(1), ..all.clone() }).await, ["More TRAMS?"]);
    let listed = engine.debates(&all).await.unwrap();
    let before = DebateFilter { before: Some(listed[0].session.clone()), ..all.clone() };
    assert_eq!(topics(before).await, ["Which database?", "Trams or buses?"]);
    let from = DebateFilter { from: Some(listed[1].created_at), ..all };
    assert_eq!(topics(from).await.len(), 2);
    assert_eq!((listed[1].rounds_completed, listed[1].total_rounds), (1, Some(1)));
    engine.shutdown().await;
}

#[tokio::test]
async fn a_debate_whose_last_round_failed_is_listed_as_such() {
    use roundtable::models::scripted::Fails;
    let fails = || [Reply::fails(Fails::Auth)];
    let (engine, _) = engine(Script::default().voice("ann", fails()).voice("bob", fails())).await;
    hold(&engine, "Anyone?", Mode::Collaborative, 3).await;
    let filter = DebateFilter { status: Some(DebateStatus::Error), ..DebateFilter::default() };
    assert_eq!(engine.debates(&filter).await.unwrap()[0].status, DebateStatus::Error);
    engine.shutdown().await;
}
