//! The test kit of Roundtable: a paused clock, counted ids, an engine on a script, a provider that
//! is asked over HTTP, an oracle that knows what must never happen, and a simulation that tries to
//! make it happen.

mod bell;
mod clock;
pub mod conformance;
mod counting;
mod ids;
mod kit;
mod model;
pub mod oracle;
pub mod positions;
mod program_set;
pub mod provider;
pub mod sim;
mod tool;
pub mod walk;

pub use bell::BadBell;
pub use clock::PausedClock;
pub use counting::CountingLog;
pub use ids::CountedIds;
pub use kit::{Kit, agent, answer_to, events_until, go_on, message, opening, rounds, say, until};
pub use model::{FnModel, RecordingModel};
pub use program_set::ProgramSet;
pub use tool::{FnTool, Handled};
