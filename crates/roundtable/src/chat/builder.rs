//! A chat that is being put together.

use roundtable_chat::Team;
use roundtable_core::agent::Agent;
use roundtable_core::budget::Limits;
use roundtable_core::id::{AgentId, ParseIdError};
use roundtable_core::settings::Settings;
use roundtable_core::tool::ToolDecl;
use roundtable_models::local;

use crate::engine::Engine;
use crate::error::Result;
use crate::session::Session;

/// What an agent does in the team.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    /// Answers the messages that name nobody.
    Supervisor,
    /// Can be delegated to.
    Worker,
    /// Answers only by name.
    CommandOnly,
    /// The first one is the supervisor. The others are delegated to by whoever names them.
    Participant,
}

/// A chat that is being put together. Without any agent it has the standard team.
pub struct ChatBuilder {
    engine: Engine,
    title: String,
    agents: Vec<(Place, std::result::Result<Agent, ParseIdError>, String)>,
    limits: Vec<(AgentId, Limits)>,
    settings: Settings,
}

impl ChatBuilder {
    pub(crate) fn new(engine: Engine, title: &str) -> Self {
        let (title, settings) = (title.to_owned(), Settings::default());
        Self { engine, title, agents: Vec::new(), limits: Vec::new(), settings }
    }

    /// Who answers the messages that name nobody, and may delegate to the workers.
    #[must_use]
    pub fn supervisor(self, agent: Agent) -> Self {
        self.add(Place::Supervisor, Ok(agent), "")
    }

    /// Adds a worker that the supervisor may delegate to. The supervisor is told the first sentence of
    /// its persona.
    #[must_use]
    pub fn worker(self, agent: Agent) -> Self {
        self.add(Place::Worker, Ok(agent), "")
    }

    /// The same, with what the supervisor is told about the worker.
    #[must_use]
    pub fn worker_for(self, agent: Agent, role: &str) -> Self {
        self.add(Place::Worker, Ok(agent), role)
    }

    /// Adds an agent that answers only messages that begin with `#` and its name.
    #[must_use]
    pub fn command_only(self, agent: Agent) -> Self {
        self.add(Place::CommandOnly, Ok(agent), "")
    }

    /// What one turn of an agent may spend: a mission of a worker, or an answer of the supervisor.
    #[must_use]
    pub fn limits(mut self, agent: &AgentId, limits: Limits) -> Self {
        self.limits.push((agent.clone(), limits));
        self
    }

    /// Adds an agent with this name, who uses the default model. The first agent is the supervisor.
    #[must_use]
    pub fn agent(self, name: &str) -> Self {
        let named = self.engine.named(name);
        self.add(Place::Participant, named, "")
    }

    /// Adds a fully specified agent. The first agent is the supervisor; who may delegate to whom is as
    /// the agents' `workers` say.
    #[must_use]
    pub fn participant(self, agent: Agent) -> Self {
        self.add(Place::Participant, Ok(agent), "")
    }

    /// Lets every agent so far ask for information that comes with the next round.
    #[must_use]
    pub fn may_request_context(self) -> Self {
        self.give(&ToolDecl::request_context())
    }

    /// Lets every agent so far ask the person in mid-turn.
    #[must_use]
    pub fn may_ask(self) -> Self {
        self.give(&ToolDecl::ask())
    }

    /// What the whole chat may spend.
    #[must_use]
    pub fn budget(mut self, limits: Limits) -> Self {
        self.settings.session_limits = limits;
        self
    }

    /// Opens the chat and leaves the first word to the person. Without a title it is named after its
    /// first round.
    ///
    /// # Errors
    /// [`crate::Error`] when it is refused, or something that its agents need is missing.
    pub async fn open(self) -> Result<Session> {
        let (engine, title, settings) =
            (self.engine.clone(), self.title.clone(), self.settings.clone());
        let mut opening = self.team()?.opening(&title);
        opening.settings = Settings { program: opening.settings.program, ..settings };
        engine.open(opening).await
    }

    fn add(
        mut self,
        place: Place,
        agent: std::result::Result<Agent, ParseIdError>,
        role: &str,
    ) -> Self {
        self.agents.push((place, agent, role.to_owned()));
        self
    }

    fn give(mut self, tool: &ToolDecl) -> Self {
        for agent in self.agents.iter_mut().filter_map(|(_, agent, _)| agent.as_mut().ok()) {
            agent.tools.push(tool.clone());
        }
        self
    }

    fn team(mut self) -> Result<Team> {
        let named = |(place, ..): &(Place, _, _)| *place == Place::Supervisor;
        let first = |(place, ..): &(Place, _, _)| *place == Place::Participant;
        let found = self.agents.iter().position(named);
        let found = found.or_else(|| self.agents.iter().position(first));
        let mut team = match found {
            Some(index) => Team::new(self.agents.remove(index).1?),
            None if self.agents.is_empty() => self.engine.standard_team()?,
            None => Team::assistant(self.engine.default_model())?,
        };
        for (place, agent, role) in self.agents {
            team = match place {
                Place::Worker => team.worker(agent?, &role),
                Place::CommandOnly => team.command_only(agent?, &role),
                Place::Supervisor | Place::Participant => team.member(agent?, &role, false),
            };
        }
        Ok(self.limits.into_iter().fold(team, |team, (agent, limits)| team.limits(&agent, limits)))
    }
}

impl Engine {
    /// The team of chats that name nobody: the one that the engine was built with, else the standard
    /// one. The local model uses no tools, so its supervisor delegates to nobody, and the others
    /// answer by name.
    ///
    /// # Errors
    /// [`crate::Error`] never happens with the names of the standard team.
    pub fn standard_team(&self) -> Result<Team> {
        if let Some(team) = self.configured_team() {
            return Ok(team.clone());
        }
        let model = self.default_model();
        Ok(if model == local::NAME { Team::by_name(model)? } else { Team::standard(model)? })
    }
}
