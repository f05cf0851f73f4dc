//! Who may write a session.

use roundtable_core::id::{NodeId, SessionId};
use roundtable_ports::{Crash, Crashes, LeaseError, Ownership};

use super::disk::{Disk, Tables};

impl Disk {
    pub(super) fn claim(
        &self,
        session: &SessionId,
        node: &NodeId,
        alone: bool,
    ) -> Result<Ownership, LeaseError> {
        let mut tables = self.tables();
        let Tables { sessions, alive, .. } = &mut *tables;
        let kept = sessions.entry(session.clone()).or_default();
        if let Some(owner) = kept.owner.as_ref().filter(|owner| *owner != node) {
            if alive.contains(owner) {
                return Err(LeaseError::Held { node: owner.clone() });
            }
            let crashes = kept.crashes.clone().after_death();
            if crashes.parked.is_some() {
                kept.owner = None;
                kept.crashes = crashes;
            } else if crashes.is_suspect() && !alone {
                return Err(LeaseError::Suspect);
            } else {
                kept.crashes = crashes;
            }
        }
        if let Some(reason) = kept.crashes.parked.clone() {
            return Err(LeaseError::Parked { reason });
        }
        kept.owner = Some(node.clone());
        kept.epoch += 1;
        let (session, node, takeovers) = (session.clone(), node.clone(), kept.crashes.takeovers);
        Ok(Ownership { session, node, epoch: kept.epoch, takeovers })
    }

    pub(super) fn release(&self, own: &Ownership) {
        let mut tables = self.tables();
        let Some(kept) = tables.sessions.get_mut(&own.session) else { return };
        if kept.epoch != own.epoch {
            return;
        }
        kept.owner = None;
        kept.crashes.takeovers = 0;
        // A session that was claimed and never written leaves no trace.
        if kept.summary.is_none() && !kept.deleted {
            tables.sessions.remove(&own.session);
        }
    }

    pub(super) fn settle(&self, own: &Ownership) {
        if let Ok(kept) = self.tables().owned(own) {
            kept.crashes.takeovers = 0;
        }
    }

    pub(super) fn crashed(
        &self,
        session: &SessionId,
        node: &NodeId,
        crash: &Crash,
    ) -> Option<String> {
        let mut tables = self.tables();
        let kept = tables.sessions.get_mut(session)?;
        if kept.owner.as_ref() != Some(node) {
            return None;
        }
        kept.owner = None;
        kept.crashes = std::mem::take(&mut kept.crashes).after_panic(crash);
        let parked = kept.crashes.parked.clone();
        if kept.summary.is_none() && !kept.deleted {
            tables.sessions.remove(session);
        }
        parked
    }

    pub(super) fn unpark(&self, session: &SessionId) -> bool {
        let mut tables = self.tables();
        let Some(kept) = tables.sessions.get_mut(session) else { return false };
        let was_parked = kept.crashes.parked.is_some();
        if was_parked {
            kept.crashes = Crashes::default();
        }
        was_parked
    }
}
