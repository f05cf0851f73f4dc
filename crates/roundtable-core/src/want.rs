//! What a session needs done. Derived from its state, so recovery is the same as going on.

use jiff::Timestamp;

use crate::event::Seq;
use crate::id::{IterationId, RoundId, ToolCallId, TurnId};
use crate::stage::Name;

/// Something that a session needs done.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Want {
    /// A model has to be asked.
    CallModel {
        /// For which turn.
        turn: TurnId,
        /// For which iteration; also the key under which the call is made.
        iteration: IterationId,
        /// Which attempt.
        attempt: u32,
        /// Where the log says that it started.
        since: Seq,
    },
    /// A tool has to be run.
    RunTool {
        /// For which turn.
        turn: TurnId,
        /// Which call.
        tool_call: ToolCallId,
        /// Which attempt.
        attempt: u32,
    },
    /// An effectful tool call waits for its own commit, right before it is run.
    BeginEffect {
        /// Which call.
        tool_call: ToolCallId,
    },
    /// A job has to be run. It may be run again: whoever runs it first is not asked what became of it.
    RunJob {
        /// For which round or aside.
        round: RoundId,
        /// What is computed.
        name: Name,
        /// Which job of the round or aside; with its id, the key under which it is run.
        ordinal: u32,
    },
    /// Something is due at this time.
    WakeAt(Timestamp),
}
