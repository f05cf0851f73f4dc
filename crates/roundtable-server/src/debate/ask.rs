//! What callers ask of debates.

mod go_on;
mod list;
mod of;
mod start;

pub(crate) use go_on::{GoOn, GoOnWith};
pub(crate) use list::{Debates, Stands};
pub(crate) use of::{
    Control, ControlOf, Export, Format, OfAgent, OfCertainRound, OfCitations, OfResponses, OfRound,
    Synthesize, agent_id,
};
pub(crate) use start::{Mode, Start};
