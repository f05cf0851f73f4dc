use roundtable::prelude::*;

async fn end(engine: &Engine, session: &Session) -> roundtable::Result<()> {
    session.stop().await?; // cuts the open round off; what was said is kept and marked
    session.complete("we are done").await?;
    engine.shutdown().await;
    Ok(())
}

pub async fn run() -> roundtable::Result<()> {
    let never = Script::default().voice("ann", [Reply::text("…").at_gate("never")]);
    let engine = crate::engine(never).await?;
    let session = engine.chat("Ends").agent("Ann").open().await?;
    session.say("Is it so?").await?;
    end(&engine, &session).await?;
    let last = session.log().await?.last().map(|event| event.body.kind().to_owned());
    assert_eq!(last.as_deref(), Some("session_completed"));
    Ok(())
}
