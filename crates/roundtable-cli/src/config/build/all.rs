//! An engine for whoever calls, with everything that the configuration has.

use std::sync::Arc;
use std::time::Duration;

use anyhow::Result;
use async_trait::async_trait;
use futures_util::{StreamExt as _, stream};
use roundtable::Engine;
use roundtable::core::agent::Agent;
use roundtable::core::event::CallRecord;
use roundtable::core::id::AgentId;
use roundtable::driver;
use roundtable::models::local;
use roundtable::ports::{Chunk, Model, ModelError, ModelRequest, ModelStream};
use roundtable_server::{HOST, HostModel, Quotas};

use super::super::reference::Link;
use super::super::{Config, SCRIPTED};
use super::model::VOICE;
use super::{Needs, Running, Toolbox, Watch, built};

/// Answers if no model is configured, with instructions to configure one.
struct Placeholder;

const NO_MODEL: &str = "No model is configured, so this answer is scripted. The operator of the server can set \
    ANTHROPIC_API_KEY, OPENAI_API_KEY or another vendor's key; install the local model with `roundtable models fetch`; \
    or start the server with `--model host`, so that the model of an MCP client answers.";

#[async_trait]
impl Model for Placeholder {
    async fn stream(&self, _: &ModelRequest) -> std::result::Result<ModelStream, ModelError> {
        let record = CallRecord {
            model: SCRIPTED.to_owned(),
            notice: Some(VOICE.to_owned()),
            ..CallRecord::default()
        };
        Ok(stream::iter([Ok(Chunk::Text(NO_MODEL.to_owned())), Ok(Chunk::Done(record))]).boxed())
    }
}

impl Config {
    /// An engine that knows all agents of the configuration, and has debates judged by the model that
    /// speaks by default. Turns of agents whose model is the caller's own are brought in.
    pub async fn engine_for_all(&self, quotas: &Quotas) -> Result<Running> {
        let needs = self.needs_of_all();
        let toolbox = self.toolbox_for(&needs).await?;
        let agents = self.all_agents(&toolbox)?;
        let mut builder = Engine::builder().sqlite(&self.data_dir).tools(toolbox.tools());
        builder = builder.allowances(quotas.clone());
        builder = self.sized(builder).embedder(self.embedder()?).config(self.driver());
        let default = self.settled(self.default_model().0);
        let watch: Watch = Arc::new(|_, _| {});
        // The first one that is registered is the default.
        let others = needs.models.iter().filter(|model| **model != default);
        for name in [&default].into_iter().chain(others) {
            builder = match name.as_str() {
                HOST => builder.custom_model(HOST, HostModel),
                SCRIPTED => builder.custom_model(SCRIPTED, Placeholder),
                _ => builder.custom_model(name, self.chain(name, &needs, &watch)?),
            };
        }
        // Voices and the small model on this machine judge nothing, and a caller has enough to do;
        // then debates are measured only.
        if ![SCRIPTED, HOST, local::NAME].contains(&default.as_str()) {
            builder = builder.analyst(&default);
        }
        if let Some(team) = self.configured_team(&agents)? {
            builder = builder.team(team);
        }
        Ok(Running { engine: built(builder.agents(agents)).await?, toolbox })
    }

    /// How the engine of a server runs.
    fn driver(&self) -> driver::Config {
        let usual = driver::Config::default();
        let drain = self.file.server.drain_ms.map(Duration::from_millis);
        driver::Config { drain_within: drain.unwrap_or(usual.drain_within), ..usual }
    }

    /// What all agents need whose models can be asked, and what speaks by default.
    fn needs_of_all(&self) -> Needs {
        let mut needs = Needs::default();
        for id in self.file.agents.keys().filter(|id| self.is_ready(&self.model_of_agent(id))) {
            self.add_needs(id, &mut needs);
        }
        needs.models.retain(|model| self.is_ready(model));
        needs.models.insert(self.settled(self.default_model().0));
        needs
    }

    /// Whether everything is there to ask a model.
    fn is_ready(&self, model: &str) -> bool {
        let ready = |link: Link| match link {
            Link::Scripted | Link::Host => true,
            Link::Local => self.check_generator().is_ok(),
            Link::Vendor(full, tuning) => self.http(&full, tuning).is_ok(),
        };
        self.links(model).is_ok_and(|links| links.into_iter().all(ready))
    }

    /// All agents. Those whose model cannot be asked are among them, so that people see them.
    fn all_agents(&self, toolbox: &Toolbox) -> Result<Vec<Agent>> {
        let agent = |id: &String| {
            let model = self.model_of_agent(id);
            if self.is_ready(&model) {
                return self.agent(id, toolbox);
            }
            let named = self.file.agents.get(id).and_then(|entry| entry.name.clone());
            let mut agent = Agent::new(named.as_deref().unwrap_or(id), &model)?;
            agent.id = AgentId::new(id)?;
            Ok(agent)
        };
        self.file.agents.keys().map(agent).collect()
    }
}
