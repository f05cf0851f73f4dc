//! The next round of a debate.

use schemars::JsonSchema;
use serde::Deserialize;

use super::start::Budget;
use crate::wire::ContextResult;

/// Request for the next round of a debate.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct ContinueRequest {
    /// A question for the next round to focus on.
    #[serde(default)]
    #[schemars(length(min = 1, max = 10000))]
    pub focus_question: Option<String>,
    /// Answers to contextRequests, one per request. Every required question needs an answer before
    /// the next round; success: false counts as an answer. Decisions on approvals and unknown
    /// outcomes are also accepted while their round is running.
    #[serde(default)]
    #[schemars(length(max = 4096))]
    pub context_results: Option<Vec<ContextResult>>,
    /// The number of the last round that you have seen. The answer is the round after it, which
    /// runs only if it does not exist yet. This makes retries safe.
    #[serde(default)]
    pub after_round: Option<u32>,
    /// New budget of the whole debate, including what it has spent so far. Omitted limits stay
    /// unchanged.
    #[serde(default)]
    pub budget: Option<Budget>,
    /// The turnToken of the previous answer, if its status was needs_turn.
    #[serde(default)]
    #[schemars(length(max = 64))]
    pub turn_token: Option<String>,
    /// Your answer to turn.prompt.
    #[serde(default)]
    #[schemars(length(min = 1, max = 200000))]
    pub contribution: Option<String>,
}
