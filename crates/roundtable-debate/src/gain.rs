//! What the debate added: the vote before any exchange against the last one, who changed, and what
//! it took. And what one agent said over the rounds.

use schemars::JsonSchema;
use serde::Serialize;

use super::findings::rounded;
use super::measure::ANOTHER;
use super::record::{Record, RecordedRound, Spent};
use super::{FullResponse, Position, Purpose, Response, Stance, position, usage};
use roundtable_core::document::Usage;
use roundtable_core::id::AgentId;

/// Number of agents per stance.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Vote {
    /// For.
    pub yes: u32,
    /// Against.
    pub no: u32,
    /// Neither.
    pub neutral: u32,
    /// Agents without a stance.
    pub open: u32,
}

impl Vote {
    /// How many take one.
    pub fn sides(self) -> u32 {
        self.yes + self.no + self.neutral
    }
}

/// A changed position.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct PositionChange {
    /// Agent id.
    #[serde(rename = "agentId")]
    pub agent: AgentId,
    /// What it held before any exchange.
    #[serde(serialize_with = "position::words")]
    #[schemars(with = "String")]
    pub before: Position,
    /// What it holds now.
    #[serde(serialize_with = "position::words")]
    #[schemars(with = "String")]
    pub after: Position,
    /// How far its words moved over all rounds, where that was measured.
    #[serde(skip)]
    pub drift: f64,
}

/// Comparison of the first round with the last one, and the cost of the rounds between them.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Gain {
    /// The vote before any exchange.
    #[serde(rename = "firstVote")]
    pub first: Vote,
    /// The last vote.
    #[serde(rename = "lastVote")]
    pub last: Vote,
    /// The agreement before any exchange.
    pub agreement_before: f64,
    /// The agreement after the last round.
    pub agreement_after: f64,
    /// The agents that changed their position.
    pub changed: Vec<PositionChange>,
    /// Usage of all rounds after the first.
    #[serde(rename = "usage", serialize_with = "usage::usage")]
    #[schemars(with = "Usage")]
    pub spent: Spent,
}

impl Record {
    /// What the debate added; nothing before a second round is over.
    pub fn added(&self) -> Option<Gain> {
        let over: Vec<&RecordedRound> =
            self.rounds.iter().filter(|round| round.outcome.is_some()).collect();
        let (first, last) = (over.first()?, over.last()?);
        if first.number == last.number {
            return None;
        }
        let answered = |number: u32| -> Vec<Response> {
            let all = self.responses(number).into_iter();
            all.filter(|response| response.error.is_none()).collect()
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
            (turned || drift >= ANOTHER).then(|| PositionChange {
                agent: now.agent.clone(),
                before: then.position.clone(),
                after: now.position.clone(),
                drift,
            })
        });
        Some(Gain {
            first: vote(&before),
            last: vote(&after),
            agreement_before: self.agreement(first),
            agreement_after: self.agreement(last),
            changed: changed.collect(),
            spent: over.iter().skip(1).fold(Spent::default(), |sum, round| sum.plus(round.spent())),
        })
    }

    /// What an agent said in every round, and how sure it was; nothing when it takes no part.
    pub fn thoughts(&self, agent: &AgentId) -> Option<Vec<FullResponse>> {
        self.member(agent)?;
        let rounds = self
            .rounds
            .iter()
            .filter(|round| round.turns_for(Purpose::Answer).any(|turn| turn.agent == *agent));
        let own = |number: u32| {
            let response =
                self.responses(number).into_iter().find(|response| response.agent == *agent);
            response.map(|response| FullResponse::new(number, response))
        };
        Some(rounds.filter_map(|round| own(round.number)).collect())
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
