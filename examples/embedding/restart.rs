use roundtable::prelude::*;

async fn after_a_restart(engine: &Engine, id: &SessionId) -> roundtable::Result<RoundReport> {
    engine.session(id).wait_current().await
}

pub async fn run() -> roundtable::Result<()> {
    let directory = std::env::temp_dir().join(format!("roundtable-restart-{}", std::process::id()));
    let start = |reply: Reply| {
        let model = ScriptedModel::new(Script::default().voice("ann", [reply]));
        Engine::builder().custom_model("scripted", model).sqlite(&directory).build()
    };
    let engine = start(Reply::text("…").at_gate("never")).await?;
    let session = engine.chat("Notes").agent("Ann").open().await?;
    session.say("Milk").await?;
    engine.stop().await;
    drop(engine);
    let engine = start(Reply::text("Noted.")).await?;
    assert_eq!(after_a_restart(&engine, session.id()).await?.answers[0].text, "Noted.");
    engine.shutdown().await;
    drop(std::fs::remove_dir_all(&directory));
    Ok(())
}
