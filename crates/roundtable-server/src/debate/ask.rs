//! What callers ask of debates.

use jiff::Timestamp;
use roundtable::core::budget::Limits;
use roundtable::core::id::AgentId;
use roundtable::debate::{DebateStatus, Mode as CoreMode, Perspective as CorePerspective};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::problem::Problem;
use crate::wire::ContextResult;

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
    Name(String),
    Described {
        name: String,
        #[serde(default)]
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
pub(crate) struct Start {
    /// The question to be debated.
    #[schemars(length(min = 1, max = 10000))]
    pub topic: String,
    /// How the panel argues.
    #[serde(default)]
    #[schemars(extend("default" = "collaborative"))]
    pub mode: Option<Mode>,
    /// How many agents argue; they get roles that fit the mode. Not together with agents.
    #[serde(default)]
    #[schemars(range(min = 2, max = 10), extend("default" = 4))]
    pub agent_count: Option<usize>,
    /// Agents of the configuration, by id: see get_agents.
    #[serde(default)]
    #[schemars(length(min = 2, max = 10))]
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

impl Start {
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
                return refuse("say agentCount or agents, not both".to_owned());
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

/// The next round of a debate.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct GoOn {
    /// What the panel is to speak to in particular.
    #[serde(default)]
    #[schemars(length(min = 1, max = 10000))]
    pub focus_question: Option<String>,
    /// Answers to the contextRequests of earlier rounds. Every required one has to be answered, if only
    /// with success: false.
    #[serde(default)]
    #[schemars(length(max = 256))]
    pub context_results: Option<Vec<ContextResult>>,
    /// The number of the last round that you have seen: you get the one after it, which is run only if
    /// it does not exist yet. So a call can be repeated safely.
    #[serde(default)]
    pub after_round: Option<u32>,
    /// The token of the turn that you bring in, after an answer with status needs_turn.
    #[serde(default)]
    pub turn_token: Option<String>,
    /// What you answer to that turn's prompt.
    #[serde(default)]
    #[schemars(length(min = 1, max = 200000))]
    pub contribution: Option<String>,
}

/// The same, with the debate that it is about.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct GoOnWith {
    /// The debate.
    pub session_id: String,
    /// What the panel is to speak to in particular.
    #[serde(default)]
    #[schemars(length(min = 1, max = 10000))]
    pub focus_question: Option<String>,
    /// Answers to the contextRequests of earlier rounds, one per request. Every required one has to be
    /// answered, if only with success: false.
    #[serde(default)]
    #[schemars(length(max = 256))]
    pub context_results: Option<Vec<ContextResult>>,
    /// The number of the last round that you have seen: you get the one after it, which is run only if
    /// it does not exist yet. So a call can be repeated safely.
    #[serde(default)]
    pub after_round: Option<u32>,
    /// The token of the turn that you bring in, after an answer with status needs_turn.
    #[serde(default)]
    pub turn_token: Option<String>,
    /// What you answer to that turn's prompt.
    #[serde(default)]
    #[schemars(length(min = 1, max = 200000))]
    pub contribution: Option<String>,
}

impl GoOnWith {
    /// Without the debate.
    pub fn go_on(self) -> GoOn {
        GoOn {
            focus_question: self.focus_question,
            context_results: self.context_results,
            after_round: self.after_round,
            turn_token: self.turn_token,
            contribution: self.contribution,
        }
    }
}

/// A round of a debate; the last one if none is named.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct OfRound {
    /// The debate.
    pub session_id: String,
    /// The round; the last one if none is named.
    #[serde(default)]
    pub round_number: Option<u32>,
}

/// A certain round of a debate.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct OfCertainRound {
    /// The debate.
    pub session_id: String,
    /// The round.
    pub round_number: u32,
}

/// An agent of a debate.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct OfAgent {
    /// The debate.
    pub session_id: String,
    /// The agent.
    pub agent_id: String,
}

/// What an agent said, in a round or in all of them.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct OfResponses {
    /// The debate.
    pub session_id: String,
    /// The agent.
    pub agent_id: String,
    /// The round; all of them if none is named.
    #[serde(default)]
    pub round_number: Option<u32>,
}

/// Whose citations are asked for.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct OfCitations {
    /// The debate.
    pub session_id: String,
    /// Those of one round.
    #[serde(default)]
    pub round_number: Option<u32>,
    /// Those of one agent.
    #[serde(default)]
    pub agent_id: Option<String>,
}

/// Who is to sum a debate up.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Synthesize {
    /// The debate.
    pub session_id: String,
    /// The agent that sums up; the analyst, the chair or the first agent if none is named.
    #[serde(default)]
    pub synthesizer: Option<String>,
}

/// How a debate is written out.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Format {
    /// Minutes that one would send to colleagues.
    #[default]
    Markdown,
    /// All of it; it can be imported again.
    Json,
}

/// A debate to be written out.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Export {
    /// The debate.
    pub session_id: String,
    #[serde(default)]
    pub format: Format,
}

/// What is to happen to a debate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Control {
    /// Begin no more rounds until it is resumed.
    Pause,
    /// Begin rounds again.
    Resume,
    /// End it; what exists is kept.
    Stop,
}

/// The same, with the debate that it is about.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct ControlOf {
    /// The debate.
    pub session_id: String,
    pub action: Control,
}

/// How a debate stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Stands {
    Active,
    Paused,
    Completed,
    /// Nobody could answer in its last round; another may be tried.
    Error,
}

impl From<DebateStatus> for Stands {
    fn from(status: DebateStatus) -> Self {
        match status {
            DebateStatus::Active => Self::Active,
            DebateStatus::Paused => Self::Paused,
            DebateStatus::Completed => Self::Completed,
            DebateStatus::Error => Self::Error,
        }
    }
}

impl From<Stands> for DebateStatus {
    fn from(status: Stands) -> Self {
        match status {
            Stands::Active => Self::Active,
            Stands::Paused => Self::Paused,
            Stands::Completed => Self::Completed,
            Stands::Error => Self::Error,
        }
    }
}

/// Which debates are asked for. What is not said leaves nothing out.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub(crate) struct Debates {
    /// Those with this in their topic.
    pub topic: Option<String>,
    /// Those in a mode.
    pub mode: Option<Mode>,
    /// Those that stand so.
    pub status: Option<Stands>,
    /// Those that began then or later.
    #[schemars(with = "Option<String>", extend("format" = "date-time"))]
    pub from_date: Option<Timestamp>,
    /// Those that began then or earlier.
    #[schemars(with = "Option<String>", extend("format" = "date-time"))]
    pub to_date: Option<Timestamp>,
    /// How many.
    #[schemars(range(min = 1, max = 200), extend("default" = 50))]
    pub limit: Option<usize>,
}

/// An agent's id, with its prefix or without.
pub(crate) fn agent_id(text: &str) -> Result<AgentId, Problem> {
    let id = text.parse().or_else(|_| AgentId::new(text));
    id.map_err(|_| {
        Problem::not_found("there is no such agent in this debate; its answers name them")
    })
}
