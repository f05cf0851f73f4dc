//! When a round is over, and when a synthesis is there.

use roundtable_core::context_request::RequestKind;
use roundtable_core::debate::{Findings, Record, RecordedSynthesis, Synthesis};
use roundtable_core::event::{
    Body, ContextEvent, Event, RoundEvent, RoundOutcome, SessionEvent, TurnOutcome,
};
use roundtable_core::id::AgentId;

use super::handle::{Summed, invalid};
use crate::error::Result;

/// Looks for the event after which a round may be over.
pub(super) struct Reading {
    number: u32,
    opened: bool,
}

impl Reading {
    pub fn new(number: u32) -> Self {
        Self { number, opened: false }
    }

    pub fn is_done(&mut self, event: &Event) -> bool {
        match &event.body {
            Body::Round(RoundEvent::RoundOpened { number, .. }) => {
                self.opened |= *number == self.number;
                false
            }
            Body::Round(RoundEvent::RoundClosed { .. }) => self.opened,
            Body::Context(ContextEvent::ContextRequested(request)) => {
                self.opened && request.kind() == RequestKind::Approval
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
    let last =
        then.rounds.iter().rev().find(|round| round.outcome == Some(RoundOutcome::Completed))?;
    let mut own = now.syntheses.iter().rev().filter(|one| {
        one.number == last.number
            && one.take == last.take
            && agent.is_none_or(|agent| one.turn.agent == *agent)
    });
    own.find(|one| one.turn.answered()).map(summed)
}

fn summed(found: &RecordedSynthesis) -> Summed {
    Summed {
        synthesis: Synthesis::read(&found.turn.text),
        number: found.number,
        agent: found.turn.agent.clone(),
        spent: found.turn.spent,
    }
}

/// The synthesis of the debate as it stands, if it is there; an error if it failed and nothing is
/// under way.
pub(super) fn find_summed(
    record: &Record,
    agent: Option<&AgentId>,
    open: bool,
) -> Result<Option<Summed>> {
    let last =
        record.rounds.iter().rev().find(|round| round.outcome == Some(RoundOutcome::Completed));
    let Some(last) = last else { return Ok(None) };
    let mut own = record.syntheses.iter().rev().filter(|one| {
        one.number == last.number
            && one.take == last.take
            && agent.is_none_or(|agent| one.turn.agent == *agent)
    });
    let newest = own.clone().next();
    if let Some(found) = own.find(|one| one.turn.answered()) {
        return Ok(Some(summed(found)));
    }
    match newest {
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
