//! `cargo xtask bench server`: whether readers slow writers down, and what a request costs.

mod readers;
mod table;
mod trivial;
mod writers;

use std::time::Duration;

use roundtable_bench::{Report, Row, median};

use readers::Crowd;
use table::Table;
use writers::Pace;

/// The same as the product's.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// How many readers take a byte a second.
const SLOW: usize = 16;
/// How many readers come back at once.
const MANY: usize = 10_000;
/// How long commits are timed, without readers and with slow ones, by turns.
const SPAN: Duration = Duration::from_secs(2);
const SLOW_TIMES: usize = 9;
/// The same beside many; they take as long as they need.
const LONG_SPAN: Duration = Duration::from_secs(5);
const MANY_TIMES: usize = 3;

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match args.first().map(String::as_str) {
        Some(readers::ROLE) => readers::run(&args[1..]).await,
        Some(other) => anyhow::bail!("this benchmark does not know `{other}`"),
        None => tokio::spawn(measure()).await?,
    }
}

async fn measure() -> anyhow::Result<()> {
    let mut report = Report::default();
    let table = Table::set().await?;
    slow_readers(&mut report, &table).await?;
    many_readers(&mut report, &table).await?;
    trivial::measure(&mut report, &table).await?;
    report.finish("server")
}

/// F21: readers that take a byte a second.
async fn slow_readers(report: &mut Report, table: &Table) -> anyhow::Result<()> {
    let mut pairs = Vec::new();
    for _ in 0..SLOW_TIMES {
        let alone = writers::commits(table, Pace::For(SPAN)).await?;
        let crowd = Crowd::start(readers::How::Slowly, SLOW, table).await?;
        let beside = writers::commits(table, Pace::For(SPAN)).await?;
        crowd.end().await?;
        pairs.push(Pair { alone, beside });
    }
    add(report, &format!("{SLOW} readers of a byte a second"), &pairs, 1.10);
    Ok(())
}

/// F22: readers that come back at once, each far behind.
async fn many_readers(report: &mut Report, table: &Table) -> anyhow::Result<()> {
    let mut pairs = Vec::new();
    for _ in 0..MANY_TIMES {
        let alone = writers::commits(table, Pace::For(LONG_SPAN)).await?;
        let mut crowd = Crowd::start(readers::How::Quickly, MANY, table).await?;
        let beside = writers::commits(table, Pace::Until(&mut crowd)).await?;
        eprintln!("  {MANY} readers had all of it after {:.1?}", crowd.took());
        crowd.end().await?;
        pairs.push(Pair { alone, beside });
    }
    let name = format!("{MANY} readers who come back at once, {} events behind", table::BEHIND);
    add(report, &name, &pairs, 2.0);
    Ok(())
}

/// How long commits took without readers, and right after with them.
struct Pair {
    alone: Vec<Duration>,
    beside: Vec<Duration>,
}

/// The middle pair counts: what else the machine does comes and goes, and hits single ones.
fn add(report: &mut Report, name: &str, pairs: &[Pair], aim: f64) {
    let middle = |of: &dyn Fn(&Pair) -> Duration| median(pairs.iter().map(of).collect());
    let [high, half] = [99, 50].map(|percent| {
        let one = middle(&|pair: &Pair| percentile(&pair.alone, percent));
        (one, middle(&|pair: &Pair| percentile(&pair.beside, percent)))
    });
    let ratio = |pair: &Pair| {
        let [one, other] = [&pair.alone, &pair.beside].map(|it| percentile(it, 99).as_secs_f64());
        other / one.max(1e-9)
    };
    let mut ratios: Vec<f64> = pairs.iter().map(ratio).collect();
    ratios.sort_by(f64::total_cmp);
    let spread = format!("{:.2} to {:.2}", ratios[0], ratios[ratios.len() - 1]);
    report.add(Row {
        name: format!("99th percentile of commits beside {name}"),
        figure: format!("{:.1?} (median {:.1?}; {} pairs: {spread})", high.1, half.1, pairs.len()),
        against: format!("without {:.1?} (median {:.1?})", high.0, half.0),
        ratio: ratios[ratios.len() / 2],
        aim: Some(aim),
    });
}

/// The duration that so many of a hundred do not exceed.
fn percentile(durations: &[Duration], of_hundred: usize) -> Duration {
    let mut sorted = durations.to_vec();
    sorted.sort();
    sorted.get(sorted.len() * of_hundred / 100).copied().unwrap_or_default()
}
