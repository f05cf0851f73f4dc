//! A debate that is being put together.

use roundtable_core::Reject;
use roundtable_core::agent::Agent;
use roundtable_core::budget::Limits;
use roundtable_core::digest::Digest;
use roundtable_core::event::Opening;
use roundtable_core::id::{AgentId, CommandId, ParseIdError, SessionId};
use roundtable_core::settings::Settings;
use roundtable_core::tool::{Runs, ToolDecl};
use roundtable_debate::{Debate as Program, Mode, Perspective, Quote, Rules};
use roundtable_ports::CommandKey;

use super::cast;
use super::handle::{ContinueRequest, Debate};
use crate::engine::Engine;
use crate::error::Result;

/// How many argue when nobody says.
const SEATS: usize = 4;

/// How many rounds there are when nobody says.
const ROUNDS: u32 = 3;

/// A debate that is being put together.
///
/// ```
/// use roundtable::prelude::*;
///
/// # async fn hold(engine: &Engine) -> roundtable::Result<()> {
/// let debate = engine.debate("Should we rewrite it in Rust?").mode(Mode::Adversarial).agents(2).rounds(2);
/// println!("at most {:?} tokens", debate.quote()?.output);
/// let debate = debate.start().await?;
/// let first = debate.wait(1).await?;
/// println!("{}: {}", first.consensus.level.word(), first.consensus.summary);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct DebateBuilder {
    engine: Engine,
    topic: String,
    mode: Mode,
    seats: Vec<std::result::Result<Agent, ParseIdError>>,
    count: Option<usize>,
    perspectives: Vec<Perspective>,
    rounds: u32,
    exit_on_consensus: bool,
    limits: Limits,
    analyst: Option<Agent>,
    uses_analyst: bool,
    chair: Option<Agent>,
    asks: bool,
    key: Option<String>,
    key_digest: Option<Digest>,
    actor: Option<String>,
    tenant: Option<String>,
}

impl DebateBuilder {
    pub(crate) fn new(engine: Engine, topic: &str) -> Self {
        Self {
            engine,
            topic: topic.to_owned(),
            mode: Mode::default(),
            seats: Vec::new(),
            count: None,
            perspectives: Vec::new(),
            rounds: ROUNDS,
            exit_on_consensus: false,
            limits: Limits::default(),
            analyst: None,
            uses_analyst: true,
            chair: None,
            asks: true,
            key: None,
            key_digest: None,
            actor: None,
            tenant: None,
        }
    }

    /// How the panel argues; collaboratively when nobody says.
    #[must_use]
    pub fn mode(mut self, mode: Mode) -> Self {
        self.mode = mode;
        self
    }

    /// Adds an agent with this name, who uses the default model.
    #[must_use]
    pub fn agent(mut self, name: &str) -> Self {
        self.seats.push(self.engine.named(name));
        self
    }

    /// Adds a fully specified agent.
    #[must_use]
    pub fn participant(mut self, agent: Agent) -> Self {
        self.seats.push(Ok(agent));
        self
    }

    /// Adds agents that the engine knows, by id or by the part after `agt_`.
    ///
    /// # Errors
    /// [`crate::Error`] when one of them is not known.
    pub fn known(mut self, ids: &[impl AsRef<str>]) -> Result<Self> {
        for id in ids {
            self.seats.push(Ok(self.engine.known_agent(id.as_ref())?.clone()));
        }
        Ok(self)
    }

    /// Makes this many agents for the mode, spread over the models of the engine. Without it, there
    /// is one agent per perspective, or four without perspectives. Ignored when agents are named.
    #[must_use]
    pub fn agents(mut self, count: usize) -> Self {
        self.count = Some(count);
        self
    }

    /// The points of view of the seats. An expert panel without any has them named by the analyst's
    /// model, or uses the usual ones.
    #[must_use]
    pub fn perspectives(mut self, perspectives: impl IntoIterator<Item = Perspective>) -> Self {
        self.perspectives = perspectives.into_iter().collect();
        self
    }

    /// Ends the debate after so many rounds; three when nobody says.
    #[must_use]
    pub fn rounds(mut self, rounds: u32) -> Self {
        self.rounds = rounds;
        self
    }

    /// Ends the debate as soon as the panel agrees.
    #[must_use]
    pub fn exit_on_consensus(mut self) -> Self {
        self.exit_on_consensus = true;
        self
    }

    /// Budget of the whole debate.
    #[must_use]
    pub fn budget(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Has this agent judge after each round how far the panel agrees, instead of the engine's own
    /// analyst.
    #[must_use]
    pub fn analyst(mut self, agent: Agent) -> Self {
        self.analyst = Some(agent);
        self
    }

    /// Has no model judge; the measure without a model is made all the same.
    #[must_use]
    pub fn without_analyst(mut self) -> Self {
        self.uses_analyst = false;
        self
    }

    /// Has this agent chair the council; otherwise one is made for it.
    #[must_use]
    pub fn chair(mut self, agent: Agent) -> Self {
        self.chair = Some(agent);
        self
    }

    /// Does not let the agents ask for information.
    #[must_use]
    pub fn without_context_requests(mut self) -> Self {
        self.asks = false;
        self
    }

    /// A name for this wish: starting it again under the same name gives the same debate.
    #[must_use]
    pub fn key(mut self, key: &str) -> Self {
        self.key = Some(key.to_owned());
        self
    }

    /// What the key stands for: the request that this was made of. Without it, the debate itself.
    #[must_use]
    pub fn key_digest(mut self, digest: Digest) -> Self {
        self.key_digest = Some(digest);
        self
    }

    /// On whose behalf it is held.
    #[must_use]
    pub fn actor(mut self, actor: &str) -> Self {
        self.actor = Some(actor.to_owned());
        self
    }

    /// For which tenant it is held.
    #[must_use]
    pub fn tenant(mut self, tenant: &str) -> Self {
        self.tenant = Some(tenant.to_owned());
        self
    }

    /// What it costs if every turn is one model call and every reply is as long as it may be.
    ///
    /// # Errors
    /// [`crate::Error`] when a name makes no id.
    pub fn quote(&self) -> Result<Quote> {
        let opening = self.opening()?;
        let rules = Rules::of(&opening.settings).unwrap_or_default();
        let mut agents = opening.agents;
        for agent in &mut agents {
            let facts =
                self.engine.driver().parts().models.get(&agent.model).map(|model| model.facts());
            agent.price = agent.price.or(facts.and_then(|facts| facts.price));
        }
        Ok(Quote::of(&opening.topic, &rules, &agents, &opening.settings.seats, self.rounds))
    }

    /// Opens the debate and begins its first round. It goes on while nobody looks: wait for it with
    /// [`Debate::wait`]. Each further round is asked for with [`Debate::continue_round`].
    ///
    /// # Errors
    /// [`crate::Error`] when it is refused, or something that its agents need is missing.
    pub async fn start(self) -> Result<Debate> {
        self.begin(false).await
    }

    /// Opens the debate and runs all of its rounds. It returns at once: wait for a round with
    /// [`Debate::wait`], or for the end with [`Debate::events`]. A round waits for context that the
    /// one before it asked for.
    ///
    /// # Errors
    /// [`crate::Error`] when it is refused, or something that its agents need is missing.
    pub async fn run(self) -> Result<Debate> {
        self.begin(true).await
    }

    /// Whether it was started before under its key, so that starting it again begins nothing.
    ///
    /// # Errors
    /// [`crate::Error`] when the store cannot be read.
    pub async fn find_started(&self) -> Result<bool> {
        let Some((id, _)) = self.named() else { return Ok(false) };
        Ok(self.engine.find(&id).await?.is_some())
    }

    /// What its key stands for: a session and a command.
    fn named(&self) -> Option<(SessionId, CommandKey)> {
        let key = self.key.as_ref()?;
        // With its length, so that no tenant's name can run into another one's key.
        let tenant = self.tenant.as_deref().unwrap_or_default();
        let name = format!("{}:{tenant}/{key}", tenant.len());
        let id = CommandId::derive("debate", &name);
        let key = CommandKey { id, digest: self.key_digest.clone() };
        Some((SessionId::derive("debate", &name), key))
    }

    async fn begin(self, auto_continue: bool) -> Result<Debate> {
        let mut opening = self.opening()?;
        opening.settings.auto_continue = auto_continue;
        let topic = opening.topic.clone();
        let driver = self.engine.driver();
        let (id, command) = match self.named() {
            None => (SessionId::new(&driver.parts().ids.fresh())?, None),
            Some((id, key)) => (id, Some(key)),
        };
        driver.open_keyed(&id, opening, command).await?;
        let debate = self.engine.find_debate(&id);
        debate
            .continue_round(ContinueRequest {
                focus: Some(topic),
                after_round: Some(0),
                ..ContinueRequest::default()
            })
            .await?;
        Ok(debate)
    }

    /// What the debate is opened with. It begins when its topic is said.
    ///
    /// # Errors
    /// [`crate::Error`] when a name makes no id, or there are too few or too many agents.
    pub fn opening(&self) -> Result<Opening> {
        let mut agents = self.panel()?;
        if self.asks {
            agents.iter_mut().for_each(let_ask);
        }
        let seats: Vec<AgentId> = agents.iter().map(|agent| agent.id.clone()).collect();
        let analyst = self.judge()?;
        let chair = self.presiding()?;
        let rules = Rules {
            mode: self.mode,
            exit_on_consensus: self.exit_on_consensus,
            perspectives: self.perspectives.clone(),
            analyst: analyst.as_ref().map(|agent| agent.id.clone()),
            chair: chair.as_ref().map(|agent| agent.id.clone()),
        };
        agents.extend(chair);
        agents.extend(analyst);
        let settings = Settings {
            order: self.mode.order(),
            seats,
            total_rounds: Some(self.rounds),
            session_limits: self.limits,
            program: (&rules).into(),
            ..Settings::default()
        };
        Ok(Opening {
            kind: Program::KIND,
            topic: self.topic.clone(),
            agents,
            settings,
            actor: self.actor.clone(),
            tenant: self.tenant.clone(),
        })
    }

    /// Those who argue.
    fn panel(&self) -> Result<Vec<Agent>> {
        if !self.seats.is_empty() {
            return Ok(self
                .seats
                .iter()
                .cloned()
                .collect::<std::result::Result<Vec<Agent>, _>>()?);
        }
        let count = self.count.unwrap_or(match self.perspectives.len() {
            0 => SEATS,
            // A perspective alone has nobody to argue with.
            given => given.max(2),
        });
        if !(2..=10).contains(&count) {
            let what = format!("a debate needs 2 to 10 agents, not {count}");
            return Err(Reject::Invalid { what }.into());
        }
        let models = self.engine.driver().parts().models.keys().map(String::as_str);
        let models = cast::spread(models, self.engine.default_model(), count);
        let usual = Perspective::usual();
        // Without an analyst nobody names perspectives for an expert panel.
        let perspectives = match (self.mode, self.perspectives.as_slice()) {
            (Mode::ExpertPanel, []) if self.judge()?.is_none() => &usual,
            (_, given) => given,
        };
        let panel = cast::panel(self.mode, perspectives, &models)?;
        Ok(panel.into_iter().map(|agent| self.engine.sized(agent)).collect())
    }

    fn judge(&self) -> Result<Option<Agent>> {
        if !self.uses_analyst {
            return Ok(None);
        }
        let own = self.engine.analyst().map(cast::analyst).transpose()?;
        Ok(self.analyst.clone().map(without_tools).or(own))
    }

    fn presiding(&self) -> Result<Option<Agent>> {
        if self.mode != Mode::Council {
            return Ok(None);
        }
        let named = self.chair.clone().map(without_tools);
        let made =
            || cast::chair(self.engine.default_model()).map(|chair| self.engine.sized(chair));
        Ok(Some(named.map_or_else(made, Ok)?))
    }
}

fn let_ask(agent: &mut Agent) {
    if !agent.tools.iter().any(|tool| tool.runs == Runs::RequestContext) {
        agent.tools.push(ToolDecl::request_context());
    }
}

/// Who judges works with what was said, and with nothing else.
fn without_tools(agent: Agent) -> Agent {
    Agent { tools: Vec::new(), workers: Vec::new(), ..agent }
}
