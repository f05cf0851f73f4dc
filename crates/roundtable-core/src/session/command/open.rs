//! `open` and `fork`: how a session begins.

use crate::agent::Agent;
use crate::event::{Body, Opening, Origin, SessionEvent};
use crate::id::AgentId;
use crate::json;
use crate::program::Programs;
use crate::reject::Reject;
use crate::scope::Place;
use crate::session::{Draft, Session};
use crate::settings::Settings;

/// The most agents that one session may have.
const MOST_AGENTS: usize = 64;

impl Session {
    pub(crate) fn open(
        &self,
        opening: &Opening,
        programs: &Programs,
    ) -> Result<Vec<Draft>, Reject> {
        if self.opened {
            return Err(Reject::Exists { session: self.id.clone() });
        }
        check_agents(&opening.agents, &opening.settings)?;
        if opening.settings.total_rounds == Some(0) {
            return Err(invalid("rounds must be at least 1"));
        }
        let name = &opening.settings.program.name;
        let program =
            programs.find(name).ok_or_else(|| invalid(format!("unknown program \"{name}\"")))?;
        json::check(&opening.settings.program.rules)
            .map_err(|error| invalid(format!("the rules are {error}")))?;
        program.check(opening).map_err(invalid)?;
        Ok(vec![(
            Place::session(),
            Body::Session(SessionEvent::SessionOpened(Box::new(opening.clone()))),
        )])
    }

    /// The state is the fold of the origin's past, under the id of the fork.
    pub(crate) fn fork(
        &self,
        origin: &Origin,
        agents: Option<&[Agent]>,
    ) -> Result<Vec<Draft>, Reject> {
        if !self.opened {
            return Err(Reject::NotFound { session: origin.session.clone() });
        }
        // A past that is not the origin's is that of a session of its own.
        if self.id == origin.session || self.head != origin.seq {
            return Err(Reject::Exists { session: self.id.clone() });
        }
        if self.round.is_some() {
            return Err(invalid("a fork must start at the end of a round"));
        }
        if let Some(total) = self.settings.total_rounds.filter(|total| self.next_number() > *total)
        {
            return Err(invalid(format!(
                "all {total} rounds are done at that point; fork at the end of an earlier round"
            )));
        }
        let agents = agents.unwrap_or(&self.agents).to_vec();
        let seats = self.settings.seats.iter().map(|seat| self.successor(seat, &agents)).collect();
        let settings = Settings { seats, ..self.settings.clone() };
        check_agents(&agents, &settings)?;
        let seats = settings.seats;
        let forked = SessionEvent::SessionForked { origin: origin.clone(), agents, seats };
        Ok(vec![(Place::session(), Body::Session(forked))])
    }

    /// Who sits in a seat after a fork: the same agent, or whoever stands in its place.
    fn successor(&self, seat: &AgentId, agents: &[Agent]) -> AgentId {
        if agents.iter().any(|agent| agent.id == *seat) {
            return seat.clone();
        }
        let place = self.agents.iter().position(|agent| agent.id == *seat);
        let successor = place.and_then(|place| agents.get(place));
        successor.map_or_else(|| seat.clone(), |agent| agent.id.clone())
    }
}

fn check_agents(agents: &[Agent], settings: &Settings) -> Result<(), Reject> {
    if agents.is_empty() || agents.len() > MOST_AGENTS {
        return Err(invalid(format!(
            "a session needs 1 to {MOST_AGENTS} agents; this one has {}",
            agents.len()
        )));
    }
    for (index, agent) in agents.iter().enumerate() {
        if agents[..index].iter().any(|other| other.id == agent.id) {
            return Err(invalid(format!(
                "duplicate agent {}; give each agent its own name",
                agent.id
            )));
        }
    }
    for output in agents.iter().filter_map(|agent| agent.output.as_ref()) {
        output.check()?;
    }
    let tools = agents.iter().flat_map(|agent| &agent.tools);
    for (tool, spec) in tools.filter_map(|tool| Some((tool, tool.spec.as_ref()?))) {
        json::check(&spec.schema).map_err(|error| {
            invalid(format!("the parameters of the tool \"{}\" are {error}", tool.name))
        })?;
    }
    for seat in &settings.seats {
        if !agents.iter().any(|agent| agent.id == *seat) {
            return Err(Reject::UnknownAgent { agent: seat.clone() });
        }
    }
    check_limits(agents, settings)
}

/// A session has no time limit, and money only where prices are known.
pub(super) fn check_limits(agents: &[Agent], settings: &Settings) -> Result<(), Reject> {
    if settings.session_limits.time_ms.is_some() {
        return Err(invalid(
            "a session cannot have a time limit because it waits for people; set one for rounds or agents",
        ));
    }
    check_prices(agents, settings)
}

/// A money budget over a model without a price would be a promise that nobody can keep.
fn check_prices(agents: &[Agent], settings: &Settings) -> Result<(), Reject> {
    let shared = settings.session_limits.cost.or(settings.round_limits.cost).is_some();
    let unpriced =
        |agent: &&Agent| agent.price.is_none() && (shared || agent.limits.cost.is_some());
    match agents.iter().find(unpriced) {
        None => Ok(()),
        Some(agent) => Err(invalid(format!(
            "a money budget needs known prices, and the price of {}'s model {} is unknown; set its price, or use a token budget",
            agent.name, agent.model
        ))),
    }
}

fn invalid(what: impl Into<String>) -> Reject {
    Reject::Invalid { what: what.into() }
}
