//! What callers ask of debates.

mod about;
mod go_on;
mod list;
mod of;
mod start;

pub(crate) use about::About;
pub(crate) use go_on::GoOn;
pub(crate) use list::{Debates, Stands};
pub(crate) use of::{
    Control, Export, Format, OfAgent, OfCertainRound, OfCitations, OfResponses, OfRound, SumUp,
    Told, agent_id,
};
pub(crate) use start::{Budget, Mode, Start};
