//! How an engine runs.

use std::sync::Arc;
use std::time::Duration;

use roundtable_ports::Allowances;

/// How an engine runs.
#[derive(Debug, Clone)]
pub struct Config {
    /// How many model calls, tool handlers and jobs may be at work at once.
    pub permits: usize,
    /// After how long a quiet session leaves memory.
    pub idle_after: Duration,
    /// How long a drain waits for what is running.
    pub drain_within: Duration,
    /// How often sessions that nobody drives are looked for.
    pub sweep_every: Duration,
    /// How often a subscriber looks at the log when no bell rings.
    pub poll_every: Duration,
    /// How many envelopes may wait at a session's door.
    pub mailbox: usize,
    /// How long a job of a program may take.
    pub job_within: Duration,
    /// How many bytes a model's reply may have, its tool calls included.
    pub max_reply_bytes: usize,
    /// How many bytes of results are kept in memory while the store takes nothing. What does not fit
    /// is lost as in a crash: it is declared, and done again.
    pub kept_bytes: usize,
    /// After how many bytes of a running reply it is noted, in case of a crash.
    pub draft_bytes: usize,
    /// After how long a running reply is noted.
    pub draft_every: Duration,
    /// After how many events a loaded session writes a snapshot.
    pub snapshot_every: u64,
    /// How much may be spent per day; without it, nothing is checked.
    pub allowances: Option<Arc<dyn Allowances>>,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            permits: 4096,
            idle_after: Duration::from_secs(60),
            drain_within: Duration::from_secs(30),
            sweep_every: Duration::from_secs(5),
            poll_every: Duration::from_secs(2),
            mailbox: 256,
            job_within: Duration::from_secs(300),
            max_reply_bytes: 1024 * 1024,
            kept_bytes: 64 * 1024 * 1024,
            draft_bytes: 2048,
            draft_every: Duration::from_secs(1),
            snapshot_every: 500,
            allowances: None,
        }
    }
}
