//! `cargo xtask bench store`: what durability costs, in a file.

mod append;
mod first;
mod hand;
mod query;
mod size;
mod turn;

use std::time::Duration;

use hand::Bodies;
use roundtable_bench::{Report, Row, median, plot};

/// The same as the product's.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// How often a comparison is repeated; the middle one counts.
const TIMES: usize = 5;

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let mut arguments = std::env::args().skip(1);
    if let (Some(role), Some(directory), Some(session)) =
        (arguments.next(), arguments.next(), arguments.next())
    {
        anyhow::ensure!(role == first::ROLE, "this benchmark takes no arguments");
        return first::answer(directory.as_ref(), &session).await;
    }
    tokio::spawn(measure()).await?
}

async fn measure() -> anyhow::Result<()> {
    let mut report = Report::default();
    for (sessions, turns) in [(1, 200), (64, 50), (1000, 5)] {
        appends(&mut report, sessions, turns).await?;
    }
    commits(&mut report).await?;
    queries(&mut report).await?;
    first_request(&mut report).await?;
    let points = bytes(&mut report).await?;
    let svg = plot("bytes per round, rounds 1 to 10,000 of one session", &points);
    std::fs::create_dir_all("bench/results")?;
    std::fs::write("bench/results/store.svg", svg)?;
    report.finish("store")
}

/// Durable appends per second, against a loop written by hand.
async fn appends(report: &mut Report, sessions: usize, turns: usize) -> anyhow::Result<()> {
    let (mut ours, mut hand, mut encoded) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..TIMES {
        let load = append::Load::new(sessions, turns);
        let (stored, copy) = (tempfile::tempdir()?, tempfile::tempdir()?);
        ours.push(append::ours(stored.path(), &load, copy.path()).await?);
        let second = tempfile::tempdir()?;
        let name = "roundtable.db";
        std::fs::copy(copy.path().join(name), second.path().join(name))?;
        hand.push(hand::by_hand(stored.path(), copy.path(), &load, Bodies::Ready)?);
        encoded.push(hand::by_hand(stored.path(), second.path(), &load, Bodies::Encoded)?);
    }
    let (ours, hand, encoded) = (median(ours), median(hand), median(encoded));
    let rate = |each: Duration| 1.0 / each.as_secs_f64();
    report.add(Row {
        name: format!("durable appends, {sessions} sessions at once"),
        figure: format!("{:.0}/s", rate(ours)),
        against: format!("written by hand, all values ready, {:.0}/s", rate(hand)),
        ratio: ours.as_secs_f64() / hand.as_secs_f64(),
        aim: (sessions >= 64).then_some(1.25),
    });
    report.add(Row {
        name: format!("durable appends, {sessions} sessions at once, JSON on both sides"),
        figure: format!("{:.0}/s", rate(ours)),
        against: format!("written by hand, bodies encoded, {:.0}/s", rate(encoded)),
        ratio: ours.as_secs_f64() / encoded.as_secs_f64(),
        aim: None,
    });
    Ok(())
}

/// How often a turn waits for the disk.
async fn commits(report: &mut Report) -> anyhow::Result<()> {
    let each = size::commits_per_turn(100).await?;
    report.add(Row {
        name: "commits of a durable turn, all of the engine's writes".to_owned(),
        figure: format!("{each:.2}"),
        against: "two".to_owned(),
        ratio: each / 2.0,
        // A snapshot now and then is a commit as well.
        aim: Some(1.05),
    });
    Ok(())
}

/// What the tables of scenes answer.
async fn queries(report: &mut Report) -> anyhow::Result<()> {
    for (name, took) in query::scene().await? {
        report.add(Row {
            name: format!("{name}, {} messages", query::MESSAGES),
            figure: format!("{took:.0?}"),
            against: "1 ms".to_owned(),
            ratio: took.as_secs_f64() * 1e3,
            aim: Some(1.0),
        });
    }
    Ok(())
}

/// How long a process needs until it has answered someone.
async fn first_request(report: &mut Report) -> anyhow::Result<()> {
    let took = first::request().await?;
    report.add(Row {
        name: format!("start to first answer, {} sessions stored", first::SESSIONS),
        figure: format!("{took:.1?}"),
        against: "50 ms".to_owned(),
        ratio: took.as_secs_f64() / 0.05,
        aim: Some(1.0),
    });
    Ok(())
}

/// What a session takes on disk.
async fn bytes(report: &mut Report) -> anyhow::Result<Vec<(f64, f64)>> {
    let grown = size::session().await?;
    let allowed = 1.5 * grown.text + 400.0 * grown.events;
    report.add(Row {
        name: format!("bytes of {} rounds, without full text", size::ROUNDS),
        figure: format!(
            "{:.0} per event, text included ({:.0} of text)",
            grown.stored / grown.events,
            grown.text / grown.events
        ),
        against: format!("1.5 × text + 400 per event: {:.0}", allowed / grown.events),
        ratio: grown.stored / allowed,
        aim: Some(1.0),
    });
    let tenth = grown.per_round.len() / 10;
    let mean = |part: &[(f64, f64)]| part.iter().map(|(_, y)| y).sum::<f64>() / part.len() as f64;
    let first = mean(&grown.per_round[..tenth]);
    let last = mean(&grown.per_round[grown.per_round.len() - tenth..]);
    report.add(Row {
        name: format!("bytes of a round at the end of {}", size::ROUNDS),
        figure: format!("{last:.0} (mean of the last tenth)"),
        against: format!("{first:.0} (mean of the first tenth)"),
        ratio: last / first,
        aim: Some(1.05),
    });
    Ok(grown.per_round)
}
