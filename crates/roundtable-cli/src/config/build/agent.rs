//! Agents: as the configuration defines them, as sessions record them.

use anyhow::Result;
use roundtable::core::agent::Agent;
use roundtable::core::id::AgentId;
use roundtable::core::tool::ToolDecl;

use super::super::file::AgentEntry;
use super::super::mistake::{Mistake, Mistakes, hint};
use super::super::origin::{Key, Origin};
use super::{Config, Needs, Toolbox};

/// Who answers when no agent is configured.
const ASSISTANT: &str = "assistant";

impl Config {
    /// The id of the agent that is asked: the one that was named, or the only one, or one without
    /// any settings.
    pub fn chosen_agent(&self) -> Result<String> {
        if let Some(named) = &self.file.defaults.agent {
            return Ok(named.clone());
        }
        match self.file.agents.keys().collect::<Vec<_>>().as_slice() {
            [] => Ok(ASSISTANT.to_owned()),
            [only] => Ok((*only).clone()),
            several => {
                let names: Vec<&str> = several.iter().map(|name| name.as_str()).collect();
                let what = format!(
                    "which agent? Pass --agent NAME, or set agent under [defaults]; configured agents: {}",
                    names.join(", ")
                );
                let key = Key::default();
                Err(Mistakes::from(Mistake { origin: Origin::usual(), key, what }).into())
            }
        }
    }

    /// What an agent and its workers need.
    pub fn needs(&self, id: &str) -> Needs {
        let mut needs = Needs::default();
        self.add_needs(id, &mut needs);
        needs
    }

    pub(super) fn add_needs(&self, id: &str, needs: &mut Needs) {
        if !needs.voices.insert(id.to_owned()) {
            return;
        }
        needs.models.insert(self.model_of_agent(id));
        if let Some(entry) = self.file.agents.get(id) {
            needs.tools.extend(entry.tools.iter().cloned());
            entry.workers.iter().for_each(|worker| self.add_needs(worker, needs));
        }
    }

    /// The model that speaks for an agent. The command line counts before the file.
    pub fn model_of_agent(&self, id: &str) -> String {
        let (default, origin) = self.default_model();
        let own = self.file.agents.get(id).and_then(|entry| entry.model.clone());
        self.settled(match (own, origin) {
            (Some(own), Origin::Default(_) | Origin::File(..) | Origin::Variable(_)) => own,
            (None, _) | (_, Origin::Flag(_)) => default,
        })
    }

    /// An agent, and those that it may delegate to.
    pub fn agents(&self, id: &str, toolbox: &Toolbox) -> Result<Vec<Agent>> {
        let ids: Vec<String> = self.needs(id).voices.into_iter().collect();
        let others = ids.iter().filter(|other| *other != id);
        let all = std::iter::once(id).chain(others.map(String::as_str));
        all.map(|id| self.agent(id, toolbox)).collect()
    }

    pub(super) fn agent(&self, id: &str, toolbox: &Toolbox) -> Result<Agent> {
        let usual = AgentEntry::default();
        let entry = match self.file.agents.get(id) {
            Some(entry) => entry,
            None if self.file.agents.is_empty() && id == ASSISTANT => &usual,
            None => {
                let known = self.file.agents.keys().map(String::as_str);
                let what = format!("unknown agent \"{id}\"{}", hint(id, known));
                return Err(self.mistake(self.where_named(id), what).into());
            }
        };
        let name = entry.name.clone().unwrap_or_else(|| capitalised(id));
        let mut agent = Agent::new(&name, &self.model_of_agent(id))?;
        agent.id = AgentId::new(id)?;
        if let Some(persona) = &entry.persona {
            agent.persona.clone_from(persona);
        }
        let defaults = &self.file.defaults;
        let max_tokens = entry.max_tokens.or(defaults.max_tokens);
        agent.max_tokens = max_tokens.unwrap_or(agent.max_tokens);
        let max_iterations = entry.max_iterations.or(defaults.max_iterations);
        agent.max_iterations = max_iterations.unwrap_or(agent.max_iterations);
        agent.limits = entry.limits.limits();
        agent.workers =
            entry.workers.iter().map(|id| AgentId::new(id)).collect::<Result<_, _>>()?;
        agent.tools = self.declared(id, &entry.tools, toolbox)?;
        if !agent.workers.is_empty() && agent.find_tool("delegate").is_none() {
            agent.tools.push(ToolDecl::delegate());
        }
        Ok(agent)
    }

    /// Where an agent is named: as someone's worker, or as the one to ask.
    fn where_named(&self, id: &str) -> Key {
        let mut workers = self.file.agents.iter().filter_map(|(agent, entry)| {
            let index = entry.workers.iter().position(|worker| worker == id)?;
            Some(Key::of(["agents", agent, "workers", &index.to_string()]))
        });
        workers.next().unwrap_or_else(|| Key::of(["defaults", "agent"]))
    }

    fn declared(&self, id: &str, names: &[String], toolbox: &Toolbox) -> Result<Vec<ToolDecl>> {
        let declare = |(index, name): (usize, &String)| {
            let key = Key::of(["agents", id, "tools"]).join(&index.to_string());
            toolbox.declare(name).ok_or_else(|| {
                let what = toolbox.why_not(name).or_else(|| self.unknown_tool(name));
                let what = what.unwrap_or_else(|| format!("unknown tool \"{name}\""));
                self.mistake(key, what).into()
            })
        };
        names.iter().enumerate().map(declare).collect()
    }

    /// A mistake in a value, with where it was said.
    pub(in super::super) fn mistake(&self, key: Key, what: String) -> Mistakes {
        Mistake { origin: self.layers.origin(&key), key, what }.into()
    }
}

fn capitalised(id: &str) -> String {
    let mut letters = id.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}
