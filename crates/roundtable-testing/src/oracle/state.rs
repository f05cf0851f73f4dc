//! I7: states. What an engine says the state is, what a fold of the log gives, and what a
//! snapshot with the rest of the log gives are one and the same.

use std::sync::Arc;

use roundtable_core::Live;
use roundtable_core::event::Event;
use roundtable_core::id::SessionId;
use roundtable_core::program::Programs;
use roundtable_core::session::Session;

use super::{Evidence, Findings, Rule};

/// At how many points of a log a snapshot is tried.
const SNAPSHOTS: usize = 3;

pub(super) fn check(evidence: &Evidence, found: &mut Findings) {
    for session in evidence.logs.keys() {
        check_snapshots(session, &evidence.programs, &evidence.lineage(session), found);
    }
    for state in &evidence.states {
        let log = evidence.lineage(&state.id);
        let known = log.iter().take_while(|event| event.seq <= state.head);
        let rebuilt = fold(&state.id, known);
        found.check(rebuilt == *state, Rule::I7, || {
            format!("{} at {}: {}", state.id, state.head, difference(&rebuilt, state))
        });
    }
}

fn fold<'a>(session: &SessionId, events: impl Iterator<Item = &'a Arc<Event>>) -> Session {
    let mut state = Session::new(session.clone());
    events.for_each(|event| state.evolve(event));
    state
}

/// A snapshot at any point, and the events after it, give what the whole log gives.
fn check_snapshots(
    session: &SessionId,
    programs: &Programs,
    log: &[Arc<Event>],
    found: &mut Findings,
) {
    let step = log.len().div_ceil(SNAPSHOTS).max(1);
    let mut live = Live::new(session.clone(), programs);
    let mut kept: Vec<(usize, Live)> = Vec::new();
    for (index, event) in log.iter().enumerate() {
        live.apply(event);
        if (index + 1) % step == 0 {
            kept.push((index + 1, live.clone()));
        }
    }
    for (taken, at_that_time) in kept {
        let Ok(bytes) = serde_json::to_vec(&at_that_time.session) else {
            found.add(
                Rule::I7,
                format!("{session}: the state after {taken} events has no JSON form"),
            );
            continue;
        };
        let state: Session = match serde_json::from_slice(&bytes) {
            Ok(state) => state,
            Err(error) => {
                found.add(
                    Rule::I7,
                    format!("{session}: the snapshot after {taken} events: {error}"),
                );
                continue;
            }
        };
        let from = state.window_from();
        let earlier = log[..taken].iter().filter(|event| event.seq >= from).map(Arc::as_ref);
        let mut resumed = Live::resume(state, earlier, programs);
        log[taken..].iter().for_each(|event| resumed.apply(event));
        found.check(resumed.session == live.session, Rule::I7, || {
            let what = difference(&live.session, &resumed.session);
            format!("{session}: a snapshot after {taken} events leads to another state: {what}")
        });
        found.check(resumed.window == live.window, Rule::I7, || {
            format!(
                "{session}: a snapshot after {taken} events leads to another transcript:\n{:#?}\n---\n{:#?}",
                live.window, resumed.window
            )
        });
    }
}

/// The fields in which two states differ.
fn difference(rebuilt: &Session, said: &Session) -> String {
    let (rebuilt, said) = (serde_json::to_value(rebuilt), serde_json::to_value(said));
    let (Ok(serde_json::Value::Object(rebuilt)), Ok(serde_json::Value::Object(said))) =
        (rebuilt, said)
    else {
        return "a state has no JSON form".to_owned();
    };
    let fields = rebuilt.iter().filter(|(name, value)| said.get(*name) != Some(value));
    let shown = fields.map(|(name, value)| {
        format!("{name}: the log gives {value}, the engine says {:?}", said.get(name))
    });
    shown.collect::<Vec<_>>().join("; ")
}
