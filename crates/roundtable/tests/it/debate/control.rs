//! Pause, resume, stop: each from where it makes sense, with a clear refusal elsewhere.

use roundtable::debate::RoundStatus;
use roundtable::prelude::*;

use super::{begun, engine};

#[tokio::test]
async fn pause_only_when_active_resume_only_when_paused_stop_until_it_is_over() {
    let (engine, _) = engine(Script::default()).await;
    let (debate, _) = begun(&engine, 3).await;
    let refused = debate.resume().await.unwrap_err().to_string();
    assert_eq!(refused, "only a paused session can be resumed; this one is active");
    debate.pause().await.unwrap();
    assert!(debate.pause().await.unwrap_err().to_string().contains("it is paused"));
    debate.resume().await.unwrap();
    debate.pause().await.unwrap();
    debate.stop().await.unwrap();
    for refused in [debate.stop().await, debate.pause().await, debate.resume().await] {
        assert!(refused.unwrap_err().to_string().contains("it is completed"));
    }
    let record = debate.record().await.unwrap();
    assert_eq!(record.completed_because.as_deref(), Some("it was stopped"));
    engine.shutdown().await;
}

#[tokio::test]
async fn a_stop_keeps_what_exists_of_a_running_round() {
    let script = Script::default().voice("ann", [Reply::text("never").at_gate("never")]);
    let (engine, model) = engine(script).await;
    let debate = engine.debate("Why?").agent("Ann").agent("Bob").start().await.unwrap();
    while debate
        .findings(None)
        .await
        .unwrap()
        .responses
        .iter()
        .all(|response| response.outcome.is_none())
    {
        tokio::task::yield_now().await;
    }
    debate.stop().await.unwrap();
    let first = debate.wait(1).await.unwrap();
    assert_eq!(first.status, RoundStatus::Completed);
    assert_eq!(first.responses[0].error.as_deref(), Some("it was stopped"));
    assert_eq!(first.responses[1].error.as_deref(), None);
    assert_eq!(model.count(), 2);
    engine.shutdown().await;
}
