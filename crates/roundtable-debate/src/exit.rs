//! Whether the panel agrees enough for the debate to end.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// From this agreement on the panel agrees.
const AGREED: f64 = 0.9;

/// From this confidence on an agent is sure.
const SURE: f64 = 0.85;

/// Why a debate ends before its last round.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "ExitCriterion")]
pub enum Exit {
    /// The panel agrees.
    Agreement,
    /// Everyone held the same position in two rounds in a row.
    Convergence,
    /// Everyone is sure.
    Confidence,
}

/// Why a debate ended before its last round.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "Exit")]
pub struct EarlyExit {
    /// The criterion that the round met.
    pub criterion: Exit,
    /// The reason, for people.
    pub reason: &'static str,
}

impl From<Exit> for EarlyExit {
    fn from(criterion: Exit) -> Self {
        Self { criterion, reason: criterion.reason() }
    }
}

impl Exit {
    /// Why, for people.
    pub fn reason(self) -> &'static str {
        match self {
            Self::Agreement => "consensus: the panel agrees (agreement of 0.9 or more)",
            Self::Convergence => "consensus: no position changed in two consecutive rounds",
            Self::Confidence => "consensus: all agents are confident (0.85 or more)",
        }
    }

    /// The exit that a round allows, if one: the first that holds, in this order.
    pub fn find(agreement: f64, steady: bool, confidences: &[Option<f64>]) -> Option<Self> {
        let sure = |confidence: &Option<f64>| confidence.is_some_and(|value| value >= SURE);
        if agreement >= AGREED {
            Some(Self::Agreement)
        } else if steady {
            Some(Self::Convergence)
        } else if !confidences.is_empty() && confidences.iter().all(sure) {
            Some(Self::Confidence)
        } else {
            None
        }
    }
}
