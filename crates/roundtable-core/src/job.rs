//! Jobs: something that a program needs computed outside, such as vectors. A job can be run again
//! under its ordinal, so it has no event for an interruption.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::stage::Name;

/// A job that was started and is not finished.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Job {
    /// What is computed, in the program's own word.
    pub name: Name,
    /// Which job of its round or aside, from 1.
    pub ordinal: u32,
}

/// How a job ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub enum JobOutcome {
    /// With a result.
    Done {
        /// The result.
        data: Value,
    },
    /// With an error.
    Failed {
        /// What went wrong.
        error: String,
    },
}

impl JobOutcome {
    /// The result, if there is one.
    pub fn data(&self) -> Option<&Value> {
        match self {
            Self::Done { data } => Some(data),
            Self::Failed { .. } => None,
        }
    }
}
