//! What the benchmarks share: a table of figures with their limits, and a plot.
//!
//! Each benchmark is a binary in `src/bin/`, run by `cargo xtask bench NAME`. It measures the
//! product and what it is compared with in the same run, so the ratios mean something on any
//! machine.

mod plot;
mod report;

use std::time::{Duration, Instant};

pub use plot::plot;
pub use report::{Report, Row};

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
