//! What the engine reports, by what it was asked to do.

mod child;
mod job;
mod model;
mod tool;
mod writer;

pub(crate) use model::{action_digest, cost_of};
