//! One side of the comparison alone, as often as is asked for, to be looked at from outside with
//! `valgrind --tool=callgrind`, `perf` or `strace`.

use anyhow::Context as _;

use super::bare::Bare;
use super::client::Client;
use super::provider::Provider;

/// What this binary is told to do it.
pub const ROLE: &str = "alone";

/// `alone bare|client turn|stream TIMES`.
pub async fn run(args: &[String]) -> anyhow::Result<()> {
    let [side, way, times] = args else { anyhow::bail!("alone bare|client turn|stream TIMES") };
    let times: usize = times.parse().context("how often?")?;
    let provider = Provider::start().await?;
    let mut tokens = 0;
    match side.as_str() {
        "bare" => {
            let bare = Bare::new(&provider.address)?;
            for _ in 0..times {
                tokens += bare.turn(way).await?;
            }
        }
        "client" => {
            let client = Client::new(&provider.address)?;
            for _ in 0..times {
                tokens += client.turn(way).await?;
            }
        }
        other => anyhow::bail!("there is no side \"{other}\""),
    }
    println!("{side} {way}: {times} answers, {tokens} tokens");
    Ok(())
}
