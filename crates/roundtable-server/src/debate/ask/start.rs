//! A debate to be started.

use roundtable::core::budget::Limits;
use roundtable::debate::{Mode as CoreMode, Perspective as CorePerspective};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::problem::Problem;

/// How the panel argues.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Mode {
    /// Build on each other and find what all can stand behind.
    #[default]
    Collaborative,
    /// Proponents and opponents attack the strongest form of each other's case.
    Adversarial,
    /// Questioners probe, respondents account for what they hold.
    Socratic,
    /// Each seat speaks from a point of view of its own.
    ExpertPanel,
    /// Some have to be for, some against, the rest weigh.
    DevilsAdvocate,
    /// Nobody knows whose answer it is; everyone sees the figures of the round before.
    Delphi,
    /// One team attacks a plan, the other defends it.
    RedTeamBlueTeam,
    /// All answer, all rank the answers without names, and a chair writes the verdict.
    Council,
}

impl From<Mode> for CoreMode {
    fn from(mode: Mode) -> Self {
        match mode {
            Mode::Collaborative => Self::Collaborative,
            Mode::Adversarial => Self::Adversarial,
            Mode::Socratic => Self::Socratic,
            Mode::ExpertPanel => Self::ExpertPanel,
            Mode::DevilsAdvocate => Self::DevilsAdvocate,
            Mode::Delphi => Self::Delphi,
            Mode::RedTeamBlueTeam => Self::RedTeamBlueTeam,
            Mode::Council => Self::Council,
        }
    }
}

impl From<CoreMode> for Mode {
    fn from(mode: CoreMode) -> Self {
        match mode {
            CoreMode::Collaborative => Self::Collaborative,
            CoreMode::Adversarial => Self::Adversarial,
            CoreMode::Socratic => Self::Socratic,
            CoreMode::ExpertPanel => Self::ExpertPanel,
            CoreMode::DevilsAdvocate => Self::DevilsAdvocate,
            CoreMode::Delphi => Self::Delphi,
            CoreMode::RedTeamBlueTeam => Self::RedTeamBlueTeam,
            CoreMode::Council => Self::Council,
        }
    }
}

/// A point of view of a seat: its name, or its name and what it looks at.
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

/// What the whole debate may spend. When it is spent, agents end with what they have.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Budget {
    /// Model calls.
    pub calls: Option<u64>,
    /// Tokens, prompts and replies together.
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

/// A debate to be started.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct StartRequest {
    /// The question to be debated.
    #[schemars(length(min = 1, max = 10000))]
    pub topic: String,
    /// How the panel argues.
    #[serde(default)]
    #[schemars(extend("default" = "collaborative"))]
    pub mode: Option<Mode>,
    /// How many agents argue; they get roles that fit the mode. By default one per perspective, or 4
    /// without perspectives. Not valid together with agents.
    #[serde(default)]
    #[schemars(range(min = 2, max = 10))]
    pub agent_count: Option<usize>,
    /// Agents of the configuration, by id: see get_agents.
    #[serde(default)]
    #[schemars(length(min = 2, max = 10), inner(length(max = 64)))]
    pub agents: Option<Vec<String>>,
    /// How many rounds there are at most. Each call runs one.
    #[serde(default)]
    #[schemars(range(min = 1, max = 100), extend("default" = 3))]
    pub rounds: Option<u32>,
    /// Whether the debate ends as soon as the panel agrees.
    #[serde(default)]
    #[schemars(extend("default" = false))]
    pub exit_on_consensus: Option<bool>,
    /// Points of view of the seats, from the first.
    #[serde(default)]
    #[schemars(length(max = 10))]
    pub perspectives: Option<Vec<Perspective>>,
    /// What the whole debate may spend.
    #[serde(default)]
    pub budget: Option<Budget>,
    /// Sent again with the same key, the same debate is answered and nothing is paid twice.
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
            return refuse(format!("topic needs 1 to 10000 characters, this one has {length}"));
        }
        if let Some(count) = self.agent_count.filter(|count| !(2..=10).contains(count)) {
            return refuse(format!("agentCount is a number from 2 to 10, not {count}"));
        }
        match &self.agents {
            Some(_) if self.agent_count.is_some() => {
                return refuse("pass agentCount or agents, not both".to_owned());
            }
            Some(agents) if !(2..=10).contains(&agents.len()) => {
                return refuse(format!("a debate has 2 to 10 agents, not {}", agents.len()));
            }
            _ => {}
        }
        if self.rounds.is_some_and(|rounds| !(1..=100).contains(&rounds)) {
            return refuse("rounds is a number from 1 to 100".to_owned());
        }
        if self.perspectives.as_ref().is_some_and(|given| given.len() > 10) {
            return refuse("perspectives are 10 at most: one per seat".to_owned());
        }
        if self.idempotency_key.as_ref().is_some_and(|key| key.is_empty() || key.len() > 200) {
            return refuse("idempotencyKey needs 1 to 200 characters".to_owned());
        }
        Ok(())
    }
}
