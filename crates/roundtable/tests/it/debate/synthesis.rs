//! The debate summed up, once.

use roundtable::prelude::*;
use serde_json::json;

use super::{begun, engine};

fn summary(recommendation: &str) -> Reply {
    let answer = json!({
        "commonGround": ["time"], "keyDifferences": [], "evolutionSummary": "none", "conclusion": "Do it.",
        "recommendation": recommendation, "confidence": 0.8
    });
    Reply::text(answer.to_string())
}

#[tokio::test]
async fn a_synthesis_is_stored_with_the_debate_and_never_billed_twice() {
    let script = Script::default().voice("ann/synthesize", [summary("Begin on Monday.")]);
    let (engine, model) = engine(script).await;
    let (debate, _) = begun(&engine, 1).await;
    let first = debate.synthesize(None).await.unwrap();
    assert_eq!((first.synthesis.recommendation.as_str(), first.number), ("Begin on Monday.", 1));
    let calls = model.count();
    let at_once = futures_util::future::join_all((0..5).map(|_| debate.synthesize(None))).await;
    assert!(at_once.into_iter().all(|again| again.unwrap() == first));
    assert_eq!(model.count(), calls);
    assert!(
        debate.export_markdown().await.unwrap().contains("**Recommendation:** Begin on Monday.")
    );
    engine.shutdown().await;
}

#[tokio::test]
async fn several_who_ask_at_once_for_a_synthesis_pay_for_one() {
    let script = Script::default().voice("ann/synthesize", [summary("Begin.").after(20)]);
    let (engine, model) = engine(script).await;
    let (debate, _) = begun(&engine, 2).await;
    let all = futures_util::future::join_all((0..5).map(|_| debate.synthesize(None))).await;
    assert!(all.into_iter().all(|one| one.is_ok()));
    assert_eq!(model.count(), 3);
    engine.shutdown().await;
}

#[tokio::test]
async fn a_synthesis_that_fails_says_why_and_can_be_asked_for_again() {
    use roundtable::models::scripted::Fails;
    let script = Script::default()
        .voice("ann/synthesize", [Reply::fails(Fails::Overloaded)])
        .voice("bob/synthesize", [summary("Begin.")]);
    let (engine, _) = engine(script).await;
    let (debate, _) = begun(&engine, 2).await;
    for _ in 0..2 {
        let refused = debate.synthesize(None).await.unwrap_err().to_string();
        assert!(
            refused.starts_with("the synthesis failed: the provider is overloaded"),
            "{refused}"
        );
    }
    let bob = roundtable::core::id::AgentId::new("bob").unwrap();
    assert_eq!(debate.synthesize(Some(&bob)).await.unwrap().agent, bob);
    engine.shutdown().await;
}
