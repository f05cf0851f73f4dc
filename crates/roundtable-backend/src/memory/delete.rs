//! Deleting a session.

use std::collections::HashSet;

use roundtable_core::id::{RoundId, SessionId};
use roundtable_core::projection::Row;
use roundtable_ports::{LogError, Ownership};

use super::disk::{Disk, Kept};
use super::quota::owner_of;

impl Disk {
    pub(super) fn find_fork(&self, session: &SessionId) -> Option<SessionId> {
        let is_fork =
            |kept: &Kept| kept.origin.as_ref().is_some_and(|origin| origin.session == *session);
        let tables = self.tables();
        tables.sessions.iter().find(|(_, kept)| is_fork(kept)).map(|(fork, _)| fork.clone())
    }

    /// What it spent stays in the usage of its day. Its epoch stays, and grows: nobody who wrote it
    /// before can write it again.
    pub(super) fn delete(&self, own: &Ownership) -> Result<bool, LogError> {
        if self.find_fork(&own.session).is_some() {
            return Ok(false);
        }
        let mut tables = self.tables();
        let kept = tables.owned(own)?;
        if has_open_round(&kept.rows) {
            return Ok(false);
        }
        let gone = Kept::deleted(kept.epoch + 1);
        let kept = std::mem::replace(kept, gone);
        let owner = owner_of(&tables, &kept);
        let spent = kept.spent.into_iter().map(|(at, amount)| (owner.clone(), at, amount));
        tables.spent_before.extend(spent);
        tables.forget(&own.session);
        drop(tables);
        self.vectors.erase_of(&own.session);
        Ok(true)
    }
}

fn has_open_round(rows: &[Row]) -> bool {
    let mut open: HashSet<&RoundId> = HashSet::new();
    for row in rows {
        match row {
            Row::Round { round, .. } => drop(open.insert(round)),
            Row::RoundEnd { round, .. } => drop(open.remove(round)),
            _ => {}
        }
    }
    !open.is_empty()
}
