//! Debates as an embedder holds them.

#[cfg(feature = "local")]
mod calibration;
mod context;
mod control;
mod export;
mod list;
mod live;
mod measure;
mod restart;
mod round;
mod start;
mod synthesis;

use roundtable::debate::Findings;
use roundtable::prelude::*;
use serde_json::json;

/// An answer as a model gives it.
pub fn position(stance: Option<&str>, position: &str, confidence: f64) -> Reply {
    let answer = json!({
        "stance": stance, "position": position, "reasoning": format!("Because: {position}"),
        "confidence": confidence, "keyPoints": [format!("point of {position}")], "citations": []
    });
    Reply::text(answer.to_string())
}

/// What an analyst says.
pub fn analysis(agreement: f64) -> Reply {
    let answer = json!({
        "agreement": agreement,
        "clusters": [{ "agents": ["Ann", "Bob"], "view": "both" }],
        "commonGround": ["time matters"],
        "disagreements": [{ "issue": "cost", "views": [{ "agent": "Ann", "view": "low" }] }],
        "partialAgreements": [], "conditions": [], "uncertainties": ["demand"],
        "summary": "They are close.", "groupthinkWarning": null
    });
    Reply::text(answer.to_string())
}

/// A reply that asks people something.
pub fn question(query: &str, priority: &str) -> Reply {
    let asked = json!({ "query": query, "reason": "It matters.", "priority": priority });
    Reply::calls([Call::new("request_context", asked)])
}

/// An engine on a script, and the model that counts its calls.
pub async fn engine(script: Script) -> (Engine, ScriptedModel) {
    let model = ScriptedModel::new(script);
    (Engine::builder().custom_model("scripted", model.clone()).build().await.unwrap(), model)
}

/// A debate of Ann and Bob whose first round is over.
pub async fn begun(engine: &Engine, rounds: u32) -> (Debate, Findings) {
    let wish = engine.debate("Should we begin?").agent("Ann").agent("Bob").rounds(rounds);
    let debate = wish.start().await.unwrap();
    let first = debate.wait(1).await.unwrap();
    (debate, first)
}
