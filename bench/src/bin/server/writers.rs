//! Those who write: each commits at a steady pace, and how long it took is what counts.

use std::time::{Duration, Instant};

use roundtable::Session;
use roundtable::core::input::Command;
use tokio::time::MissedTickBehavior;

use crate::readers::Crowd;
use crate::table::Table;

/// How often each of them commits.
const EVERY: Duration = Duration::from_millis(20);

/// How long they write.
pub enum Pace<'a> {
    For(Duration),
    Until(&'a mut Crowd),
}

/// Commits of all sessions, and how long each took.
pub async fn commits(table: &Table, pace: Pace<'_>) -> anyhow::Result<Vec<Duration>> {
    let (stop, stopped) = tokio::sync::watch::channel(());
    let writers: Vec<_> = table
        .written
        .iter()
        .map(|session| tokio::spawn(write(session.clone(), stopped.clone())))
        .collect();
    match pace {
        Pace::For(span) => tokio::time::sleep(span).await,
        Pace::Until(crowd) => crowd.is_done().await?,
    }
    drop(stop);
    let mut took = Vec::new();
    for writer in writers {
        took.extend(writer.await??);
    }
    Ok(took)
}

async fn write(
    session: Session,
    mut stopped: tokio::sync::watch::Receiver<()>,
) -> anyhow::Result<Vec<Duration>> {
    let mut ticks = tokio::time::interval(EVERY);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut took = Vec::new();
    for command in [Command::Pause, Command::Resume].iter().cycle() {
        tokio::select! {
            _ = stopped.changed(), if *command == Command::Pause => break,
            _ = ticks.tick() => {}
        }
        let begun = Instant::now();
        session.command(command.clone()).await?;
        took.push(begun.elapsed());
    }
    Ok(took)
}
