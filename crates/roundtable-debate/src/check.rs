//! What a debate has to be before it can be held, and a record before it can be read.

use super::{Record, Rules};
use roundtable_core::event::Opening;
use roundtable_core::id::AgentId;

/// The longest topic, in characters.
const MOST_TOPIC: usize = 10_000;

/// The fewest and the most who argue.
const SEATS: std::ops::RangeInclusive<usize> = 2..=10;

/// The most rounds, members and turns of a round that an imported record may have.
const MOST: usize = 1_000;

impl Rules {
    /// What is wrong with the opening of a debate, and what to do.
    pub(crate) fn check(&self, opening: &Opening) -> Result<(), String> {
        check_topic(&opening.topic)?;
        let seats = &opening.settings.seats;
        if !SEATS.contains(&seats.len()) {
            return Err(format!("a debate needs 2 to 10 agents; this one has {}", seats.len()));
        }
        let judges = [("analyst", &self.analyst), ("chair", &self.chair)];
        for (what, judge) in judges {
            let Some(judge) = judge else { continue };
            if seats.contains(judge) {
                return Err(format!(
                    "{judge} cannot be the {what} and argue; choose an agent without a seat"
                ));
            }
            if !opening.agents.iter().any(|agent| agent.id == *judge) {
                return Err(format!("the {what} {judge} is not among the agents of the session"));
            }
        }
        if self.analyst.is_some() && self.analyst == self.chair {
            return Err("the analyst and the chair must be different agents".to_owned());
        }
        let named = |name: &str| !name.trim().is_empty() && name.chars().count() <= 200;
        if self.perspectives.len() > *SEATS.end()
            || !self.perspectives.iter().all(|one| named(&one.name))
        {
            return Err(
                "at most 10 perspectives are allowed, each with a name of 1 to 200 characters"
                    .to_owned(),
            );
        }
        Ok(())
    }
}

impl Record {
    /// What is wrong with a record that is to be imported, and what to do.
    pub(crate) fn check(&self) -> Result<(), String> {
        check_topic(&self.topic)?;
        if self.members.is_empty() || self.members.len() > MOST || self.rounds.len() > MOST {
            return Err(format!(
                "a record must have 1 to {MOST} members and at most {MOST} rounds"
            ));
        }
        let known = |agent: &AgentId| self.member(agent).is_some();
        for (index, round) in self.rounds.iter().enumerate() {
            if round.number as usize != index + 1 {
                return Err(format!("found round {} instead of round {}", round.number, index + 1));
            }
            if round.outcome.is_none() {
                return Err(format!(
                    "round {} is not over; export the debate after it",
                    round.number
                ));
            }
            if round.turns.len() > MOST {
                return Err(format!("round {} has more than {MOST} turns", round.number));
            }
            if let Some(turn) = round.turns.iter().find(|turn| !known(&turn.agent)) {
                return Err(format!(
                    "{} answers in round {} but is not a member",
                    turn.agent, round.number
                ));
            }
        }
        Ok(())
    }
}

fn check_topic(topic: &str) -> Result<(), String> {
    let length = topic.chars().count();
    if topic.trim().is_empty() || length > MOST_TOPIC {
        return Err(format!(
            "the topic must have 1 to {MOST_TOPIC} characters; this one has {length}"
        ));
    }
    Ok(())
}
