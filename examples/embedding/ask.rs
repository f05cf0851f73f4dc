use roundtable::prelude::*;

async fn talk(session: &Session) -> roundtable::Result<()> {
    let round = session.ask("What would you do first?").await?;
    for answer in &round.answers {
        println!("{} ({:?}): {}", answer.agent, answer.outcome, answer.text);
    }
    session.say("And then?").await?; // does not wait for the answers
    session.continue_round().await?; // another round, without a message
    let last = session.wait_current().await?;
    println!("round {}: {:?}", last.number, last.outcome);
    Ok(())
}

pub async fn run() -> roundtable::Result<()> {
    let engine = crate::engine(crate::says("ann", "A test.")).await?;
    let session = engine.chat("Work").agent("Ann").open().await?;
    talk(&session).await?;
    assert_eq!(session.state().await?.rounds_completed, 3);
    engine.shutdown().await;
    Ok(())
}
