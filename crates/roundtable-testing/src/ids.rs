//! Ids that count: the same in every run.

use std::sync::atomic::{AtomicU64, Ordering};

use roundtable_ports::Ids;

/// Ids `<prefix>1`, `<prefix>2` and so on.
pub struct CountedIds {
    prefix: &'static str,
    last: AtomicU64,
}

impl CountedIds {
    /// Ids with this prefix.
    pub fn new(prefix: &'static str) -> Self {
        Self { prefix, last: AtomicU64::new(0) }
    }
}

impl Ids for CountedIds {
    fn fresh(&self) -> String {
        format!("{}{}", self.prefix, self.last.fetch_add(1, Ordering::Relaxed) + 1)
    }
}
