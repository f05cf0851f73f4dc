use roundtable::core::budget::{Limits, Price};
use roundtable::core::event::TurnOutcome;
use roundtable::prelude::*;

async fn frugal(engine: &Engine) -> roundtable::Result<RoundReport> {
    let mut ann = Agent::new("Ann", "scripted")?;
    ann.max_tokens = 500; // for one reply; always sent, always reserved
    ann.limits = Limits { calls: Some(5), time_ms: Some(30_000), ..Limits::default() }; // for one turn
    // Millionths of a dollar for a million tokens: here 3 dollars in, 15 dollars out.
    ann.price = Some(Price { input: 3_000_000, output: 15_000_000 });
    let session = engine
        .chat("A question")
        .participant(ann)
        .budget(Limits { cost: Some(250_000), ..Limits::default() }) // a quarter of a dollar
        .open()
        .await?;
    let round = session.ask("What is the meaning of this?").await?;
    for answer in &round.answers {
        if let TurnOutcome::Exhausted { budget } = &answer.outcome {
            println!("out of {}; so far: {}", budget.word(), answer.text);
        }
    }
    println!("{:?}", session.state().await?.account.spent);
    Ok(round)
}

pub async fn run() -> roundtable::Result<()> {
    let engine = crate::engine(crate::says("ann", "None.")).await?;
    assert_eq!(frugal(&engine).await?.answers[0].text, "None.");
    engine.shutdown().await;
    Ok(())
}
