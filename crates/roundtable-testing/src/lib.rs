//! The test kit of Roundtable: a paused clock, counted ids, an engine on a script.

mod clock;
mod ids;
mod kit;

pub use clock::PausedClock;
pub use ids::CountedIds;
pub use kit::{Kit, agent, events_until, opening, say};
