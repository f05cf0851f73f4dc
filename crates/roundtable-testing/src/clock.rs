//! A clock that goes with tokio's paused time.

use jiff::{SignedDuration, Timestamp};
use roundtable_ports::Clock;
use tokio::time::Instant;

/// Tokio's time, counted from a fixed day: it stands still until a test lets it pass.
pub struct PausedClock {
    base: Timestamp,
    start: Instant,
}

impl PausedClock {
    /// A clock that shows `seconds` after the fixed day. Has to be made inside a runtime.
    #[expect(clippy::disallowed_methods, reason = "the paused clock is made of tokio's time")]
    pub fn starting(seconds: i64) -> Self {
        let base = Timestamp::from_second(1_800_000_000 + seconds).expect("a time in this century");
        Self { base, start: Instant::now() }
    }
}

impl Clock for PausedClock {
    fn now(&self) -> Timestamp {
        let passed = SignedDuration::try_from(self.start.elapsed()).expect("a short test");
        self.base.checked_add(passed).expect("a short test")
    }
}
