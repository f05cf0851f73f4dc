//! When a round is over, and when a synthesis is there.

use roundtable_core::context_request::RequestKind;
use roundtable_core::event::{
    Body, ContextEvent, Event, RoundEvent, RoundOutcome, SessionEvent, TurnOutcome,
};
use roundtable_core::id::{AgentId, RoundId};
use roundtable_debate::{Findings, Record, RecordedRound, RecordedSynthesis, Synthesis};

use super::handle::{Summed, invalid};
use crate::error::Result;

/// Looks for the event after which a round may be over.
pub(super) struct Reading {
    number: u32,
    opened: Option<RoundId>,
}

impl Reading {
    pub fn new(number: u32) -> Self {
        Self { number, opened: None }
    }

    pub fn is_done(&mut self, event: &Event) -> bool {
        match &event.body {
            Body::Round(RoundEvent::RoundOpened { number, .. }) => {
                if *number == self.number {
                    self.opened.clone_from(&event.place.round);
                }
                false
            }
            Body::Round(RoundEvent::RoundClosed { .. }) => {
                self.opened.is_some() && event.place.round == self.opened
            }
            Body::Context(ContextEvent::ContextRequested(request)) => {
                self.opened.is_some() && request.kind() == RequestKind::Approval
            }
            Body::Session(
                SessionEvent::SessionCompleted { .. } | SessionEvent::SessionImported(_),
            ) => true,
            _ => false,
        }
    }
}

/// Whether a round is over, or waits for an approval.
pub(super) fn is_settled(record: &Record, findings: &Findings) -> bool {
    let over = record.round(findings.number).is_some_and(|round| round.outcome.is_some());
    over || findings.requests.iter().any(|request| request.kind() == RequestKind::Approval)
}

/// The synthesis of the debate as it was then, if it is there now.
pub(super) fn find_summed_then(
    then: &Record,
    now: &Record,
    agent: Option<&AgentId>,
) -> Option<Summed> {
    syntheses(then, now, agent).find(|one| one.turn.answered()).map(summed)
}

/// The syntheses of the debate as it was then, the newest first.
fn syntheses<'a>(
    then: &'a Record,
    now: &'a Record,
    agent: Option<&'a AgentId>,
) -> impl Iterator<Item = &'a RecordedSynthesis> {
    let completed = |round: &&RecordedRound| round.outcome == Some(RoundOutcome::Completed);
    let last = then.rounds.iter().rev().find(completed).map(|round| (round.number, round.take));
    now.syntheses.iter().rev().filter(move |one| {
        Some((one.number, one.take)) == last && agent.is_none_or(|agent| one.turn.agent == *agent)
    })
}

fn summed(found: &RecordedSynthesis) -> Summed {
    Summed {
        synthesis: Synthesis::read(&found.turn.text),
        number: found.number,
        agent: found.turn.agent.clone(),
        spent: found.turn.spent,
    }
}

/// The synthesis of the debate as it was then, if it is there; an error if it failed and nothing is
/// under way.
pub(super) fn find_summed(
    then: &Record,
    now: &Record,
    agent: Option<&AgentId>,
    open: bool,
) -> Result<Option<Summed>> {
    if let Some(found) = find_summed_then(then, now, agent) {
        return Ok(Some(found));
    }
    match syntheses(then, now, agent).next() {
        Some(failed) if !open => {
            let why = match &failed.turn.outcome {
                Some(TurnOutcome::Failed { error }) => error.clone(),
                _ => "it was cut off".to_owned(),
            };
            Err(invalid(format!(
                "the debate could not be summed up: {why}; ask again to try again"
            )))
        }
        _ => Ok(None),
    }
}
