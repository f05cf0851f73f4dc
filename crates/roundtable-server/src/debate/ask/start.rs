//! A debate to be started.

use roundtable::core::budget::Limits;
use roundtable::debate::{Mode, Perspective as CorePerspective};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::problem::Problem;

/// A perspective: a name, or a name with a description.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum Perspective {
    Name(#[schemars(length(min = 1, max = 200))] String),
    Described {
        #[schemars(length(min = 1, max = 200))]
        name: String,
        #[serde(default)]
        #[schemars(length(max = 2000))]
        description: Option<String>,
    },
}

impl From<Perspective> for CorePerspective {
    fn from(perspective: Perspective) -> Self {
        match perspective {
            Perspective::Name(name) => Self { name, description: None },
            Perspective::Described { name, description } => Self { name, description },
        }
    }
}

/// Budget of the whole debate. When it is exhausted, agents stop with partial answers.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Budget {
    /// Model calls.
    pub calls: Option<u64>,
    /// Tokens of prompts and replies.
    pub tokens: Option<u64>,
    /// Dollars.
    #[schemars(range(min = 0.0))]
    pub dollars: Option<f64>,
}

impl Budget {
    pub fn limits(&self) -> Limits {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "not negative")]
        let cost = self.dollars.map(|dollars| (dollars.max(0.0) * 1e6).round() as u64);
        Limits { calls: self.calls, tokens: self.tokens, cost, time_ms: None }
    }
}

/// Request to start a debate.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct StartRequest {
    /// The question to debate, with all background that the agents need.
    #[schemars(length(min = 1, max = 10000))]
    pub topic: String,
    /// Debate mode.
    #[serde(default)]
    #[schemars(extend("default" = "collaborative"))]
    pub mode: Option<Mode>,
    /// Number of agents. They get roles of the mode. Default: one per perspective, or 4. Not valid
    /// together with agents.
    #[serde(default)]
    #[schemars(range(min = 2, max = 10))]
    pub agent_count: Option<usize>,
    /// Ids of configured agents.
    #[serde(default)]
    #[schemars(length(min = 2, max = 10), inner(length(max = 64)))]
    pub agents: Option<Vec<String>>,
    /// Maximum number of rounds. Each call runs one round.
    #[serde(default)]
    #[schemars(range(min = 1, max = 100), extend("default" = 3))]
    pub rounds: Option<u32>,
    /// End the debate as soon as the panel agrees.
    #[serde(default)]
    #[schemars(extend("default" = false))]
    pub exit_on_consensus: Option<bool>,
    /// Perspectives of the agents, in seat order.
    #[serde(default)]
    #[schemars(length(max = 10))]
    pub perspectives: Option<Vec<Perspective>>,
    /// Budget of the whole debate.
    #[serde(default)]
    pub budget: Option<Budget>,
    /// Idempotency key. A request with the same key returns the same debate and costs nothing.
    #[serde(default)]
    #[schemars(length(min = 1, max = 200))]
    pub idempotency_key: Option<String>,
}

impl StartRequest {
    /// What the types do not say.
    pub fn check(&self) -> Result<(), Problem> {
        let refuse = |what: String| Err(Problem::bad_request("invalid", what));
        let length = self.topic.chars().count();
        if self.topic.trim().is_empty() || length > 10_000 {
            return refuse(format!("topic must have 1 to 10000 characters; this one has {length}"));
        }
        if let Some(count) = self.agent_count.filter(|count| !(2..=10).contains(count)) {
            return refuse(format!("agentCount must be between 2 and 10, not {count}"));
        }
        match &self.agents {
            Some(_) if self.agent_count.is_some() => {
                return refuse("pass agentCount or agents, not both".to_owned());
            }
            Some(agents) if !(2..=10).contains(&agents.len()) => {
                return refuse(format!("a debate needs 2 to 10 agents, not {}", agents.len()));
            }
            _ => {}
        }
        if self.rounds.is_some_and(|rounds| !(1..=100).contains(&rounds)) {
            return refuse("rounds must be between 1 and 100".to_owned());
        }
        if self.perspectives.as_ref().is_some_and(|given| given.len() > 10) {
            return refuse("at most 10 perspectives are allowed, one per agent".to_owned());
        }
        if self.idempotency_key.as_ref().is_some_and(|key| key.is_empty() || key.len() > 200) {
            return refuse("idempotencyKey must have 1 to 200 characters".to_owned());
        }
        Ok(())
    }
}
