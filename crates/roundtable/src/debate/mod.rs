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
    Action, Added, Changed, Cluster, Conflict, Consensus, Decision, Disagreement, Drift, Exit,
    Findings, Judgement, Level, Measure, Member, Mode, Perspective, Place, Position, Quote,
    Ranking, Record, RecordedRound, RecordedTurn, Reservation, Response, Role, Rules, Source,
    Spent, Stance, Standing, Synthesis, UnknownMode, View, Vote, dollars,
};
pub use roundtable_debate::{
    Debate as DebateProgram, ImportError, Measured, Measuring, Purpose, State, is_named_after,
};
