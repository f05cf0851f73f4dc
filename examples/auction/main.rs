//! `cargo run -p roundtable --example auction`: two bidders and an auctioneer, on a script.

#![expect(clippy::print_stdout, reason = "an example shows what happens")]

mod auction;

use std::collections::BTreeMap;

use auction::{Auction, CREDIT, Credit, Rules};
use roundtable::prelude::*;
use roundtable::program::Opening;

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let script = Script::default()
        .voice("ada", [Reply::text("I bid 40.")])
        .voice("ada", [Reply::text("pass")])
        .voice("ben", [Reply::text("90 for me.")])
        .voice("ben", [Reply::text("Fine: 35.")])
        .voice("cleo", [Reply::text("Ada leads with 40.")])
        .voice("cleo", [Reply::text("Going, going, gone.")]);
    let agents = ["Ada", "Ben", "Cleo"].map(|name| Agent::new(name, "scripted"));
    let agents = agents.into_iter().collect::<Result<Vec<_>, _>>()?;
    let [ada, ben, cleo] = [0, 1, 2].map(|index: usize| agents[index].id.clone());
    // Ben bids more than he has.
    let credit = Credit(BTreeMap::from([(ada.clone(), 50), (ben.clone(), 80)]));
    let engine = Engine::builder()
        .custom_model("scripted", ScriptedModel::new(script))
        .program(Auction)
        .job(CREDIT, credit)
        .build()
        .await?;
    let rules = Rules { lot: "the clock".to_owned(), auctioneer: cleo, bidders: vec![ada, ben] };
    let opening = Opening::of::<Auction>("A clock", agents, &rules)?;
    let auction = engine.open(opening).await?;
    for call in ["Who bids?", "Who bids more?"] {
        auction.ask(call).await?;
        let state = auction.state().await?.state_of::<Auction>().unwrap_or_default();
        let leader = state.leader.map_or("nobody".to_owned(), |leader| leader.to_string());
        println!("{call} {leader} leads with {}", state.price);
    }
    for event in auction.log().await? {
        println!("{event}");
    }
    engine.shutdown().await;
    Ok(())
}
