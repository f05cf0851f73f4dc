//! The answer to a call for a round: its findings, and what to do next.

use roundtable::debate::{Findings, RoundStatus};
use schemars::JsonSchema;
use serde::Serialize;

use super::consent::Caller;
use crate::host::HostTurn;

/// The answer to a request for a round.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RoundAnswer {
    #[serde(flatten)]
    pub findings: Findings,
    /// What to do next.
    pub next_step: String,
    /// The turn that your model has to answer, if status is needs_turn.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub turn: Option<HostTurn>,
    /// Parts of the request that had no effect.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(default)]
    pub warnings: Vec<String>,
}

impl RoundAnswer {
    pub fn of(
        mut findings: Findings,
        caller: Caller,
        turn: Option<HostTurn>,
        warnings: Vec<String>,
    ) -> Self {
        let turn = turn.filter(|_| findings.open);
        if turn.is_some() {
            findings.status = RoundStatus::NeedsTurn;
        }
        Self { next_step: caller.next_step(&findings), findings, turn, warnings }
    }
}
