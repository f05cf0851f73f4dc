//! I1 and I4: the log itself.

use roundtable_backend::StoredEvent;
use roundtable_core::event::Seq;
use roundtable_core::id::SessionId;

use super::{Findings, Rule, origin};

pub(super) fn check(session: &SessionId, stored: &[StoredEvent], found: &mut Findings) {
    let mut expected = origin(stored).map_or(Seq(0), |origin| origin.seq);
    let mut epoch = 0;
    for StoredEvent { epoch: writer, event } in stored {
        expected = expected.next();
        if event.seq != expected {
            found.add(
                Rule::I1,
                format!("{session}: event {} stands where {expected} belongs", event.seq),
            );
            expected = event.seq;
        }
        found.check(*writer >= epoch, Rule::I4, || {
            format!(
                "{session}: event {} was written in epoch {writer}, after epoch {epoch}",
                event.seq
            )
        });
        epoch = *writer;
    }
}

pub(super) fn check_unchanged(
    session: &SessionId,
    before: &[StoredEvent],
    after: &[StoredEvent],
    found: &mut Findings,
) {
    found.check(before.len() <= after.len(), Rule::I1, || {
        format!("{session}: the log had {} events and has {} now", before.len(), after.len())
    });
    for (old, new) in before.iter().zip(after) {
        let seq = old.event.seq;
        found.check(old.event == new.event, Rule::I1, || {
            format!(
                "{session}: event {seq} was {:?} and is {:?} now",
                old.event.body, new.event.body
            )
        });
        found.check(old.epoch == new.epoch, Rule::I4, || {
            format!("{session}: event {seq} had epoch {} and has {} now", old.epoch, new.epoch)
        });
    }
}
