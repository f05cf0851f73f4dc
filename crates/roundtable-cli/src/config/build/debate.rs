//! An engine for a debate: the agents of the configuration, or models for agents that are made.

use anyhow::Result;
use roundtable::core::agent::Agent;
use roundtable::models::local;
use roundtable::{Builder, Engine};

use super::super::choice;
use super::super::mistake::{Mistake, Mistakes, hint};
use super::super::origin::{Key, Origin};
use super::super::reference::Link;
use super::super::{Config, SCRIPTED};
use super::{Needs, Running, Toolbox, Watch, built};

/// How many agents argue at least.
const FEWEST: usize = 2;

impl Config {
    /// Who argues: those that were named, or all of the configuration when there are enough, and
    /// nobody wants others to be made.
    pub fn debaters(&self, named: &[String], made: bool) -> Result<Vec<String>, Mistakes> {
        let known = || self.file.agents.keys().map(String::as_str);
        if let Some(id) = named.iter().find(|id| !self.file.agents.contains_key(*id)) {
            let what = format!("unknown agent \"{id}\"{}", hint(id, known()));
            let key = Key::of(["defaults", "agent"]);
            return Err(Mistake { origin: Origin::Flag("--agent"), key, what }.into());
        }
        let all = named.is_empty() && !made && self.file.agents.len() >= FEWEST;
        Ok(if all { known().map(str::to_owned).collect() } else { named.to_vec() })
    }

    /// An engine for a debate of these agents, and the agents; with none of them, one whose models
    /// agents can be made for.
    pub async fn engine_for_debate(
        &self,
        seats: &[String],
        watch: &Watch,
    ) -> Result<(Running, Vec<Agent>)> {
        let default = self.settled(self.default_model().0);
        let mut needs = Needs::default();
        for id in seats {
            needs.models.insert(self.model_of_agent(id));
            needs.voices.insert(id.clone());
            needs
                .tools
                .extend(self.file.agents.get(id).into_iter().flat_map(|it| it.tools.clone()));
        }
        if seats.is_empty() {
            needs.models.extend(self.models_there_are(&default));
        }
        let toolbox = self.toolbox_for(&needs).await?;
        let agents = seats.iter().map(|id| self.agent(id, &toolbox).map(alone));
        let agents = agents.collect::<Result<Vec<Agent>>>()?;
        // The first one that is registered is the default.
        needs.models.remove(&default);
        let models: Vec<&str> =
            std::iter::once(&default).chain(&needs.models).map(String::as_str).collect();
        let builder = self.debating(&models, &needs, &toolbox, watch)?;
        // Voices and the small model on this machine judge nothing: then debates are measured only.
        let is_judge = ![SCRIPTED, local::NAME].contains(&default.as_str());
        let builder = if is_judge { builder.analyst(&default) } else { builder };
        Ok((Running { engine: built(builder).await?, toolbox }, agents))
    }

    /// An engine to go on with a debate of these agents, which measures as the one before it did.
    pub async fn engine_to_continue(&self, agents: &[Agent], watch: &Watch) -> Result<Running> {
        let needs = Needs::of(agents);
        let toolbox = self.toolbox_for(&needs).await?;
        let models: Vec<&str> = needs.models.iter().map(String::as_str).collect();
        let builder = self.debating(&models, &needs, &toolbox, watch)?;
        Ok(Running { engine: built(builder).await?, toolbox })
    }

    fn debating(
        &self,
        models: &[&str],
        needs: &Needs,
        toolbox: &Toolbox,
        watch: &Watch,
    ) -> Result<Builder> {
        let mut builder = Engine::builder().sqlite(&self.data_dir).tools(toolbox.tools());
        for name in models {
            builder = builder.custom_model(name, self.chain(name, needs, watch)?);
        }
        Ok(self.sized(builder).embedder(self.embedder()?))
    }

    /// The models that can be asked, with the default among them. One that was asked for on the
    /// command line is the only one.
    fn models_there_are(&self, default: &str) -> Vec<String> {
        let is_only = matches!(self.default_model().1, Origin::Flag(_));
        if is_only || [SCRIPTED, local::NAME].contains(&default) {
            return vec![default.to_owned()];
        }
        let named = self.file.models.keys().cloned();
        let vendors = self.catalog.vendors().iter();
        let vendors = vendors.filter(|(name, vendor)| choice::is_ready(&self.layers, name, vendor));
        let vendors =
            vendors.filter_map(|(name, _)| choice::model_of(&self.layers, &self.catalog, name));
        named.chain(vendors).filter(|model| self.can_be_asked(model)).collect()
    }

    /// Whether everything is there to ask a model.
    fn can_be_asked(&self, model: &str) -> bool {
        let ready = |link: Link| match link {
            Link::Vendor(full, wanted) => self.http(&full, wanted).is_ok(),
            Link::Scripted | Link::Host | Link::Local => false,
        };
        self.links(model).is_ok_and(|links| links.into_iter().all(ready))
    }
}

/// Whoever sits on a panel speaks for itself: it delegates to nobody, and asks between rounds.
fn alone(mut agent: Agent) -> Agent {
    agent.workers.clear();
    agent.tools.retain(|tool| !["delegate", "ask"].contains(&tool.name.as_str()));
    agent
}
