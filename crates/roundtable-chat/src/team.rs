//! The team of a chat: who answers, who can be delegated to, and who answers only by name.

use roundtable_core::agent::Agent;
use roundtable_core::budget::Limits;
use roundtable_core::event::Opening;
use roundtable_core::id::{AgentId, ParseIdError};
use roundtable_core::program::Program as _;
use roundtable_core::session::Session;
use roundtable_core::settings::{ProgramRef, Settings};
use roundtable_core::tool::ToolDecl;
use serde::{Deserialize, Serialize};

use crate::program::Chat;

/// What a chat is opened with. Who may delegate to whom is in the agents' `workers`, what a mission
/// may spend in their `limits`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rules {
    /// Who answers a message that names nobody.
    pub supervisor: AgentId,
    /// The others.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub members: Vec<Member>,
    /// Whether the conversation is given a title after its first round.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub titled: bool,
    /// What the one who answers knows from before the session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub background: Option<Box<Background>>,
}

/// What whoever opened a chat brings along: instructions, and a conversation that was held
/// elsewhere.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Background {
    /// Instructions of the application, besides the persona of the one who answers.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub instructions: String,
    /// The messages before the first one of the session, oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub messages: Vec<EarlierMessage>,
}

/// A message from before the session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EarlierMessage {
    /// Who wrote it.
    pub sender: String,
    /// What it says.
    pub text: String,
}

/// A member of the team besides the supervisor.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Member {
    /// Who.
    pub agent: AgentId,
    /// What it is good at, for those who may delegate to it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub role: String,
    /// Whether it answers only a message that begins with its name. Nobody delegates to it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub command_only: bool,
}

impl Rules {
    /// The member with this id.
    pub fn find(&self, agent: &AgentId) -> Option<&Member> {
        self.members.iter().find(|member| member.agent == *agent)
    }

    /// What is wrong with a team, and what to do.
    pub(crate) fn check(&self, opening: &Opening) -> Result<(), String> {
        let find = |id: &AgentId| opening.agents.iter().find(|agent| agent.id == *id);
        for (index, id) in self.ids().enumerate() {
            if find(id).is_none() {
                return Err(format!("{id} is on the team but not among the agents; add it"));
            }
            if self.ids().take(index).any(|other| other == id) {
                return Err(format!("duplicate team member {id}; give each member its own name"));
            }
        }
        for agent in &opening.agents {
            if !self.ids().any(|id| *id == agent.id) {
                return Err(format!("{} is not on the team; add it as a worker", agent.id));
            }
            self.check_workers(agent)?;
        }
        Ok(())
    }

    fn ids(&self) -> impl Iterator<Item = &AgentId> {
        [&self.supervisor].into_iter().chain(self.members.iter().map(|member| &member.agent))
    }

    fn check_workers(&self, agent: &Agent) -> Result<(), String> {
        for worker in &agent.workers {
            if !self.ids().any(|id| id == worker) {
                return Err(format!(
                    "{} may delegate to {worker}, who is not on the team; add it, or remove it from the workers",
                    agent.id
                ));
            }
            if self.find(worker).is_some_and(|member| member.command_only) {
                return Err(format!(
                    "{} may delegate to {worker}, who answers only by name; remove it from the workers",
                    agent.id
                ));
            }
        }
        if agent.workers.is_empty() && agent.find_tool("delegate").is_some() {
            return Err(format!(
                "{} has the tool delegate but no workers; add workers, or remove the tool",
                agent.id
            ));
        }
        Ok(())
    }
}

/// A team that is being put together.
#[derive(Debug, Clone, PartialEq)]
pub struct Team {
    supervisor: Agent,
    members: Vec<(Agent, Member)>,
    background: Option<Box<Background>>,
}

impl Team {
    /// A team of one.
    pub fn new(supervisor: Agent) -> Self {
        Self { supervisor, members: Vec::new(), background: None }
    }

    /// The team of a chat that there is.
    pub fn of(session: &Session) -> Option<Self> {
        let rules: Rules = session.settings.program.rules::<Chat>()?;
        let find = |id: &AgentId| session.find_agent(id).cloned();
        let mut team = Self::new(find(&rules.supervisor)?);
        team.background = rules.background;
        for member in rules.members {
            let agent = find(&member.agent)?;
            team.members.push((agent, member));
        }
        Some(team)
    }

    /// Adds a worker that the supervisor may delegate to.
    #[must_use]
    pub fn worker(mut self, agent: Agent, role: &str) -> Self {
        if !self.supervisor.workers.contains(&agent.id) {
            self.supervisor.workers.push(agent.id.clone());
        }
        self.member(agent, role, false)
    }

    /// Adds an agent that answers only messages that begin with its name.
    #[must_use]
    pub fn command_only(self, agent: Agent, role: &str) -> Self {
        self.member(agent, role, true)
    }

    /// Adds an agent as it is: who may delegate to it is for the others' `workers` to say.
    #[must_use]
    pub fn member(mut self, agent: Agent, role: &str, command_only: bool) -> Self {
        let member = Member { agent: agent.id.clone(), role: role.to_owned(), command_only };
        self.members.push((agent, member));
        self
    }

    /// The same team with everyone whom a member may delegate to, as far as these agents are known.
    #[must_use]
    pub fn complete(mut self, known: &[Agent]) -> Self {
        loop {
            let agents =
                || [&self.supervisor].into_iter().chain(self.members.iter().map(|it| &it.0));
            let is_member = |id: &AgentId| agents().any(|agent| agent.id == *id);
            let missing = agents().flat_map(|agent| &agent.workers).find(|id| !is_member(id));
            let found = missing.and_then(|id| known.iter().find(|agent| agent.id == *id));
            let Some(agent) = found.cloned() else { return self };
            self = self.member(agent, "", false);
        }
    }

    /// What the one who answers knows from before the session.
    #[must_use]
    pub fn background(mut self, background: Background) -> Self {
        self.background = Some(Box::new(background));
        self
    }

    /// The same team with its supervisor changed.
    #[must_use]
    pub fn with_supervisor(mut self, change: impl FnOnce(&mut Agent)) -> Self {
        change(&mut self.supervisor);
        self
    }

    /// The same team without these tools, for sessions in which they make no sense.
    #[must_use]
    pub fn without(mut self, tools: impl Fn(&ToolDecl) -> bool) -> Self {
        let members = self.members.iter_mut().map(|(agent, _)| agent);
        for agent in members.chain([&mut self.supervisor]) {
            agent.tools.retain(|tool| !tools(tool));
        }
        self
    }

    /// What one mission of a worker, or one turn of the supervisor, may spend.
    #[must_use]
    pub fn limits(mut self, agent: &AgentId, limits: Limits) -> Self {
        let members = self.members.iter_mut().map(|(agent, _)| agent);
        for own in members.chain([&mut self.supervisor]).filter(|own| own.id == *agent) {
            own.limits = limits;
        }
        self
    }

    /// The agents, and the rules of their chat. Whoever may delegate has the tool for it.
    pub fn into_parts(self, titled: bool) -> (Vec<Agent>, Rules) {
        let (supervisor, background) = (self.supervisor.id.clone(), self.background);
        let (mut agents, mut members) = (vec![self.supervisor], Vec::new());
        for (agent, member) in self.members {
            agents.push(agent);
            members.push(member);
        }
        for agent in agents.iter_mut().filter(|agent| !agent.workers.is_empty()) {
            if agent.find_tool("delegate").is_none() {
                agent.tools.push(ToolDecl::delegate());
            }
        }
        (agents, Rules { supervisor, members, titled, background })
    }

    /// The team that answers where none is configured: a supervisor, and four workers that it may
    /// delegate to.
    ///
    /// # Errors
    /// [`ParseIdError`] never happens with the names of this team.
    pub fn standard(model: &str) -> Result<Self, ParseIdError> {
        let mut team = Self::assistant(model)?;
        team.supervisor.tools.push(ToolDecl::ask());
        workers(model).try_fold(team, |team, (worker, role)| Ok(team.worker(worker?, role)))
    }

    /// The same team for a model that uses no tools: nobody delegates, and the workers answer messages
    /// that begin with their names.
    ///
    /// # Errors
    /// [`ParseIdError`] never happens with the names of this team.
    pub fn by_name(model: &str) -> Result<Self, ParseIdError> {
        let team = Self::assistant(model)?;
        workers(model).try_fold(team, |team, (worker, role)| Ok(team.command_only(worker?, role)))
    }

    /// The supervisor of that team alone.
    ///
    /// # Errors
    /// [`ParseIdError`] never happens with the name of this agent.
    pub fn assistant(model: &str) -> Result<Self, ParseIdError> {
        let supervisor = Agent::new("Supervisor", model)?;
        Ok(Self::new(Agent { persona: SUPERVISOR.to_owned(), ..supervisor }))
    }

    /// The opening of a chat with this team. Without a title it is named after its first round.
    pub fn opening(self, title: &str) -> Opening {
        let (agents, rules) = self.into_parts(title.is_empty());
        let rules = serde_json::to_value(&rules).unwrap_or_default();
        let program = ProgramRef { name: Chat::NAME, rules };
        Opening {
            kind: Chat::NAME,
            topic: title.to_owned(),
            agents,
            settings: Settings { program, ..Settings::default() },
            actor: None,
            tenant: None,
        }
    }
}

/// The workers of the standard team, with their roles.
fn workers(
    model: &str,
) -> impl Iterator<Item = (Result<Agent, ParseIdError>, &'static str)> + use<'_> {
    WORKERS.into_iter().map(move |(name, role, persona)| {
        let worker = Agent::new(name, model);
        (worker.map(|worker| Agent { persona: persona.to_owned(), ..worker }), role)
    })
}

const SUPERVISOR: &str = "You are the supervisor of a small team and the one who talks to the person. \
Answer short and simple messages yourself, in the language of the person. \
Say what you know, say plainly what you do not know, and never invent facts or sources. \
Begin with the answer; add reasons and steps after it, only as many as help.";

const WORKERS: [(&str, &str, &str); 4] = [
    (
        "Researcher",
        "finds facts, compares sources, checks claims",
        "You are a careful researcher. Find what is asked and report it as short, checkable statements. \
         Keep facts, estimates and guesses apart and label each. Name the source of every fact that is \
         not common knowledge. If you cannot find something, say so and say where it could be found.",
    ),
    (
        "Writer",
        "drafts and edits texts for a given reader",
        "You are a writer and editor. Write for the reader that the mission names, in plain words and \
         short sentences. Keep every fact of the material and add none. Return the finished text only, \
         without comments about it.",
    ),
    (
        "Coder",
        "writes, reviews and explains code",
        "You are a senior software engineer. Write complete, correct code in the style of the code you \
         are shown. State assumptions first, handle errors and edge cases, and end with how to run and \
         test it. When you review, list defects by severity and give a fix for each.",
    ),
    (
        "Planner",
        "turns goals into steps, finds risks and order",
        "You are a planner. Turn a goal into an ordered list of concrete steps with an owner, an effort \
         and a check of completion for each. Name what blocks what, the main risks and the first step \
         to take today. Keep it as short as the goal allows.",
    ),
];
