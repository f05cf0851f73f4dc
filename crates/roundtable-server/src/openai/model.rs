//! What clients call a model: someone who answers here. The supervisor of a chat with its team, one
//! agent, or a panel that debates.

use http::StatusCode;
use roundtable::core::id::AgentId;
use roundtable::debate::Mode;
use serde_json::{Value, json};

use crate::problem::Problem;
use crate::sessions::Sessions;

/// The model that is the supervisor of the configured team.
const CHAT: &str = "chat";

/// The model that is a panel.
const DEBATE: &str = "debate";

/// Someone who answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Model {
    /// The supervisor of the configured team, or else of the standard one.
    Team,
    /// A configured agent, with those that it may delegate to.
    Agent(AgentId),
    /// A panel that debates the last message for one round.
    Panel(Mode),
}

impl Model {
    /// All of them, as far as the configuration goes.
    pub fn all(sessions: &Sessions) -> Vec<Self> {
        let agents = sessions.agents().iter().map(|agent| Self::Agent(agent.id.clone()));
        let panels = Mode::ALL.into_iter().map(Self::Panel);
        [Self::Team].into_iter().chain(agents).chain(panels).collect()
    }

    /// The one with this name. `debate` alone is the default mode.
    pub fn find(sessions: &Sessions, name: &str) -> Result<Self, Problem> {
        if name == DEBATE {
            return Ok(Self::Panel(Mode::default()));
        }
        let found = Self::all(sessions).into_iter().find(|model| model.name() == name);
        found.ok_or_else(|| {
            let shown: String = name.chars().filter(|c| !c.is_control()).take(64).collect();
            let what =
                format!("The model \"{shown}\" does not exist; GET /v1/models lists the models");
            Problem::new(StatusCode::NOT_FOUND, "model_not_found", what).with("param", "model")
        })
    }

    /// What clients call it.
    pub fn name(&self) -> String {
        match self {
            Self::Team => CHAT.to_owned(),
            Self::Agent(agent) => format!("{CHAT}:{}", agent.suffix()),
            Self::Panel(mode) => format!("{DEBATE}:{}", mode.name()),
        }
    }

    pub fn describe(&self) -> Value {
        // Clients require a time, and nothing here was made at one.
        json!({ "id": self.name(), "object": "model", "created": 0, "owned_by": "roundtable" })
    }
}
