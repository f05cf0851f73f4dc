use roundtable::core::event::Seq;
use roundtable::driver::Update;
use roundtable::prelude::*;

async fn watch(session: &Session, last_seen: Option<u64>) -> roundtable::Result<()> {
    let from = last_seen.map_or(Since::Start, |seq| Since::After(Seq(seq)));
    let mut updates = session.updates(from).await?;
    loop {
        match updates.next().await? {
            Update::Event(event) => println!("{event}"),
            Update::Delta(delta) => print!("{}", delta.text),
        }
    }
}

pub async fn run() -> roundtable::Result<()> {
    let engine = crate::engine(crate::says("ann", "Yes.")).await?;
    let session = engine.chat("Updates").agent("Ann").open().await?;
    session.ask("Is it so?").await?;
    let (watched, ()) = tokio::join!(watch(&session, Some(1)), engine.shutdown());
    assert!(watched.is_err(), "it watches until the engine stops");
    Ok(())
}
