//! What an engine is made of.

use std::collections::BTreeMap;
use std::sync::Arc;

use roundtable_core::agent::Agent;
use roundtable_core::id::NodeId;
use roundtable_core::program::Programs;
use roundtable_core::stage::Name;
use roundtable_core::tool::Runs;
use roundtable_ports::{Clock, Ids, Job, Model, Store};

use crate::config::Config;
use crate::error::EngineError;
use crate::toolset::Toolset;

/// What an engine is made of.
pub struct Parts {
    /// The name of this engine among those that share a store.
    pub node: NodeId,
    /// Where sessions are kept.
    pub store: Store,
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// Fresh ids.
    pub ids: Arc<dyn Ids>,
    /// The models, by the names that agents use.
    pub models: BTreeMap<String, Arc<dyn Model>>,
    /// The tools.
    pub tools: Toolset,
    /// The programs that sessions run.
    pub programs: Programs,
    /// What those programs have computed, by name.
    pub jobs: BTreeMap<Name, Arc<dyn Job>>,
    /// How it runs.
    pub config: Config,
}

impl Parts {
    /// Notes what is known of the models, unless the agent says otherwise, and how much each tool
    /// adds to a prompt, so that budgets reserve it.
    pub(crate) fn weigh(&self, agents: &mut [Agent]) {
        for agent in agents.iter_mut() {
            let Some(facts) = self.models.get(&agent.model).map(|model| model.facts()) else {
                continue;
            };
            agent.price = agent.price.or(facts.price);
            agent.window = agent.window.or(facts.window);
        }
        for tool in agents.iter_mut().flat_map(|agent| &mut agent.tools) {
            tool.prompt_bytes = self.tools.spec_of(tool).map_or(0, |spec| spec.prompt_bytes());
        }
    }

    /// Checks that everything that these agents need is there, before a session is opened on it.
    pub(crate) fn check(&self, agents: &[Agent]) -> Result<(), EngineError> {
        for agent in agents {
            if !self.models.contains_key(&agent.model) {
                let known = self.models.keys().map(String::as_str).collect::<Vec<_>>().join(", ");
                return Err(EngineError::UnknownModel { model: agent.model.clone(), known });
            }
            let handled = agent.tools.iter().filter(|tool| tool.runs == Runs::Handler);
            for tool in handled {
                let Some((_, spec)) = self.tools.find(&tool.name) else {
                    return Err(EngineError::UnknownTool {
                        tool: tool.name.clone(),
                        known: self.tools.names(),
                    });
                };
                // A session may be more careful with a tool than the tool itself, never less.
                if tool.effect < spec.effect {
                    return Err(EngineError::WrongEffect {
                        tool: tool.name.clone(),
                        agent: agent.name.clone(),
                    });
                }
            }
        }
        Ok(())
    }
}
