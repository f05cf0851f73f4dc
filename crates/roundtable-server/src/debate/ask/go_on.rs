//! The next round of a debate.

use schemars::JsonSchema;
use serde::Deserialize;

use super::start::Budget;
use crate::wire::ContextResult;

/// The next round of a debate.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct ContinueRequest {
    /// What the panel is to speak to in particular.
    #[serde(default)]
    #[schemars(length(min = 1, max = 10000))]
    pub focus_question: Option<String>,
    /// Answers to contextRequests, one per request. Every required question has to be answered before
    /// the next round, if only with success: false. Decisions on approvals and unknown outcomes are
    /// also taken while their round runs.
    #[serde(default)]
    #[schemars(length(max = 4096))]
    pub context_results: Option<Vec<ContextResult>>,
    /// The number of the last round that you have seen: you get the one after it, which is run only if
    /// it does not exist yet. So a call can be repeated safely.
    #[serde(default)]
    pub after_round: Option<u32>,
    /// What the whole debate may spend from here on, what it has spent included. A limit that is not
    /// named stays as it is.
    #[serde(default)]
    pub budget: Option<Budget>,
    /// The token of the turn that you bring in, after an answer with status needs_turn.
    #[serde(default)]
    #[schemars(length(max = 64))]
    pub turn_token: Option<String>,
    /// What you answer to that turn's prompt.
    #[serde(default)]
    #[schemars(length(min = 1, max = 200000))]
    pub contribution: Option<String>,
}
