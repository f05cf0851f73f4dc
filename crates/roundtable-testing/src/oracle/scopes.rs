//! Scopes: every round, turn, iteration, model call and tool call that opened is closed exactly
//! once, children first.

use std::collections::{BTreeMap, BTreeSet};

use roundtable_backend::StoredEvent;
use roundtable_core::event::{Body, Event, IterationEvent, RoundEvent, ToolCallEvent, TurnEvent};
use roundtable_core::id::SessionId;

use super::{Findings, Rule};

/// What an event does to a scope.
enum Change {
    Opens { scope: String, parent: Option<String> },
    Closes(String),
}

pub(super) fn check(session: &SessionId, stored: &[StoredEvent], found: &mut Findings) {
    let mut open: BTreeMap<String, Option<String>> = BTreeMap::new();
    let mut closed: BTreeSet<String> = BTreeSet::new();
    for event in stored.iter().map(|stored| &stored.event) {
        let wrong = match change(event) {
            None => None,
            Some(Change::Opens { scope, parent }) => {
                let wrong = opening_fault(&scope, parent.as_ref(), &open, &closed);
                open.insert(scope, parent);
                wrong
            }
            Some(Change::Closes(scope)) => {
                let wrong = closing_fault(&scope, &open);
                open.remove(&scope);
                closed.insert(scope);
                wrong
            }
        };
        if let Some(wrong) = wrong {
            found.add(Rule::Scopes, format!("{session}: event {}: {wrong}", event.seq));
        }
    }
    for scope in open.keys() {
        found.add(Rule::Scopes, format!("{session}: {scope} is still open"));
    }
}

fn opening_fault(
    scope: &str,
    parent: Option<&String>,
    open: &BTreeMap<String, Option<String>>,
    closed: &BTreeSet<String>,
) -> Option<String> {
    if open.contains_key(scope) || closed.contains(scope) {
        return Some(format!("{scope} opens a second time"));
    }
    match parent {
        Some(parent) if !open.contains_key(parent) => {
            Some(format!("{scope} opens inside {parent}, which is not open"))
        }
        None if !open.is_empty() => Some(format!("{scope} opens while another round is open")),
        Some(_) | None => None,
    }
}

fn closing_fault(scope: &str, open: &BTreeMap<String, Option<String>>) -> Option<String> {
    if !open.contains_key(scope) {
        return Some(format!("{scope} closes and is not open"));
    }
    let child = open.iter().find(|(_, parent)| parent.as_deref() == Some(scope));
    child.map(|(child, _)| format!("{scope} closes before {child} inside it"))
}

fn change(event: &Event) -> Option<Change> {
    let place = &event.place;
    let round = || place.round.as_ref().map(ToString::to_string);
    let turn = || place.turn.as_ref().map(ToString::to_string);
    let iteration = || place.iteration.as_ref().map(ToString::to_string);
    let call = || place.tool_call.as_ref().map(ToString::to_string);
    let opens = |scope: Option<String>, parent: Option<String>| {
        Some(Change::Opens {
            scope: scope.unwrap_or_else(|| "a scope without id".to_owned()),
            parent,
        })
    };
    let closes = |scope: Option<String>| scope.map(Change::Closes);
    let attempt_of = |attempt: u32| iteration().map(|id| format!("{id} attempt {attempt}"));
    let job_of = |ordinal: u32| round().map(|id| format!("{id} job {ordinal}"));
    match &event.body {
        Body::Round(RoundEvent::RoundOpened { .. } | RoundEvent::RoundAsideOpened { .. }) => {
            opens(round(), None)
        }
        Body::Round(RoundEvent::StagesAdded { .. }) => None,
        Body::Round(RoundEvent::JobStarted { ordinal, .. }) => opens(job_of(*ordinal), round()),
        Body::Round(RoundEvent::JobFinished { ordinal, .. }) => closes(job_of(*ordinal)),
        Body::Round(RoundEvent::RoundClosed { .. }) => closes(round()),
        Body::Turn(TurnEvent::TurnStarted { task, .. }) => {
            opens(turn(), task.tool_call().map(ToString::to_string).or_else(round))
        }
        Body::Turn(TurnEvent::TurnEnded { .. }) => closes(turn()),
        Body::Iteration(body) => match body {
            IterationEvent::IterationOpened { .. } => opens(iteration(), turn()),
            IterationEvent::IterationClosed { .. } => closes(iteration()),
            IterationEvent::ModelCallRetried { .. } => None,
            IterationEvent::ModelCallStarted { attempt, .. } => {
                opens(attempt_of(*attempt), iteration())
            }
            IterationEvent::ModelCallInterrupted { attempt, .. }
            | IterationEvent::ModelCallFinished { attempt, .. }
            | IterationEvent::ModelCallFailed { attempt, .. }
            | IterationEvent::ModelCallCancelled { attempt, .. } => closes(attempt_of(*attempt)),
        },
        Body::ToolCall(ToolCallEvent::ToolCallRequested { .. }) => opens(call(), iteration()),
        Body::ToolCall(ToolCallEvent::ToolCallFinished(_)) => closes(call()),
        Body::ToolCall(_) | Body::Session(_) | Body::Context(_) => None,
        Body::Unknown { .. } | Body::Redacted => None,
    }
}
