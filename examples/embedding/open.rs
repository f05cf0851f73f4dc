use roundtable::prelude::*;

async fn open(engine: &Engine) -> roundtable::Result<Session> {
    let mut critic = Agent::new("Critic", "scripted")?;
    critic.persona = "You look for what is missing.".to_owned();
    engine
        .panel("Should we rewrite it in Rust?")
        .agent("Ann") // the default model, a plain persona
        .participant(critic) // a fully specified agent
        .sequential() // one after another, each receives those before it
        .rounds(2) // completed after two rounds
        .open()
        .await
}

pub async fn run() -> roundtable::Result<()> {
    let engine = crate::engine(Script::default()).await?;
    let session = open(&engine).await?;
    let round = session.ask("What do you think?").await?;
    let agents: Vec<&str> = round.answers.iter().map(|answer| answer.agent.suffix()).collect();
    assert_eq!(agents, ["ann", "critic"]);
    engine.shutdown().await;
    Ok(())
}
