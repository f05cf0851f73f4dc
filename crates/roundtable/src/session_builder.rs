//! A session that is being put together.

use roundtable_core::agent::Agent;
use roundtable_core::budget::Limits;
use roundtable_core::event::Opening;
use roundtable_core::settings::{Order, Settings};
use roundtable_core::stage::Name;
use roundtable_core::tool::ToolDecl;

use crate::engine::Engine;
use crate::error::Result;
use crate::session::Session;

/// The kind of scenes.
pub(crate) const SCENE: Name = Name::constant("scene");

/// A session that is being put together.
pub struct SessionBuilder {
    engine: Engine,
    kind: Name,
    topic: String,
    agents: Vec<std::result::Result<Agent, roundtable_core::id::ParseIdError>>,
    settings: Settings,
}

impl SessionBuilder {
    pub(crate) fn new(engine: Engine, kind: Name, topic: &str) -> Self {
        let order = if kind == SCENE { Order::Sequential } else { Order::Parallel };
        let settings = Settings { order, ..Settings::default() };
        Self { engine, kind, topic: topic.to_owned(), agents: Vec::new(), settings }
    }

    /// Adds an agent with this name, who uses the default model.
    #[must_use]
    pub fn agent(mut self, name: &str) -> Self {
        self.agents.push(self.engine.named(name));
        self
    }

    /// Adds a fully specified agent.
    #[must_use]
    pub fn participant(mut self, agent: Agent) -> Self {
        self.agents.push(Ok(agent));
        self
    }

    /// Lets every agent so far ask for information.
    #[must_use]
    pub fn may_request_context(mut self) -> Self {
        for agent in self.agents.iter_mut().flatten() {
            agent.tools.push(ToolDecl::request_context());
        }
        self
    }

    /// Lets the agents speak one after another, each hearing those before it.
    #[must_use]
    pub fn sequential(mut self) -> Self {
        self.settings.order = Order::Sequential;
        self
    }

    /// Ends the session after so many rounds.
    #[must_use]
    pub fn rounds(mut self, rounds: u32) -> Self {
        self.settings.total_rounds = Some(rounds);
        self
    }

    /// What the whole session may spend.
    #[must_use]
    pub fn budget(mut self, limits: Limits) -> Self {
        self.settings.session_limits = limits;
        self
    }

    /// Opens the session and leaves the first word to the caller.
    ///
    /// # Errors
    /// [`crate::Error`] when it is refused, or something that its agents need is missing.
    pub async fn open(self) -> Result<Session> {
        let agents = self.agents.into_iter().collect::<std::result::Result<Vec<Agent>, _>>()?;
        let opening = Opening {
            kind: self.kind,
            topic: self.topic,
            agents,
            settings: self.settings,
            actor: None,
            tenant: None,
        };
        self.engine.open(opening).await
    }

    /// Opens the session, puts the topic to the agents, and runs all of its rounds (one, unless
    /// [`SessionBuilder::rounds`] sets more). It returns at once: [`Session::wait_current`] waits for the
    /// round that is open. A round waits for context that the one before it asked for.
    ///
    /// # Errors
    /// [`crate::Error`] when it is refused, or something that its agents need is missing.
    pub async fn run(mut self) -> Result<Session> {
        self.settings.auto_continue = true;
        let topic = self.topic.clone();
        let session = self.open().await?;
        session.say(&topic).await?;
        Ok(session)
    }
}
