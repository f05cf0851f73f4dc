//! The team of chats: as the configuration defines it, or the standard one.

use anyhow::{Context as _, Result};
use roundtable::chat::Team;
use roundtable::core::agent::Agent;
use roundtable::models::local;

use super::{Config, Needs, Toolbox};

impl Config {
    /// The agent that answers chats; nothing when the standard team does.
    fn supervisor(&self) -> Result<Option<String>> {
        let file = &self.file;
        if let Some(named) = file.defaults.agent.as_ref().or(file.team.supervisor.as_ref()) {
            return Ok(Some(named.clone()));
        }
        if file.agents.is_empty() { Ok(None) } else { self.chosen_agent().map(Some) }
    }

    /// Who besides the supervisor is on the team: those of `[team]`, and everyone who is delegated to.
    fn members(&self, supervisor: &str) -> Vec<String> {
        let team = &self.file.team;
        let mut ids: Vec<String> = Vec::new();
        let own = team.supervisor.as_deref() == Some(supervisor);
        let listed = team.workers.iter().chain(&team.command_only).filter(|_| own);
        let needed = self.needs(supervisor).voices;
        for id in listed.cloned().chain(needed) {
            let below = self.needs(&id).voices;
            for id in [id].into_iter().chain(below) {
                if id != supervisor && !ids.contains(&id) {
                    ids.push(id);
                }
            }
        }
        ids
    }

    /// What the team needs of an engine.
    pub fn team_needs(&self) -> Result<Needs> {
        let Some(supervisor) = self.supervisor()? else {
            let model = self.model_of_agent("supervisor");
            let (agents, _) = standard(&model)?.into_parts(true);
            return Ok(Needs::of(&agents));
        };
        let mut needs = self.needs(&supervisor);
        for id in self.members(&supervisor) {
            self.add_needs(&id, &mut needs);
        }
        Ok(needs)
    }

    /// The team that answers chats.
    pub fn team(&self, toolbox: &Toolbox) -> Result<Team> {
        let Some(supervisor) = self.supervisor()? else {
            return standard(&self.model_of_agent("supervisor"));
        };
        self.team_of(&supervisor, |id| self.agent(id, toolbox))
    }

    /// The team that answers conversations of a server, made of these agents; nothing where the
    /// configuration names none, and the standard team answers.
    pub fn configured_team(&self, agents: &[Agent]) -> Result<Option<Team>> {
        let file = &self.file;
        let only = file.agents.keys().next().filter(|_| file.agents.len() == 1);
        let named = file.defaults.agent.as_ref().or(file.team.supervisor.as_ref()).or(only);
        let known = named.filter(|id| file.agents.contains_key(*id));
        let Some(supervisor) = known else { return Ok(None) };
        let find = |id: &str| agents.iter().find(|agent| agent.id.suffix() == id).cloned();
        let team = self.team_of(supervisor, |id| {
            find(id).with_context(|| format!("[team] names the agent \"{id}\", which is unknown"))
        });
        team.map(Some)
    }

    fn team_of(&self, supervisor: &str, agent: impl Fn(&str) -> Result<Agent>) -> Result<Team> {
        let file = &self.file.team;
        let own = file.supervisor.as_deref() == Some(supervisor);
        let mut team = Team::new(agent(supervisor)?);
        for id in self.members(supervisor) {
            let role = self.file.agents.get(&id).and_then(|entry| entry.role.clone());
            let (agent, role) = (agent(&id)?, role.unwrap_or_default());
            team = if own && file.command_only.contains(&id) {
                team.command_only(agent, &role)
            } else if own && file.workers.contains(&id) {
                team.worker(agent, &role)
            } else {
                team.member(agent, &role, false)
            };
        }
        Ok(team)
    }
}

/// The local model uses no tools, so its supervisor delegates to nobody.
fn standard(model: &str) -> Result<Team> {
    Ok(if model == local::NAME { Team::by_name(model)? } else { Team::standard(model)? })
}
