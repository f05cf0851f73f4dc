//! `synthesise`: a debate is summed up between rounds, or after the last.

use crate::debate::Purpose;
use crate::event::{Body, RoundEvent, RoundOutcome};
use crate::id::{AgentId, RoundId};
use crate::message_context::MessageContext;
use crate::reject::Reject;
use crate::scope::Place;
use crate::session::{Draft, Session};
use crate::stage::Stage;

impl Session {
    /// The same wish for the same rounds does nothing: what there is can be read.
    pub(crate) fn synthesise(&self, agent: Option<&AgentId>) -> Result<Vec<Draft>, Reject> {
        let agent = self.synthesizer(agent)?;
        let counts = |mark: &&crate::session::Mark| {
            mark.active && mark.outcome == Some(RoundOutcome::Completed)
        };
        let last = self.marks.iter().filter(counts).max_by_key(|mark| mark.number);
        let Some(mark) = last else {
            return Err(invalid(
                "no round is completed yet, so there is nothing to sum up; run a round first",
            ));
        };
        let same = |number: u32, take: u32, by: &AgentId| {
            number == mark.number && take == mark.take && *by == agent
        };
        let done = self.syntheses.iter().any(|one| same(one.number, one.take, &one.agent));
        if let Some(round) = &self.round {
            let by = round.stages.iter().flat_map(Stage::agents).next();
            let under_way = round.aside && by.is_some_and(|by| same(round.number, round.take, by));
            return if done || under_way {
                Ok(Vec::new())
            } else {
                Err(Reject::Busy { round: round.number })
            };
        }
        if done {
            return Ok(Vec::new());
        }
        let ordinal = self.asides + 1;
        let input = MessageContext::new(&format!("aside_{ordinal}"), &self.id, None)?;
        let id = RoundId::derive(self.id.as_str(), format_args!("aside.{ordinal}"));
        let (number, take) = (mark.number, mark.take);
        let purpose = Purpose::Synthesise.name();
        let stages = vec![Purpose::Synthesise.stage([agent])];
        let opened = RoundEvent::RoundAsideOpened { number, take, purpose, stages, input };
        Ok(vec![(Place::round(&id), Body::Round(opened))])
    }

    /// Who sums up: who is asked to, else the analyst, the chair or the first seat.
    fn synthesizer(&self, asked: Option<&AgentId>) -> Result<AgentId, Reject> {
        let Some(rules) = &self.settings.debate else {
            return Err(invalid("only a debate can be summed up"));
        };
        if let Some(agent) = asked {
            let known = self.find_agent(agent).map(|agent| agent.id.clone());
            return known.ok_or_else(|| Reject::UnknownAgent { agent: agent.clone() });
        }
        let here = |id: &AgentId| self.find_agent(id).map(|agent| agent.id.clone());
        let judges = [&rules.analyst, &rules.chair].into_iter().flatten();
        let seats = self.seats();
        judges
            .chain(&seats)
            .find_map(here)
            .ok_or_else(|| invalid("nobody takes part in this debate"))
    }
}

fn invalid(what: &str) -> Reject {
    Reject::Invalid { what: what.to_owned() }
}
