//! I5: what readers received.

use std::sync::Arc;

use roundtable_core::event::{Event, Seq};

use super::{Evidence, Findings, Reading, Rule, Violation};

pub(super) fn check(evidence: &Evidence, found: &mut Findings) {
    for reading in &evidence.readings {
        let log = evidence.lineage(&reading.session);
        if let Some(difference) = first_difference(reading, &log) {
            found.0.push(difference);
            continue;
        }
        let head = log.last().map_or(Seq(0), |event| event.seq);
        let last = reading.events.last().map_or(Seq(reading.from.0.saturating_sub(1)), |e| e.seq);
        found.check(last >= head, Rule::I5, || {
            format!("{}: a reader came to rest at {last}; the log ends at {head}", reading.session)
        });
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
