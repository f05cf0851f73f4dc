//! What can go wrong on purpose.

use std::time::Duration;

use roundtable_core::event::Seq;
use roundtable_core::id::SessionId;

/// What goes wrong with an append.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// Nothing.
    None,
    /// It is refused as if the head had moved.
    Conflict,
    /// It is not done.
    Unavailable,
    /// It is refused for good.
    Unstorable,
    /// There is no room for it.
    Full,
    /// It is done, and the answer does not arrive.
    AckLost,
    /// It takes this long, and is done then, unless another writer has claimed the session.
    Slow(Duration),
    /// Another writer claims the session first.
    Fenced,
    /// The process dies before it is done: the append never returns.
    CrashBefore,
    /// The process dies after it is done: the append never returns.
    CrashAfter,
}

/// Whoever decides what goes wrong.
pub trait Faults: Send + Sync {
    /// What goes wrong with an append to this session that follows on `expect`.
    fn on_append(&self, session: &SessionId, expect: Seq) -> Fault;

    /// Whether a read of this session's log fails.
    fn on_read(&self, _session: &SessionId) -> bool {
        false
    }
}
