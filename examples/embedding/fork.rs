use roundtable::core::input::Command;
use roundtable::prelude::*;

async fn two_ways(engine: &Engine, session: &Session) -> roundtable::Result<()> {
    // Another session with the same past. It has to begin where a round has closed.
    let fork = engine.fork(session.here().await?).await?;
    fork.ask("What if we had twice the time?").await?;

    // With other agents from here on:
    let agents = vec![Agent::new("Zoe", "scripted")?];
    let other = engine.driver().fork(session.here().await?, Some(agents)).await?;
    engine.session(other.id()).ask("What do you think?").await?;

    // The last round again. The earlier take stays in the log.
    session.command(Command::Regenerate).await?;
    session.wait_current().await?;
    Ok(())
}

async fn choose(session: &Session) -> roundtable::Result<()> {
    session.command(Command::SelectTake { number: 1, take: 1 }).await?;
    session.command(Command::Rewind { number: 1 }).await?; // round 1 and all after it no longer count
    Ok(())
}

pub async fn run() -> roundtable::Result<()> {
    let engine = crate::engine(Script::default()).await?;
    let session = engine.panel("Time").agent("Ann").open().await?;
    session.ask("How long?").await?;
    two_ways(&engine, &session).await?;
    choose(&session).await?;
    assert_eq!(engine.sessions(10).await?.len(), 3);
    engine.shutdown().await;
    Ok(())
}
