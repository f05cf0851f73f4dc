//! Debates: a panel argues a question in rounds and says how far it agrees.
//!
//! Everything here is a pure function: of the [`Rules`] that a session records when it opens, of a
//! seat and a round, of vectors, or of the log. Sessions of other programs know nothing of it.

mod analysis;
mod check;
mod citation;
mod consensus;
mod exit;
mod export;
mod findings;
mod gain;
mod loose;
mod markdown;
mod measure;
mod measuring;
mod minutes;
mod mode;
mod names;
mod perspective;
mod position;
mod program;
mod prompt;
mod purpose;
mod quote;
mod ranking;
mod record;
mod reservation;
mod response;
mod synthesis;
mod transcript;
mod usage;

use serde::{Deserialize, Serialize};

use roundtable_core::id::AgentId;

pub use analysis::{Analysis, Cluster, Disagreement, View};
pub use citation::Source;
pub use consensus::{Consensus, Level, Measurement, Movement};
pub use exit::{EarlyExit, Exit};
pub use export::ImportError;
pub use findings::{
    Action, Conflict, Decision, Evidence, Findings, Metadata, Recommendation, RoundStatus,
};
pub use gain::{Gain, PositionChange, Vote};
pub use measure::{Drift, Measure, PositionVector};
pub use measuring::Measuring;
pub use mode::{Mode, Role, UnknownMode};
pub(crate) use names::Names;
pub use names::{is_named_after, numbered};
pub use perspective::Perspective;
pub use position::{Position, Stance};
pub use program::{Debate, State};
pub use purpose::Purpose;
pub use quote::Quote;
pub use ranking::{Place, Ranking};
pub use record::{Member, Record, RecordedRound, RecordedSynthesis, RecordedTurn, Spent};
pub use reservation::Reservation;
pub use response::{FullResponse, Response};
pub use synthesis::Synthesis;
pub use usage::dollars;

/// How a debate runs: part of its session's settings, recorded when it opens.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Rules {
    /// Debate mode.
    pub mode: Mode,
    /// Whether it ends when the panel agrees, though rounds are left.
    pub exit_on_consensus: bool,
    /// The points of view of the seats, from the first; with fewer than seats they are used again.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub perspectives: Vec<Perspective>,
    /// Who says after each round how far the panel agrees: an agent of the session without a seat.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub analyst: Option<AgentId>,
    /// Who writes the verdict of a council: an agent of the session without a seat.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub chair: Option<AgentId>,
}
