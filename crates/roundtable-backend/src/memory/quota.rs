//! What the sessions of an owner spend and hold, summed up when someone asks.

use roundtable_core::budget::Spend;
use roundtable_core::id::IterationId;
use roundtable_core::projection::Row;
use roundtable_core::quota::{Day, Spending};
use roundtable_ports::{Holdings, Owner};

use super::disk::{Disk, Kept, Tables};

/// Reservations in the order in which they were made, across all sessions.
#[derive(Default)]
pub(super) struct Line {
    last: u64,
    waiting: Vec<(u64, Owner, IterationId, Spend)>,
}

impl Line {
    /// Takes rows in that are about reservations.
    pub fn follow(&mut self, owner: &Owner, rows: &[Row]) {
        for row in rows {
            match row {
                Row::Reservation { iteration, amount } => {
                    self.waiting.retain(|(_, _, other, _)| other != iteration);
                    self.last += 1;
                    self.waiting.push((self.last, owner.clone(), iteration.clone(), *amount));
                }
                Row::ReservationGone { iteration } => {
                    self.waiting.retain(|(_, _, other, _)| other != iteration);
                }
                _ => {}
            }
        }
    }
}

/// Whose session it is: the tenant never changes, and who opened it is a row.
pub(super) fn owner_of(tables: &Tables, kept: &Kept) -> Owner {
    let opened = kept.rows.iter().find_map(|row| match row {
        Row::Opened { actor } => Some(actor.clone()),
        _ => None,
    });
    let tenant = kept.summary.as_ref().and_then(|summary| summary.tenant.clone());
    let parent = || kept.origin.as_ref().and_then(|origin| tables.sessions.get(&origin.session));
    // A fork belongs to whoever its origin belongs to.
    let actor = opened.unwrap_or_else(|| parent().and_then(|kept| owner_of(tables, kept).actor));
    Owner { tenant, actor }
}

impl Disk {
    pub(super) fn spending(
        &self,
        owner: Option<&Owner>,
        day: Day,
        up_to: Option<&IterationId>,
    ) -> Spending {
        let tables = self.tables();
        let is_meant = |of: &Owner| owner.is_none_or(|owner| owner == of);
        let written = tables.sessions.values().filter(|kept| kept.summary.is_some());
        let spent = written
            .filter(|kept| is_meant(&owner_of(&tables, kept)))
            .flat_map(|kept| &kept.spent)
            .map(|(at, amount)| (*at, *amount));
        let before = tables.spent_before.iter().filter(|(owner, ..)| is_meant(owner));
        let before = before.map(|(_, at, amount)| (*at, *amount));
        let spent = spent.chain(before).filter(|(at, _)| Day::of(*at) == day);
        let spent = spent.map(|(_, amount)| amount);
        let line = &tables.line.waiting;
        let last =
            line.iter().find(|(_, _, other, _)| Some(other) == up_to).map(|(number, ..)| *number);
        let reserved = line
            .iter()
            .filter(|(number, of, ..)| is_meant(of) && last.is_none_or(|last| *number <= last))
            .map(|(_, _, _, amount)| *amount);
        Spending {
            spent: spent.fold(Spend::default(), Spend::plus),
            reserved: reserved.fold(Spend::default(), Spend::plus),
        }
    }

    pub(super) fn holdings(&self, owner: Option<&Owner>) -> Holdings {
        let tables = self.tables();
        let mut held = Holdings::default();
        for kept in tables.sessions.values() {
            let Some(summary) = &kept.summary else { continue };
            if owner.is_some_and(|owner| *owner != owner_of(&tables, kept)) {
                continue;
            }
            held.sessions += 1;
            held.running += u64::from(summary.has_work);
            let bytes = kept.events.iter().map(|stored| {
                serde_json::to_string(&stored.event.body).unwrap_or_default().len() as u64
            });
            held.bytes += bytes.sum::<u64>();
        }
        held
    }
}
