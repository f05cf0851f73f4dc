use roundtable::prelude::*;
use serde_json::json;

fn judge(model: &str) -> roundtable::Result<Agent> {
    let schema = json!({
        "type": "object",
        "properties": { "verdict": { "enum": ["yes", "no"] }, "confidence": { "type": "number" } },
        "required": ["verdict", "confidence"],
        "additionalProperties": false
    });
    let output = Some(OutputSchema::new("verdict", schema));
    Ok(Agent { output, ..Agent::new("Judge", model)? })
}

pub async fn run() -> roundtable::Result<()> {
    let engine =
        crate::engine(crate::says("judge", r#"{"verdict":"yes","confidence":0.8}"#)).await?;
    let session = engine.chat("Verdicts").participant(judge("scripted")?).open().await?;
    let text = session.ask("Is it so?").await?.answers[0].text.clone();
    let verdict: serde_json::Value = serde_json::from_str(&text)?;
    assert_eq!(verdict["verdict"], "yes");
    engine.shutdown().await;
    Ok(())
}
