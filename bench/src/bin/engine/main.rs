//! `cargo xtask bench engine`: what the engine costs, in memory, over the same scripted model.

mod bare;
mod talk;

use std::time::Duration;

use roundtable_bench::{Report, Row, median, plot, resident, timed};

use talk::Table;

/// The same as the product's.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const TURNS: u32 = 2_000;
const LOOPS: u32 = 200;
const CALLS: u32 = 10;
const SESSIONS: usize = 1_000;
const REPEATS: usize = 9;
const LATENCY: Duration = Duration::from_millis(50);
const LIVE: usize = 10_000;
const ROUNDS: u32 = 10_000;
/// How many rounds a session has whose window has just become full.
const YOUNG: u32 = 50;

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    // On a worker, like any caller inside a server: the main thread would add a switch per wake-up.
    tokio::spawn(measure()).await?
}

async fn measure() -> anyhow::Result<()> {
    let mut report = Report::default();
    turns(&mut report).await?;
    tool_iterations(&mut report).await?;
    many_sessions(&mut report).await?;
    memory(&mut report).await?;
    let points = long_session(&mut report).await?;
    let svg = plot("µs per round, rounds 1 to 10,000 of one session", &points);
    std::fs::create_dir_all("bench/results")?;
    std::fs::write("bench/results/engine.svg", svg)?;
    report.finish("engine")
}

/// One turn: a message in, an answer committed.
async fn turns(report: &mut Report) -> anyhow::Result<()> {
    let table = Table::start(0).await?;
    let session = table.open("plain").await?;
    let mut took = Vec::new();
    for _ in 0..TURNS {
        took.push(timed(session.ask("How are you?")).await.1);
    }
    let model = talk::model(0);
    let mut bare = Vec::new();
    for _ in 0..TURNS {
        bare.push(timed(bare::turn(&model)).await.1);
    }
    let (engine, bare) = (median(took), median(bare));
    let over = engine.saturating_sub(bare);
    report.add(Row {
        name: "one turn".to_owned(),
        figure: format!("{engine:.1?}, of which the engine {over:.1?}"),
        against: format!("bare loop {bare:.1?}"),
        ratio: ratio(engine, bare),
        aim: None,
    });
    table.stop().await;
    Ok(())
}

/// One iteration of a tool loop: the reply that asks for the tool, the tool, the record of both.
async fn tool_iterations(report: &mut Report) -> anyhow::Result<()> {
    let table = Table::start(0).await?;
    let session = table.open("looper").await?;
    let mut took = Vec::new();
    for _ in 0..LOOPS {
        took.push(timed(session.ask("Count.")).await.1 / (CALLS + 1));
    }
    let model = talk::model(0);
    let mut bare = Vec::new();
    for _ in 0..LOOPS {
        bare.push(timed(bare::tool_loop(&model, CALLS)).await.1 / (CALLS + 1));
    }
    let (engine, bare) = (median(took), median(bare));
    let over = engine.saturating_sub(bare);
    report.add(Row {
        name: "one tool iteration".to_owned(),
        figure: format!("{engine:.1?}, of which the engine {over:.1?}"),
        against: format!("bare loop {bare:.1?}"),
        ratio: ratio(engine, bare),
        aim: None,
    });
    table.stop().await;
    Ok(())
}

/// Many sessions at once, each waiting for a slow model: nobody waits for anybody else.
async fn many_sessions(report: &mut Report) -> anyhow::Result<()> {
    let latency = u64::try_from(LATENCY.as_millis())?;
    let table = Table::start(latency).await?;
    let mut sessions = Vec::new();
    for _ in 0..SESSIONS {
        sessions.push(table.open("plain").await?);
    }
    let mut walls = Vec::new();
    for _ in 0..REPEATS {
        let asked =
            futures_util::future::join_all(sessions.iter().map(|session| session.ask("Ready?")));
        walls.push(timed(asked).await.1);
    }
    let wall = median(walls);
    let model = talk::model(latency);
    let mut bares = Vec::new();
    for _ in 0..REPEATS {
        let asked = futures_util::future::join_all((0..SESSIONS).map(|_| bare::turn(&model)));
        bares.push(timed(asked).await.1);
    }
    report.add(Row {
        name: format!("{SESSIONS} sessions at once, model latency {LATENCY:?}"),
        figure: format!("{wall:.1?} for all (bare loop {:.1?})", median(bares)),
        against: format!("the latency, {LATENCY:?}"),
        ratio: ratio(wall, LATENCY),
        aim: Some(1.5),
    });
    table.stop().await;
    Ok(())
}

/// What a session costs while it is in memory, after a round.
async fn memory(report: &mut Report) -> anyhow::Result<()> {
    let table = Table::start(0).await?;
    // The first sessions pay for what all share.
    let mut kept = Vec::new();
    for _ in 0..100 {
        kept.push(asked(&table).await?);
    }
    let before = resident();
    for _ in 0..LIVE {
        kept.push(asked(&table).await?);
    }
    let each = resident().saturating_sub(before) as f64 / LIVE as f64 / 1024.0;
    anyhow::ensure!(table.loaded() >= LIVE, "the sessions have to be in memory to be measured");
    report.add(Row {
        name: format!("memory per live session, {LIVE} of them, log included"),
        figure: format!("{each:.1} KiB"),
        against: "50 KiB".to_owned(),
        ratio: each / 50.0,
        aim: Some(1.0),
    });
    drop(kept);
    table.stop().await;
    Ok(())
}

async fn asked(table: &Table) -> anyhow::Result<roundtable::Session> {
    let session = table.open("plain").await?;
    session.ask("Hello?").await?;
    Ok(session)
}

/// A session that goes on and on: its rounds must not get slower.
async fn long_session(report: &mut Report) -> anyhow::Result<Vec<(f64, f64)>> {
    let table = Table::start(0).await?;
    let session = table.open("plain").await?;
    let mut took = Vec::new();
    for _ in 0..ROUNDS {
        took.push(timed(session.ask("And then?")).await.1);
    }
    // A young session beside it, its window full: taken in turns, so that both meet the same machine.
    let young = table.open("plain").await?;
    for _ in 0..YOUNG {
        young.ask("And then?").await?;
    }
    let (mut first, mut last) = (Vec::new(), Vec::new());
    for _ in 0..TURNS {
        first.push(timed(young.ask("And then?")).await.1);
        last.push(timed(session.ask("And then?")).await.1);
    }
    let (first, last) = (median(first), median(last));
    report.add(Row {
        name: format!("a round after {ROUNDS}"),
        figure: format!("{last:.1?}"),
        against: format!("{first:.1?} in a session of {YOUNG} rounds, by turns"),
        ratio: ratio(last, first),
        aim: Some(1.2),
    });
    table.stop().await;
    let chunks = took.chunks(100).enumerate();
    Ok(chunks
        .map(|(index, chunk)| (index as f64 * 100.0, median(chunk.to_vec()).as_secs_f64() * 1e6))
        .collect())
}

fn ratio(measured: Duration, against: Duration) -> f64 {
    measured.as_secs_f64() / against.as_secs_f64().max(1e-9)
}
