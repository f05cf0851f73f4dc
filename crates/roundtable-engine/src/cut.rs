//! Calls that were still running when an engine stopped.

use std::fmt;

use roundtable_core::id::SessionId;

/// A call that was cut off because the engine stopped before it had ended. Whoever drives the session
/// next declares it interrupted, and makes it again where that is safe.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct CutCall {
    /// The session.
    pub session: SessionId,
    /// The name of the agent that it was made for; none for a job.
    pub agent: Option<String>,
    /// What was called.
    pub target: CutTarget,
}

/// What was called.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum CutTarget {
    /// A model, by the name that agents use.
    Model(String),
    /// A tool.
    Tool(String),
    /// A job of the session's program.
    Job(String),
}

impl fmt::Display for CutCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.session)?;
        match &self.target {
            CutTarget::Model(name) => write!(f, "call of model {name}")?,
            CutTarget::Tool(name) => write!(f, "call of tool {name}")?,
            CutTarget::Job(name) => write!(f, "job {name}")?,
        }
        match &self.agent {
            Some(agent) => write!(f, " for {agent}"),
            None => Ok(()),
        }
    }
}
