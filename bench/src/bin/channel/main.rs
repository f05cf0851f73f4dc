//! `cargo xtask bench channel`: what a WebSocket costs, and how late its frames are.

mod bare;
mod canary;
mod clients;
mod stop;
mod table;

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use roundtable::Session;
use roundtable::core::MessageContext;
use roundtable::core::input::{Command, Say};
use roundtable_bench::{Report, Row, cpu, median, resident};

use bare::Bare;
use clients::Clients;
use table::Table;

/// The same as the product's.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Connections that wait for commits, and how they are spread.
const SUBSCRIBERS: usize = 1_000;
const COMMITS: usize = 200;
const PACE: Duration = Duration::from_millis(50);
/// Connections that an answer is streamed to, each in a conversation of its own.
const STREAMS: usize = 200;
/// How often the two servers stream, by turns.
const TIMES: usize = 5;
/// Connections that do nothing.
const IDLE: usize = 1_000;

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match args.first().map(String::as_str) {
        Some(clients::ROLE) => clients::run(&args[1..]).await,
        Some(other) => anyhow::bail!("this benchmark does not know `{other}`"),
        None => tokio::spawn(measure()).await?,
    }
}

async fn measure() -> anyhow::Result<()> {
    let mut report = Report::default();
    lateness(&mut report, 100).await?;
    lateness(&mut report, 1).await?;
    streaming(&mut report).await?;
    idle(&mut report).await?;
    stop::measure(&mut report).await?;
    canary::measure(&mut report).await?;
    report.finish("channel")
}

/// From the command to the client, the commit to disk included.
async fn lateness(report: &mut Report, conversations: usize) -> anyhow::Result<()> {
    let directory = tempfile::tempdir()?;
    let table = Table::start(Some(directory.path()), conversations).await?;
    let clients = Clients::start(table.address, SUBSCRIBERS, &table.names()).await?;
    for commit in 0..COMMITS {
        note(&table.sessions[commit % conversations]).await?;
        tokio::time::sleep(PACE).await;
    }
    let late = clients.end().await?.late;
    let expected = COMMITS * SUBSCRIBERS / conversations;
    anyhow::ensure!(late.len() == expected, "{} frames of {expected} arrived", late.len());
    for (percent, aim) in [(50, Duration::from_millis(5)), (99, Duration::from_millis(50))] {
        let late = late[(late.len() * percent / 100).min(late.len() - 1)];
        report.add(Row {
            name: format!(
                "command to client, {percent}th percentile, {SUBSCRIBERS} subscribers of \
                 {conversations} conversations"
            ),
            figure: format!("{late:.1?}"),
            against: format!("{aim:?}"),
            ratio: late.as_secs_f64() / aim.as_secs_f64(),
            aim: Some(1.0),
        });
    }
    Ok(())
}

/// Commits a message that says when it was sent. The session is paused, so nobody answers.
async fn note(session: &Session) -> anyhow::Result<()> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH)?.as_nanos();
    let context = MessageContext::new(&format!("m{now}"), session.id(), None)?;
    let say = Say { text: Some(format!("{}{now}", clients::SENT)), ..Say::new(context) };
    session.command(Command::Say(say)).await?;
    Ok(())
}

/// The processor time of streamed answers, beside a server that forwards prepared frames.
async fn streaming(report: &mut Report) -> anyhow::Result<()> {
    let (mut ours, mut theirs, mut unread) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..TIMES {
        let table = Table::start(None, STREAMS).await?;
        unread.push(table.answer_all().await?);
        let clients = Clients::start(table.address, STREAMS, &table.names()).await?;
        ours.push(table.answer_all().await?);
        let frames = clients.end().await?.chunks;
        anyhow::ensure!(frames > 0, "nothing was streamed");

        let bare = Bare::start().await?;
        let clients = Clients::start(bare.address, STREAMS, &[]).await?;
        let before = cpu();
        bare.forward_all().await;
        let frames = clients.end().await?.chunks;
        theirs.push(cpu().saturating_sub(before));
        anyhow::ensure!(frames == STREAMS * table::PIECES, "{frames} prepared frames arrived");
    }
    let [ours, theirs, unread] = [ours, theirs, unread].map(median);
    let per_thousand =
        |took: Duration| took / u32::try_from(STREAMS * table::PIECES / 1000).unwrap_or(1);
    report.add(Row {
        name: format!("processor time of 1,000 deltas, {STREAMS} streams to a subscriber each"),
        figure: format!(
            "{:.1?}, of which model and engine without readers {:.1?}",
            per_thousand(ours),
            per_thousand(unread)
        ),
        against: format!("axum forwards prepared frames {:.1?}", per_thousand(theirs)),
        ratio: ours.as_secs_f64() / theirs.as_secs_f64(),
        aim: Some(2.0),
    });
    Ok(())
}

/// What a connection costs that waits.
async fn idle(report: &mut Report) -> anyhow::Result<()> {
    let table = Table::start(None, 1).await?;
    let warm = Clients::start(table.address, 50, &table.names()).await?;
    let before = resident();
    let clients = Clients::start(table.address, IDLE, &table.names()).await?;
    let ours = resident().saturating_sub(before) / IDLE as u64;
    drop((warm, clients));
    let bare = Bare::start().await?;
    let warm = Clients::start(bare.address, 50, &[]).await?;
    let before = resident();
    let clients = Clients::start(bare.address, IDLE, &[]).await?;
    let theirs = resident().saturating_sub(before) / IDLE as u64;
    drop((warm, clients));
    report.add(Row {
        name: format!("memory per idle connection, {IDLE} of them, each with a subscription"),
        figure: format!("{:.1} KiB", ours as f64 / 1024.0),
        against: format!("axum alone {:.1} KiB", theirs as f64 / 1024.0),
        ratio: ours as f64 / theirs.max(1) as f64,
        aim: None,
    });
    Ok(())
}
