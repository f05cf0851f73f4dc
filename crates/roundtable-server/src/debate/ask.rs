//! What callers ask of debates.

mod go_on;
mod list;
mod of;
mod start;

pub(crate) use go_on::ContinueRequest;
pub(crate) use list::DebatesQuery;
pub(crate) use of::{
    AgentQuery, CitationsQuery, Control, ControlRequest, ExportQuery, Format, LastRoundQuery,
    ResponsesQuery, RoundQuery, SynthesisRequest, agent_id,
};
pub(crate) use start::{Budget, StartRequest};
