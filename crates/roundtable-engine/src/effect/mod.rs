//! What a session wants of the world: models asked, tools run, jobs done. Each effect is a
//! task of its own that reports once.

pub(crate) mod job;
mod model;
mod tool;

pub(crate) use model::ModelCall;
pub(crate) use tool::ToolRun;
