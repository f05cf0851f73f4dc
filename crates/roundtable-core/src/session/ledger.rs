//! The ledger: what is booked for each request to a provider. Decisions write it into events, and the
//! session's account and a debate's record are both folds of what the events say.

use super::Session;
use super::report::cost_of;
use crate::agent::Agent;
use crate::budget::{Charge, Spend};
use crate::event::{Body, Event, IterationEvent};
use crate::input::{Reply, Unanswered};
use crate::iteration::{Iteration, Phase};
use crate::turn::Turn;

impl Session {
    /// What an event books, before it is applied. Events of earlier versions do not say, and book
    /// what had been reserved.
    pub fn charge(&self, event: &Event) -> Option<Charge> {
        let Body::Iteration(body) = &event.body else { return None };
        let place = &event.place;
        let scope = self.find_scope(place.round.as_ref()?)?;
        let turn = scope.find_turn(place.turn.as_ref()?)?;
        let iteration =
            turn.iteration.as_ref().filter(|open| place.iteration.as_ref() == Some(&open.id));
        let reserved = reserved(iteration?)?;
        let price = self.find_agent(&turn.agent).and_then(|agent| agent.price);
        let all = || Charge::reserved(reserved, 1, price);
        match body {
            IterationEvent::ModelCallInterrupted { charge, .. }
            | IterationEvent::ModelCallFailed { charge, .. }
            | IterationEvent::ModelCallCancelled { charge, .. } => Some(charge.unwrap_or_else(all)),
            IterationEvent::ModelCallRetried { charge, .. } => Some(*charge),
            IterationEvent::ModelCallFinished { record, charge, .. } => {
                let counted = |usage| Charge::counted(usage, record.cost);
                let answer = record.usage.map(counted).or(*charge).unwrap_or_else(all);
                Some(match record.broken_off {
                    0 => answer,
                    times => answer.plus(Charge::reserved(reserved, times, price)),
                })
            }
            IterationEvent::IterationOpened { .. }
            | IterationEvent::ModelCallStarted { .. }
            | IterationEvent::IterationClosed { .. } => None,
        }
    }

    /// What is booked for a request of a running call that brought no answer. A turn that waits for
    /// the model of whoever calls made no request here.
    pub(super) fn unanswered(
        &self,
        turn: &Turn,
        iteration: &Iteration,
        unanswered: Unanswered,
    ) -> Option<Charge> {
        let agent = self.find_agent(&turn.agent)?;
        let reserved = reserved(iteration)?;
        Some(match unanswered {
            Unanswered::BrokenOff { arrived } if !self.waits_for_host(turn) => {
                Charge::estimate(reserved, arrived, agent.max_tokens, agent.price)
            }
            Unanswered::BrokenOff { .. } | Unanswered::Refused => Charge::REFUSED,
        })
    }

    /// What is booked for an answer: as the provider counted it, else an estimate.
    pub(super) fn answered(&self, iteration: &Iteration, agent: &Agent, reply: &Reply) -> Charge {
        let record = &reply.record;
        let cost = cost_of(agent, record);
        let Some(usage) = record.usage else {
            let reserved = reserved(iteration).unwrap_or_default();
            let charge = Charge::estimate(reserved, reply.bytes(), agent.max_tokens, agent.price);
            return Charge { cost: cost.or(charge.cost), ..charge };
        };
        Charge::counted(usage, cost)
    }
}

fn reserved(iteration: &Iteration) -> Option<Spend> {
    match iteration.phase {
        Phase::AwaitingModel { reserved, .. } => Some(reserved),
        Phase::Pending | Phase::AwaitingTools(_) | Phase::Over => None,
    }
}
