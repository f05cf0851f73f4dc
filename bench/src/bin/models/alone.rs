//! One side of the comparison alone, as often as is asked for, to be looked at from outside with
//! `valgrind --tool=callgrind`, `perf` or `strace`.

use anyhow::Context as _;

use super::bare::Bare;
use super::client::Client;
use super::provider::Provider;
use super::talk::{Kept, Table};

/// What this binary is told to do it.
pub const ROLE: &str = "alone";

const USAGE: &str = "alone bare|client|engine|opened turn|long|stream|loop TIMES";

/// `alone bare|client|engine|opened turn|long|stream|loop TIMES`; `opened` is what the engine's sessions cost
/// before anyone says anything.
pub async fn run(args: &[String]) -> anyhow::Result<()> {
    let [side, way, times] = args else { anyhow::bail!(USAGE) };
    let times: usize = times.parse().context("how often?")?;
    let provider = Provider::start().await?;
    let mut tokens = 0;
    match side.as_str() {
        "bare" => {
            let bare = Bare::new(&provider.address)?;
            for _ in 0..times {
                tokens += match way.as_str() {
                    "loop" => bare.tool_loop().await?,
                    way => bare.turn(way).await?,
                };
            }
        }
        "client" => {
            let client = Client::new(&provider.address)?;
            for _ in 0..times {
                tokens += client.turn(way).await?;
            }
        }
        "engine" | "opened" => {
            let table = Table::start(&provider.address, &Kept::InMemory).await?;
            let sessions = table.open_many(way, times).await?;
            if side == "engine" {
                for session in &sessions {
                    session.ask("How are you?").await?;
                }
            }
            table.stop().await;
        }
        other => anyhow::bail!("there is no side \"{other}\""),
    }
    println!("{side} {way}: {times} answers, {tokens} tokens");
    Ok(())
}
