//! The test kit of Roundtable: a paused clock, counted ids, an engine on a script, an oracle that
//! knows what must never happen, and a simulation that tries to make it happen.

mod bell;
mod clock;
mod ids;
mod kit;
pub mod oracle;
pub mod sim;
mod model;
mod tool;

pub use bell::BadBell;
pub use clock::PausedClock;
pub use ids::CountedIds;
pub use kit::{Kit, agent, events_until, go_on, message, opening, rounds, say, until};
pub use model::{FnModel, RecordingModel};
pub use tool::{FnTool, Handled};
