//! When a round is over, and when a synthesis is there: functions of a session as it is read.

use roundtable_core::context_request::RequestKind;
use roundtable_core::event::{RoundOutcome, TurnOutcome};
use roundtable_core::id::AgentId;
use roundtable_core::session::Status;
use roundtable_core::window::{RoundRecord, Utterance};
use roundtable_core::{Live, Reject};
use roundtable_debate::{Findings, Record, Spent, Synthesis};

use super::handle::{SynthesisReport, invalid};
use crate::error::Result;

/// What a round of a debate came to, once it is over or waits for an approval; an error once it is
/// known that there will be no such round.
pub fn find_settled(live: &Live, number: u32) -> Option<Result<Findings>> {
    let (session, window) = (&live.session, &live.window);
    let completed = session.status == Status::Completed;
    let round = window.rounds().rev().find(|round| round.active && round.number == number);
    let asks = || session.requests.iter().any(|request| request.kind() == RequestKind::Approval);
    if !completed && !round.is_some_and(|round| round.outcome.is_some() || asks()) {
        return None;
    }
    let record = Record::of(live)?;
    let findings = record.findings(number);
    if findings.is_none() && completed {
        let hint = "the debate has no further rounds; start another debate, or fork this one";
        return Some(Err(
            Reject::NotActive { status: "completed".into(), hint: hint.into() }.into()
        ));
    }
    findings.filter(|found| is_settled(&record, found)).map(Ok)
}

/// Whether a round is over, or waits for an approval.
fn is_settled(record: &Record, findings: &Findings) -> bool {
    let over = record.round(findings.number).is_some_and(|round| round.outcome.is_some());
    over || findings.requests.iter().any(|request| request.kind() == RequestKind::Approval)
}

/// What a synthesis is about: the last round that was completed.
pub(super) fn last_completed(live: &Live) -> Option<(u32, u32)> {
    let completed =
        |round: &&RoundRecord| round.active && round.outcome == Some(RoundOutcome::Completed);
    let rounds = live.window.rounds().filter(completed);
    rounds.map(|round| (round.number, round.take)).max()
}

/// The synthesis of a debate up to this take of a round, the newest that answered.
pub(super) fn find_summed(
    live: &Live,
    last: Option<(u32, u32)>,
    agent: Option<&AgentId>,
) -> Option<SynthesisReport> {
    syntheses(live, last, agent).into_iter().find(|(_, turn)| answered(turn)).map(
        |(number, turn)| SynthesisReport {
            synthesis: Synthesis::read(&turn.text),
            number,
            agent: turn.agent.clone(),
            usage: Spent::from(turn.spent).into(),
        },
    )
}

/// The same; an error where it failed and nothing is under way.
pub(super) fn find_summed_or_failed(
    live: &Live,
    last: Option<(u32, u32)>,
    agent: Option<&AgentId>,
) -> Option<Result<SynthesisReport>> {
    if let Some(found) = find_summed(live, last, agent) {
        return Some(Ok(found));
    }
    let (_, failed) = syntheses(live, last, agent).into_iter().next()?;
    live.session.asides.is_empty().then(|| {
        let why = match &failed.outcome {
            Some(TurnOutcome::Failed { error }) => error.clone(),
            _ => "it was interrupted".to_owned(),
        };
        Err(invalid(format!("the synthesis failed: {why}; send the request again to retry")))
    })
}

/// The syntheses up to a take of a round, the newest first.
fn syntheses<'a>(
    live: &'a Live,
    last: Option<(u32, u32)>,
    agent: Option<&AgentId>,
) -> Vec<(u32, &'a Utterance)> {
    let asides = live.window.asides().into_iter().rev();
    let asides = asides.filter(|aside| Some((aside.number, aside.take)) == last);
    let turns = asides
        .filter_map(|aside| Some((aside.number, live.window.turns_of(aside).into_iter().next()?)));
    turns.filter(|(_, turn)| agent.is_none_or(|agent| turn.agent == *agent)).collect()
}

fn answered(turn: &Utterance) -> bool {
    match &turn.outcome {
        Some(TurnOutcome::Answered) => true,
        Some(TurnOutcome::Exhausted { .. } | TurnOutcome::Cancelled) => !turn.text.is_empty(),
        Some(TurnOutcome::Failed { .. }) | None => false,
    }
}
