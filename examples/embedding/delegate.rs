use roundtable::prelude::*;

async fn desk(engine: &Engine) -> roundtable::Result<Session> {
    let worker = Agent::new("Researcher", "scripted")?;
    let mut lead = Agent::new("Lead", "scripted")?;
    lead.tools = vec![ToolDecl::delegate()];
    lead.workers = vec![worker.id.clone()];
    engine.chat("Front desk").participant(lead).participant(worker).open().await
}

pub async fn run() -> roundtable::Result<()> {
    let mission = serde_json::json!({
        "agent": "agt_researcher", "mission": "Find it.", "rationale": "You know where."
    });
    let script = Script::default()
        .voice("lead", [Reply::calls([Call::new("delegate", mission)]), Reply::text("It is here.")])
        .voice("researcher", [Reply::text("Below the stairs.")]);
    let engine = crate::engine(script).await?;
    let session = desk(&engine).await?;
    assert_eq!(session.ask("Where is it?").await?.answers[0].text, "It is here.");
    let log = session.log().await?;
    assert!(log.iter().any(|event| event.to_string().contains("Below the stairs.")));
    engine.shutdown().await;
    Ok(())
}
