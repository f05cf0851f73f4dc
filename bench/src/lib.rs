//! What the benchmarks share: a table of figures with their limits, a plot, and what the system
//! says of this process.
//!
//! Each benchmark is a binary in `src/bin/`, run by `cargo xtask bench NAME`. It measures the
//! product and what it is compared with in the same run, so the ratios mean something on any
//! machine.

mod plot;
mod report;
mod wal;

use std::time::{Duration, Instant};

pub use plot::plot;
pub use report::{Report, Row};
pub use wal::Commits;

/// The middle one of these durations.
pub fn median(mut durations: Vec<Duration>) -> Duration {
    durations.sort();
    durations.get(durations.len() / 2).copied().unwrap_or_default()
}

/// How long something takes.
pub async fn timed<T>(work: impl Future<Output = T>) -> (T, Duration) {
    let start = Instant::now();
    let value = work.await;
    (value, start.elapsed())
}

/// The resident memory of this process, in bytes; 0 where the system does not say.
pub fn resident() -> u64 {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages = statm.split_whitespace().nth(1).and_then(|pages| pages.parse::<u64>().ok());
    pages.unwrap_or(0) * 4096
}

/// The processor time of this process's threads so far; zero where the system does not say.
pub fn cpu() -> Duration {
    let threads = std::fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    let nanos = threads.filter_map(|thread| {
        let said = std::fs::read_to_string(thread.path().join("schedstat")).ok()?;
        said.split_whitespace().next()?.parse::<u64>().ok()
    });
    Duration::from_nanos(nanos.sum())
}
