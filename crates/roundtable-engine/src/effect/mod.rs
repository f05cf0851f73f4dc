//! What a session wants of the world: models asked, tools run, positions measured. Each effect is a
//! task of its own that reports once.

mod measure;
mod model;
mod tool;

pub(crate) use measure::measure;
pub(crate) use model::ModelCall;
pub(crate) use tool::ToolRun;
