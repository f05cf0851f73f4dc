//! The team of chats: as the configuration defines it, or the standard one.

use anyhow::Result;
use roundtable::chat::Team;
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
        let file = &self.file.team;
        let own = file.supervisor.as_ref() == Some(&supervisor);
        let mut team = Team::new(self.agent(&supervisor, toolbox)?);
        for id in self.members(&supervisor) {
            let role = self.file.agents.get(&id).and_then(|entry| entry.role.clone());
            let (agent, role) = (self.agent(&id, toolbox)?, role.unwrap_or_default());
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

/// The local model uses no tools, so its supervisor answers alone.
fn standard(model: &str) -> Result<Team> {
    Ok(if model == local::NAME { Team::assistant(model)? } else { Team::standard(model)? })
}
