//! From the configuration to an engine.

mod agent;
mod all;
mod debate;
mod model;
mod team;
mod toolbox;

use std::collections::BTreeSet;

use anyhow::Result;
use roundtable::backend::PermissionNotice;
use roundtable::core::agent::Agent;
use roundtable::core::tool::Runs;
use roundtable::{Builder, Engine};

use super::Config;
use super::local::Local;
use crate::out;
pub(crate) use model::Watch;
pub(crate) use toolbox::Toolbox;
pub(super) use toolbox::server;

/// What agents need of an engine, by name.
#[derive(Debug, Default)]
pub(crate) struct Needs {
    models: BTreeSet<String>,
    tools: BTreeSet<String>,
    /// The agents, for whom scripted voices speak.
    voices: BTreeSet<String>,
    /// The local model, once one of them needs it.
    local: Local,
}

impl Needs {
    /// What these agents need.
    pub fn of<'a>(agents: impl IntoIterator<Item = &'a Agent>) -> Self {
        let mut needs = Self::default();
        for agent in agents {
            needs.models.insert(agent.model.clone());
            needs.voices.insert(agent.id.suffix().to_owned());
            let handled = agent.tools.iter().filter(|tool| tool.runs == Runs::Handler);
            needs.tools.extend(handled.map(|tool| tool.name.clone()));
        }
        needs
    }
}

/// An engine that runs, and the servers behind its tools.
pub(crate) struct Running {
    pub engine: Engine,
    toolbox: Toolbox,
}

impl Running {
    /// Lets go of everything, after the engine was shut down.
    pub async fn shutdown(&self) {
        self.engine.shutdown().await;
        self.toolbox.shutdown().await;
    }
}

/// Starts an engine, and tells whoever runs it what was too open in the data directory.
pub(crate) async fn built(builder: Builder) -> Result<Engine> {
    let engine = builder.build().await?;
    tell(engine.permission_notices());
    Ok(engine)
}

fn tell(notices: &[PermissionNotice]) {
    for notice in notices {
        eprintln!("note: {}", out::plain(&notice.to_string()));
    }
}

impl Config {
    /// An engine for these agents. `watch` hears of every attempt of a model that failed.
    pub async fn engine(&self, needs: &Needs, toolbox: Toolbox, watch: &Watch) -> Result<Running> {
        let mut builder = Engine::builder().sqlite(&self.data_dir).tools(toolbox.tools());
        for name in &needs.models {
            builder = builder.custom_model(name, self.chain(name, needs, watch)?);
        }
        Ok(Running { engine: built(builder).await?, toolbox })
    }

    /// Holds agents that are not configured to the length that is configured for all.
    fn sized(&self, builder: Builder) -> Builder {
        match self.file.defaults.max_tokens {
            Some(max_tokens) => builder.max_tokens(max_tokens),
            None => builder,
        }
    }

    /// The tools that these agents need. Only the servers that they name are started.
    pub async fn toolbox_for(&self, needs: &Needs) -> Result<Toolbox> {
        let named: BTreeSet<&str> =
            needs.tools.iter().filter_map(|tool| Some(tool.split_once("__")?.0)).collect();
        self.toolbox(|server| named.contains(server)).await
    }
}
