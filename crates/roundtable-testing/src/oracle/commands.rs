//! I2: every acknowledged command has exactly one effect, a refused one none, and nothing happens
//! that nobody asked for.

use std::collections::{BTreeMap, BTreeSet};

use roundtable_core::digest::Digest;
use roundtable_core::event::{Body, ContextEvent, RoundEvent, SessionEvent};
use roundtable_core::id::{ContextRequestId, SessionId};
use roundtable_core::input::Command;

use super::{Answer, Evidence, Findings, Order, Rule};

pub(super) fn check(evidence: &Evidence, found: &mut Findings) {
    for order in &evidence.orders {
        check_record(evidence, order, found);
        check_say(evidence, order, found);
    }
    for session in evidence.logs.keys() {
        let orders: Vec<&Order> =
            evidence.orders.iter().filter(|order| order.session == *session).collect();
        check_counts(evidence, session, &orders, found);
        check_inputs(evidence, session, &orders, found);
        check_requests(evidence, session, &orders, found);
    }
}

/// What the store remembers of a command is what its caller was told.
fn check_record(evidence: &Evidence, order: &Order, found: &mut Findings) {
    let Some(id) = &order.id else { return };
    let records = evidence.records.get(&order.session).map(Vec::as_slice).unwrap_or_default();
    let records: Vec<_> = records.iter().filter(|record| record.id == *id).collect();
    match &order.answer {
        Answer::Acknowledged(receipt) => {
            let same = |record: &&roundtable_ports::CommandRecord| {
                record.receipt == *receipt && record.digest == Digest::of_json(&order.command)
            };
            let head = evidence.lineage(&order.session).last().map(|event| event.seq);
            let holds = records.len() == 1 && records.iter().all(same) && Some(receipt.seq) <= head;
            found.check(holds, Rule::I2, || {
                format!("{id} was acknowledged with {receipt:?}; recorded: {records:?}")
            });
        }
        Answer::Refused(why) => found.check(records.is_empty(), Rule::I2, || {
            format!("{id} was refused ({why}) and is recorded: {records:?}")
        }),
        Answer::Open | Answer::Lost => {
            found.add(Rule::I2, format!("{id} was never answered"));
        }
    }
}

fn check_say(evidence: &Evidence, order: &Order, found: &mut Findings) {
    let Command::Say(say) = &order.command else { return };
    let id = say.context.message_id();
    let is_it = |event: &&SessionEvent| matches!(event, SessionEvent::SessionInputAccepted(a) if a.context.message_id() == id);
    let accepted = own(evidence, &order.session).filter(is_it).count();
    let holds = match order.answer {
        Answer::Acknowledged(_) => accepted == 1,
        Answer::Refused(_) => accepted == 0,
        Answer::Open | Answer::Lost => accepted <= 1,
    };
    found.check(holds, Rule::I2, || {
        format!(
            "{}: message {id} ({:?}) is in the log {accepted} times",
            order.session, order.answer
        )
    });
}

/// Commands that leave one event each: as many events as acknowledgements.
fn check_counts(evidence: &Evidence, session: &SessionId, orders: &[&Order], found: &mut Findings) {
    type Pair = (&'static str, fn(&Command) -> bool, fn(&SessionEvent) -> bool);
    let pairs: [Pair; 5] = [
        (
            "open",
            |c| matches!(c, Command::Open(_)),
            |e| matches!(e, SessionEvent::SessionOpened(_)),
        ),
        (
            "fork",
            |c| matches!(c, Command::Fork { .. }),
            |e| matches!(e, SessionEvent::SessionForked { .. }),
        ),
        ("pause", |c| matches!(c, Command::Pause), |e| matches!(e, SessionEvent::SessionPaused)),
        ("resume", |c| matches!(c, Command::Resume), |e| matches!(e, SessionEvent::SessionResumed)),
        (
            "regenerate",
            |c| matches!(c, Command::Regenerate),
            |e| matches!(e, SessionEvent::SessionRoundSuperseded { redo: true, .. }),
        ),
    ];
    for (word, is_command, is_event) in pairs {
        let sent = || orders.iter().filter(|order| is_command(&order.command));
        let sure = sent().filter(|o| matches!(o.answer, Answer::Acknowledged(_))).count();
        let unsure = sent().filter(|o| matches!(o.answer, Answer::Open | Answer::Lost)).count();
        let happened = own(evidence, session).filter(|event| is_event(event)).count();
        let asked = if word == "regenerate" { retaken(evidence, session) } else { 0 };
        let happened = happened.saturating_sub(asked);
        found.check((sure..=sure + unsure).contains(&happened), Rule::I2, || {
            format!("{session}: {sure} times {word} acknowledged, {unsure} in doubt, {happened} in the log")
        });
    }
}

/// An accepted input was sent by someone, and opens one round or is dropped. A further take of
/// its round is one that somebody asked for.
fn check_inputs(evidence: &Evidence, session: &SessionId, orders: &[&Order], found: &mut Findings) {
    let mut fates: BTreeMap<&str, u32> = BTreeMap::new();
    let mut redo = false;
    let events = evidence.logs.get(session).map(Vec::as_slice).unwrap_or_default();
    for event in events.iter().map(|stored| &stored.event) {
        match &event.body {
            Body::Session(SessionEvent::SessionInputAccepted(accepted)) => {
                fates.insert(accepted.context.message_id(), 0);
            }
            Body::Session(SessionEvent::SessionInputDropped { message_id, .. }) => {
                *fates.entry(message_id).or_insert(10) += 1;
            }
            Body::Session(SessionEvent::SessionRoundSuperseded { redo: true, .. }) => redo = true,
            // A round that is run again is no second effect of its message, which may even be the
            // origin's, in a fork. One that failed is run again for a message of its own.
            Body::Round(RoundEvent::RoundOpened { input, .. })
                if std::mem::take(&mut redo) && fates.get(input.message_id()) != Some(&0) => {}
            Body::Round(RoundEvent::RoundOpened { input, .. }) => {
                *fates.entry(input.message_id()).or_insert(10) += 1;
            }
            _ => {}
        }
    }
    for (id, times) in fates {
        found.check(times == 1, Rule::I2, || {
            format!("{session}: message {id} opened a round or was dropped {times} times")
        });
        let sent = |order: &&&Order| matches!(&order.command, Command::Say(say) if say.context.message_id() == id);
        found.check(orders.iter().filter(sent).count() == 1, Rule::I2, || {
            format!("{session}: nobody, or more than one, sent message {id}")
        });
    }
}

/// How many failed rounds were run again for the next input, without anyone asking to regenerate.
fn retaken(evidence: &Evidence, session: &SessionId) -> usize {
    let (mut redo, mut retaken) = (false, 0);
    let events = evidence.logs.get(session).map(Vec::as_slice).unwrap_or_default();
    let mut waiting = BTreeSet::new();
    for event in events.iter().map(|stored| &stored.event) {
        match &event.body {
            Body::Session(SessionEvent::SessionInputAccepted(accepted)) => {
                waiting.insert(accepted.context.message_id());
            }
            Body::Session(SessionEvent::SessionRoundSuperseded { redo: true, .. }) => redo = true,
            Body::Round(RoundEvent::RoundOpened { input, .. }) => {
                let own = waiting.remove(input.message_id());
                retaken += usize::from(std::mem::take(&mut redo) && own);
            }
            _ => {}
        }
    }
    retaken
}

/// A request is answered at most once, with an answer that somebody gave, and never after it was
/// withdrawn.
fn check_requests(
    evidence: &Evidence,
    session: &SessionId,
    orders: &[&Order],
    found: &mut Findings,
) {
    let mut ends: BTreeMap<&ContextRequestId, u32> = BTreeMap::new();
    let log = evidence.lineage(session);
    let own_from = evidence.logs.get(session).and_then(|own| own.first()).map(|s| s.event.seq);
    for event in &log {
        let Body::Context(body) = &event.body else { continue };
        match body {
            ContextEvent::ContextRequested(request) => {
                let before = ends.insert(&request.id, 0);
                found.check(before.is_none(), Rule::I2, || {
                    format!("{session}: {} was raised twice", request.id)
                });
            }
            ContextEvent::ContextWithdrawn { request } => *ends.entry(request).or_insert(10) += 1,
            ContextEvent::ContextProvided(result) => {
                *ends.entry(&result.request).or_insert(10) += 1;
                let results = orders.iter().flat_map(|order| match &order.command {
                    Command::Provide(results) => results.as_slice(),
                    Command::Say(say) => say.results.as_slice(),
                    _ => &[],
                });
                let given = Some(event.seq) < own_from || results.into_iter().any(|r| r == result);
                found.check(given, Rule::I2, || {
                    format!("{session}: nobody gave the answer {result:?}")
                });
            }
        }
    }
    for (id, times) in ends.into_iter().filter(|(_, times)| *times > 1) {
        found.add(Rule::I2, format!("{session}: {id} was answered or withdrawn {times} times"));
    }
}

/// What happened to the session as a whole, in its own log.
fn own<'a>(evidence: &'a Evidence, session: &SessionId) -> impl Iterator<Item = &'a SessionEvent> {
    let stored = evidence.logs.get(session).map(Vec::as_slice).unwrap_or_default();
    stored.iter().filter_map(|stored| match &stored.event.body {
        Body::Session(event) => Some(event),
        _ => None,
    })
}
