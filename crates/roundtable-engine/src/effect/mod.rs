//! What a session wants of the world: models asked, tools run. Each effect is a task of its own
//! that reports once.

mod model;
mod tool;

pub(crate) use model::ModelCall;
pub(crate) use tool::ToolRun;
