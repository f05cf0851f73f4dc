//! What a session needs done. Derived from its state, so recovery is the same as going on.

use jiff::Timestamp;

use crate::event::Seq;
use crate::id::{IterationId, RoundId, ToolCallId, TurnId};

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
    /// It has to be measured how far the panel of a debate agrees.
    Measure {
        /// In which round.
        round: RoundId,
    },
    /// Something is due at this time.
    WakeAt(Timestamp),
}
