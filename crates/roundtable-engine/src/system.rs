//! The real clock and the real source of ids: the only places that ask the machine for either.

use jiff::Timestamp;
use roundtable_ports::{Clock, Ids};

/// The machine's clock.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    #[expect(
        clippy::disallowed_methods,
        reason = "this is the one place that asks the machine for the time"
    )]
    fn now(&self) -> Timestamp {
        Timestamp::now()
    }
}

/// Ids that sort by time and cannot be guessed.
#[derive(Debug, Clone, Copy, Default)]
pub struct UuidIds;

impl Ids for UuidIds {
    #[expect(clippy::disallowed_methods, reason = "this is the one place that makes ids")]
    fn fresh(&self) -> String {
        uuid::Uuid::now_v7().simple().to_string()
    }
}
