//! I5: what readers received. I6: whether they were allowed to.

use std::sync::Arc;

use roundtable_core::event::{Body, Event, Seq, SessionEvent};

use roundtable_backend::StoredEvent;

use super::{Evidence, Findings, Reading, Rule, Violation};

pub(super) fn check(evidence: &Evidence, found: &mut Findings) {
    for reading in &evidence.readings {
        let log = evidence.lineage(&reading.session);
        let owner = log.first().and_then(|event| owner(event));
        found.check(reading.events.is_empty() || owner == reading.tenant, Rule::I6, || {
            let tenant = &reading.tenant;
            format!("{}: owned by {owner:?}, and read by {tenant:?}", reading.session)
        });
        // Events of one session that arrive in the feed of another one were never allowed there.
        for event in reading.events.iter().filter(|event| !log.contains(event)) {
            let has = |stored: &[StoredEvent]| stored.iter().any(|it| it.event == *event);
            let other = evidence.logs.iter().find(|(_, stored)| has(stored));
            if let Some((other, _)) = other {
                let what = format!("{}: received event {} of {other}", reading.session, event.seq);
                found.0.push(Violation { rule: Rule::I6, what });
            }
        }
        if let Some(difference) = first_difference(reading, &log) {
            found.0.push(difference);
            continue;
        }
        let head = log.last().map_or(Seq(0), |event| event.seq);
        let last = reading.events.last().map_or(Seq(reading.from.0.saturating_sub(1)), |e| e.seq);
        found.check(last >= head, Rule::I5, || {
            format!("{}: a reader stopped at {last}; the log ends at {head}", reading.session)
        });
    }
}

/// The tenant that a session belongs to: its first event names it.
fn owner(first: &Event) -> Option<String> {
    match &first.body {
        Body::Session(SessionEvent::SessionOpened(opening)) => opening.tenant.clone(),
        _ => None,
    }
}

pub(super) fn first_difference(reading: &Reading, log: &[Arc<Event>]) -> Option<Violation> {
    let mut expected = log.iter().skip_while(|event| event.seq < reading.from);
    let wrong = reading.events.iter().find_map(|event| match expected.next() {
        Some(stored) if stored == event => None,
        Some(stored) => Some(format!("received event {}, the log has {}", event.seq, stored.seq)),
        None => Some(format!("received event {}, which is not in the log", event.seq)),
    })?;
    Some(Violation { rule: Rule::I5, what: format!("{}: {wrong}", reading.session) })
}
