//! Debates, as an embedder holds them: a builder, a handle, and lists.

mod builder;
mod cast;
mod folds;
mod handle;
mod join;
mod list;
mod measure;
mod wait;

pub use builder::DebateBuilder;
pub(crate) use folds::Folds;
pub use handle::{ContinueOutcome, ContinueRequest, Debate, SynthesisReport};
pub use list::{DebateEntry, DebateFilter, DebateStatus};
pub(crate) use measure::Measure as MeasureJob;
pub use wait::find_settled;

pub use roundtable_debate::{
    Action, Analysis, Cluster, Conflict, Consensus, Decision, Disagreement, Drift, EarlyExit,
    Evidence, Exit, Findings, FullResponse, Gain, Level, Measure, Measurement, Member, Metadata,
    Mode, Movement, Perspective, Place, Position, PositionChange, Quote, Ranking, Recommendation,
    Record, RecordedRound, RecordedTurn, Reservation, Response, Role, RoundStatus, Rules, Source,
    Spent, Stance, Synthesis, UnknownMode, View, Vote, dollars,
};
pub use roundtable_debate::{
    Debate as DebateProgram, ImportError, Measuring, PositionVector, Purpose, State, is_named_after,
};
