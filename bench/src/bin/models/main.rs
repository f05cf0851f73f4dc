//! `cargo xtask bench models`: what the engine costs over a real connection, beside a client
//! written by hand that asks the same provider in the same run.

mod alone;
mod bare;
mod client;
mod provider;
mod talk;
mod work;

use std::time::Duration;

use roundtable_bench::{Report, Row, median};

use provider::Provider;
use talk::Kept;
use work::{Measured, Pair};

/// The same as the product's.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const TURNS: usize = 2_000;
/// Turns with a provider that takes its time.
const SLOW_TURNS: usize = 60;
const LOOPS: usize = 200;
/// Tool calls of one loop; one more call answers.
const CALLS: u32 = 10;
const SESSIONS: usize = 1_000;
const LATENCY: Duration = Duration::from_millis(50);
const STREAMS: usize = 200;
/// Tokens of a stream, and of a long answer.
const TOKENS: usize = 100;
/// Tokens of a short answer.
const WORDS: usize = 20;
/// How often many at once are repeated; the middle one counts.
const REPEATS: usize = 7;

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match args.first().map(String::as_str) {
        Some(provider::ROLE) => provider::run().await,
        Some(alone::ROLE) => tokio::spawn(async move { alone::run(&args[1..]).await }).await?,
        Some(other) => anyhow::bail!("this benchmark does not know `{other}`"),
        // On a worker, like any caller inside a server: the main thread adds a switch per wake-up.
        None => tokio::spawn(measure()).await?,
    }
}

async fn measure() -> anyhow::Result<()> {
    let provider = Provider::start().await?;
    let mut report = Report::default();
    compare(&mut report, &provider.address, Kept::InMemory).await?;
    compare(&mut report, &provider.address, Kept::in_file()?).await?;
    report.finish("models")
}

async fn compare(report: &mut Report, address: &str, kept: Kept) -> anyhow::Result<()> {
    let (place, in_memory) = match &kept {
        Kept::InMemory => ("in memory", true),
        Kept::InFile(_) => ("in a file", false),
    };
    let mut add = |name: &str, measured: Measured, of: usize, aim: Option<f64>| {
        let bare = median(measured.bare);
        let commits = measured.commits.map(|all| f64::from(all) / of as f64);
        let commits = commits.map(|each| format!(", {each:.2} commits each")).unwrap_or_default();
        let row = |name: String, took: Duration, commits: &str, aim: Option<f64>| Row {
            name,
            figure: format!("{took:.1?}{commits}"),
            against: format!("by hand {bare:.1?}"),
            ratio: took.as_secs_f64() / bare.as_secs_f64().max(1e-9),
            aim,
        };
        let engine = median(measured.engine);
        report.add(row(format!("{name}, {place}"), engine, &commits, aim.filter(|_| in_memory)));
        if in_memory && !measured.client.is_empty() {
            let alone = format!("{name}, the model client alone");
            report.add(row(alone, median(measured.client), "", None));
        }
    };
    let pair = Pair::start(address, kept).await?;
    let name = format!("W1 one turn of {TOKENS} tokens");
    add(&name, pair.turns("long", TURNS).await?, TURNS, None);
    let name = format!("W1 one turn of {WORDS} tokens");
    add(&name, pair.turns("turn", TURNS).await?, TURNS, Some(1.3));
    let name = format!("W1 one turn of {WORDS} tokens at {LATENCY:?}");
    add(&name, pair.turns("slow", SLOW_TURNS).await?, SLOW_TURNS, None);
    let iterations = LOOPS * (CALLS as usize + 1);
    add("W2 one of eleven tool iterations", pair.tool_iterations().await?, iterations, Some(1.5));
    let name = format!("W4 {SESSIONS} conversations at {LATENCY:?}");
    add(&name, pair.conversations().await?, SESSIONS, Some(1.5));
    let name = format!("W6 processor time of 1,000 tokens, {STREAMS} streams of {TOKENS}");
    add(&name, pair.streams().await?, STREAMS, Some(1.5));
    pair.stop().await;
    Ok(())
}
