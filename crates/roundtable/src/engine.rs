//! The engine, as an embedder holds it.

use std::sync::Arc;

#[cfg(feature = "sqlite")]
use roundtable_backend::PermissionNotice;
use roundtable_chat::Team;
use roundtable_core::Reject;
use roundtable_core::agent::Agent;
use roundtable_core::event::{Opening, Origin};
use roundtable_core::id::{ParseIdError, SessionId};
use roundtable_core::input::Command;
use roundtable_debate::{Debate as Program, Record};
use roundtable_engine::CutCall;
use roundtable_ports::{Embedder, Selection, SessionListing};

use crate::builder::Builder;
use crate::chat::ChatBuilder;
use crate::debate::{Debate, DebateBuilder, Folds};
use crate::error::Result;
use crate::search::Searcher;
use crate::session::Session;
use crate::session_builder::{SCENE, SessionBuilder};

/// The engine. Cheap to clone; all clones are one engine.
#[derive(Clone)]
pub struct Engine {
    driver: roundtable_engine::Engine,
    defaults: Arc<Defaults>,
    folds: Folds,
    searcher: Searcher,
}

/// What sessions are made of when nobody says.
#[derive(Default)]
pub(crate) struct Defaults {
    /// The model of agents that are only named.
    pub model: String,
    /// The model that judges debates.
    pub analyst: Option<String>,
    /// How long the answers of agents may be of whom nobody says it, in tokens.
    pub max_tokens: Option<u32>,
    /// The agents that can be named.
    pub agents: Vec<Agent>,
    /// The team that answers chats that name nobody; the standard one, where there is none.
    pub team: Option<Team>,
    /// What was too open to other users in the data directory.
    #[cfg(feature = "sqlite")]
    pub permissions: Vec<PermissionNotice>,
}

impl Engine {
    /// An engine to be put together.
    pub fn builder() -> Builder {
        Builder::default()
    }

    pub(crate) fn new(
        driver: roundtable_engine::Engine,
        defaults: Defaults,
        embedder: Option<Arc<dyn Embedder>>,
    ) -> Self {
        let parts = driver.parts();
        let searcher = Searcher::new(parts.store.clone(), embedder, parts.clock.clone());
        Self { driver, defaults: Arc::new(defaults), folds: Folds::default(), searcher }
    }

    pub(crate) fn searcher(&self) -> &Searcher {
        &self.searcher
    }

    /// A debate to be held: a panel argues a question in rounds and says how far it agrees.
    pub fn debate(&self, question: &str) -> DebateBuilder {
        DebateBuilder::new(self.clone(), question)
    }

    /// A debate of this engine. Whether there is one shows when it is used.
    pub fn find_debate(&self, id: &SessionId) -> Debate {
        Debate::new(self.session(id), self.folds.clone())
    }

    /// Keeps a debate that was exported, to be read. It is over: nobody goes on with it.
    ///
    /// # Errors
    /// [`crate::Error`] when the text is no exported debate; it says what is wrong.
    pub async fn import_debate(&self, json: &str) -> Result<Debate> {
        let record = Record::import(json)?;
        let debate = self.find_debate(&SessionId::new(&self.driver.parts().ids.fresh())?);
        debate.session().command(Command::Import(Box::new(record.imported()))).await?;
        Ok(debate)
    }

    /// A panel to be put together: agents answer side by side or one after another, without the
    /// roles and the consensus of a debate.
    pub fn panel(&self, question: &str) -> SessionBuilder {
        SessionBuilder::new(self.clone(), Program::KIND, question)
    }

    /// A chat to be opened: a supervisor answers, and may delegate to workers. Without a title it is
    /// named after its first round; without agents the standard team answers.
    pub fn chat(&self, title: &str) -> ChatBuilder {
        ChatBuilder::new(self.clone(), title)
    }

    /// A scene to be opened: a player and a cast of characters, one after another.
    pub fn scene(&self, title: &str) -> SessionBuilder {
        SessionBuilder::new(self.clone(), SCENE, title)
    }

    /// Opens a fully specified session.
    ///
    /// # Errors
    /// [`crate::Error`] when it is refused, or something that its agents need is missing.
    pub async fn open(&self, opening: Opening) -> Result<Session> {
        Ok(Session::new(self.driver.open(opening).await?))
    }

    /// A session of this engine. Whether there is one shows when it is used.
    pub fn session(&self, id: &SessionId) -> Session {
        Session::new(self.driver.session(id))
    }

    /// Opens a session as a copy of another one's past, up to the end of a round.
    ///
    /// # Errors
    /// [`crate::Error`] when there is no such session, or no round ends there.
    pub async fn fork(&self, origin: Origin) -> Result<Session> {
        Ok(Session::new(self.driver.fork(origin, None).await?))
    }

    /// Deletes a session for good. Its round is cut off first, and whoever reads it is told.
    ///
    /// # Errors
    /// [`crate::Error`] when there is no such session, a fork needs its history, or another process
    /// has not let it go yet.
    pub async fn delete(&self, session: &SessionId) -> Result<()> {
        Ok(self.driver.delete(session).await?)
    }

    /// The newest sessions.
    ///
    /// # Errors
    /// [`crate::Error`] when the store cannot be read.
    pub async fn sessions(&self, limit: usize) -> Result<Vec<SessionListing>> {
        let listed = self.driver.parts().store.directory.list(limit).await;
        Ok(listed.map_err(roundtable_engine::EngineError::from)?)
    }

    /// The newest of these sessions.
    ///
    /// # Errors
    /// [`crate::Error`] when the store cannot be read.
    pub async fn select(&self, selection: &Selection, limit: usize) -> Result<Vec<SessionListing>> {
        let listed = self.driver.parts().store.directory.select(selection, limit).await;
        Ok(listed.map_err(roundtable_engine::EngineError::from)?)
    }

    /// The session with this id, as lists show it. It is not loaded for that.
    ///
    /// # Errors
    /// [`crate::Error`] when the store cannot be read.
    pub async fn find(&self, session: &SessionId) -> Result<Option<SessionListing>> {
        let listed = self.driver.parts().store.directory.find(session).await;
        Ok(listed.map_err(roundtable_engine::EngineError::from)?)
    }

    /// Stops in an orderly way: takes nothing new, waits for what runs, commits it.
    pub async fn shutdown(&self) {
        self.driver.shutdown().await;
    }

    /// Stops at once. What was committed is kept.
    pub async fn stop(&self) {
        self.driver.stop().await;
    }

    /// The calls that were cut off by [`Engine::stop`], or by a shutdown that ran out of time.
    pub fn cut_calls(&self) -> Vec<CutCall> {
        self.driver.cut_calls()
    }

    /// What was too open to other users in the directory of [`Builder::sqlite`] when the engine
    /// started. The library prints nothing: whoever embeds it decides who is told.
    #[cfg(feature = "sqlite")]
    pub fn permission_notices(&self) -> &[PermissionNotice] {
        &self.defaults.permissions
    }

    /// The engine underneath, for what this interface does not offer.
    pub fn driver(&self) -> &roundtable_engine::Engine {
        &self.driver
    }

    /// The agents that can be named.
    pub fn agents(&self) -> &[Agent] {
        &self.defaults.agents
    }

    /// The agent with this id, or with this part after `agt_`.
    ///
    /// # Errors
    /// [`crate::Error`] with the agents that there are, when none has this id.
    pub fn known_agent(&self, id: &str) -> Result<&Agent> {
        let found =
            self.agents().iter().find(|agent| agent.id.as_str() == id || agent.id.suffix() == id);
        found.ok_or_else(|| {
            let known: Vec<&str> = self.agents().iter().map(|agent| agent.id.suffix()).collect();
            let shown: String = id.chars().take(64).collect();
            let what = match known.as_slice() {
                [] => format!("unknown agent \"{shown}\"; no agents are configured"),
                known => format!("unknown agent \"{shown}\"; available: {}", known.join(", ")),
            };
            Reject::Invalid { what }.into()
        })
    }

    pub(crate) fn configured_team(&self) -> Option<&Team> {
        self.defaults.team.as_ref()
    }

    pub(crate) fn default_model(&self) -> &str {
        &self.defaults.model
    }

    /// An agent of whom only the name is known.
    pub(crate) fn named(&self, name: &str) -> Result<Agent, ParseIdError> {
        Agent::new(name, self.default_model()).map(|agent| self.sized(agent))
    }

    /// An agent that was made here, with answers of the length that holds for all.
    pub(crate) fn sized(&self, agent: Agent) -> Agent {
        let max_tokens = self.defaults.max_tokens.unwrap_or(agent.max_tokens);
        Agent { max_tokens, ..agent }
    }

    pub(crate) fn analyst(&self) -> Option<&str> {
        self.defaults.analyst.as_deref()
    }
}
