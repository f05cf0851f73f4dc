//! What the debate added: the vote before any exchange against the last one, who changed, and what
//! it took. And what one agent said over the rounds.

use super::findings::rounded;
use super::measure::ANOTHER;
use super::record::{Record, RecordedRound, Spent};
use super::{Position, Purpose, Response, Stance};
use roundtable_core::id::AgentId;

/// How many take which side in a round.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Vote {
    /// For.
    pub yes: u32,
    /// Against.
    pub no: u32,
    /// Neither.
    pub neutral: u32,
    /// Without a side.
    pub open: u32,
}

impl Vote {
    /// How many take one.
    pub fn sides(self) -> u32 {
        self.yes + self.no + self.neutral
    }
}

/// An agent whose position changed.
#[derive(Debug, Clone, PartialEq)]
pub struct Changed {
    /// Who.
    pub agent: AgentId,
    /// What it held before any exchange.
    pub before: Position,
    /// What it holds now.
    pub after: Position,
    /// How far its words moved over all rounds, where that was measured.
    pub drift: f64,
}

/// What the debate added to the first round.
#[derive(Debug, Clone, PartialEq)]
pub struct Added {
    /// The vote before any exchange.
    pub first: Vote,
    /// The last vote.
    pub last: Vote,
    /// The agreement before any exchange.
    pub agreement_before: f64,
    /// The last one.
    pub agreement_after: f64,
    /// Who changed its position.
    pub changed: Vec<Changed>,
    /// What all rounds after the first took.
    pub spent: Spent,
}

impl Record {
    /// What the debate added; nothing before a second round is over.
    pub fn added(&self) -> Option<Added> {
        let over: Vec<&RecordedRound> =
            self.rounds.iter().filter(|round| round.outcome.is_some()).collect();
        let (first, last) = (over.first()?, over.last()?);
        if first.number == last.number {
            return None;
        }
        let answered = |number: u32| -> Vec<Response> {
            let all = self.responses(number).into_iter();
            all.filter(|response| response.failure().is_none()).collect()
        };
        let before = answered(first.number);
        let after = answered(last.number);
        let drift = |agent: &AgentId| {
            let measures = over.iter().skip(1).filter_map(|round| round.measure.as_ref());
            let drifts = measures.flat_map(|measure| &measure.drift);
            drifts.filter(|drift| drift.agent == *agent).map(|drift| drift.change).sum::<f64>()
        };
        let changed = after.iter().filter_map(|now| {
            let then = before.iter().find(|then| then.agent == now.agent)?;
            let drift = rounded(drift(&now.agent));
            let turned = now.position.stance != then.position.stance;
            (turned || drift >= ANOTHER).then(|| Changed {
                agent: now.agent.clone(),
                before: then.position.clone(),
                after: now.position.clone(),
                drift,
            })
        });
        let agreement =
            |number| self.judgement(number).map_or(0.0, |judgement| judgement.agreement);
        Some(Added {
            first: vote(&before),
            last: vote(&after),
            agreement_before: agreement(first.number),
            agreement_after: agreement(last.number),
            changed: changed.collect(),
            spent: over.iter().skip(1).fold(Spent::default(), |sum, round| sum.plus(round.spent())),
        })
    }

    /// What an agent said in every round, and how sure it was; nothing when it takes no part.
    pub fn thoughts(&self, agent: &AgentId) -> Option<Vec<(u32, Response)>> {
        self.member(agent)?;
        let rounds = self
            .rounds
            .iter()
            .filter(|round| round.turns_for(Purpose::Answer).any(|turn| turn.agent == *agent));
        let own = |number: u32| {
            self.responses(number).into_iter().find(|response| response.agent == *agent)
        };
        Some(rounds.filter_map(|round| Some((round.number, own(round.number)?))).collect())
    }
}

fn vote(responses: &[Response]) -> Vote {
    let mut vote = Vote::default();
    for response in responses {
        let side = match response.position.stance {
            Some(Stance::Yes) => &mut vote.yes,
            Some(Stance::No) => &mut vote.no,
            Some(Stance::Neutral) => &mut vote.neutral,
            None => &mut vote.open,
        };
        *side += 1;
    }
    vote
}
