//! What survives a crash.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use jiff::Timestamp;
use roundtable_core::budget::Spend;
use roundtable_core::event::{Event, Origin, Seq};
use roundtable_core::id::{CommandId, IterationId, NodeId, SessionId};
use roundtable_core::projection::{Row, Summary};
use roundtable_ports::{
    Answered, Batch, CommandRecord, Crashes, LogError, Owner, Ownership, PostedCommand, Selection,
    SessionListing, Snapshot,
};
use tokio::sync::watch;

use super::quota::{Line, owner_of};
use super::vectors::Piles;

/// An event with the epoch of the writer who committed it.
#[derive(Debug, Clone)]
pub struct StoredEvent {
    /// The writer's epoch.
    pub epoch: u64,
    /// The event.
    pub event: Arc<Event>,
}

#[derive(Default)]
pub(super) struct Kept {
    pub epoch: u64,
    pub owner: Option<NodeId>,
    pub crashes: Crashes,
    pub origin: Option<Origin>,
    pub events: Vec<StoredEvent>,
    pub rows: Vec<Row>,
    /// What was spent, and when.
    pub spent: Vec<(Timestamp, Spend)>,
    commands: HashMap<CommandId, CommandRecord>,
    snapshot: Option<Snapshot>,
    drafts: BTreeMap<IterationId, String>,
    pub summary: Option<Summary>,
    /// Whether it was deleted: only its epoch is kept, so that its writers stay fenced.
    pub deleted: bool,
}

impl Kept {
    /// What is left of a session that was deleted.
    pub fn deleted(epoch: u64) -> Self {
        Self { epoch, deleted: true, ..Self::default() }
    }

    fn base(&self) -> Seq {
        self.origin.as_ref().map_or(Seq(0), |origin| origin.seq)
    }

    fn head(&self) -> Seq {
        self.events.last().map_or(self.base(), |stored| stored.event.seq)
    }

    fn check(&self, own: &Ownership) -> Result<(), LogError> {
        let is_owner = self.epoch == own.epoch && self.owner.as_ref() == Some(&own.node);
        if is_owner { Ok(()) } else { Err(LogError::Fenced { epoch: self.epoch }) }
    }
}

#[derive(Default)]
pub(super) struct Tables {
    pub sessions: HashMap<SessionId, Kept>,
    newest: Vec<SessionId>,
    inbox: BTreeMap<(SessionId, CommandId), (PostedCommand, Option<Answered>)>,
    pub alive: HashSet<NodeId>,
    /// What sessions spent that were deleted since.
    pub spent_before: Vec<(Owner, Timestamp, Spend)>,
    /// What running model calls may spend.
    pub line: Line,
}

impl Tables {
    /// Leaves a session out of lists, and forgets what was posted to it.
    pub fn forget(&mut self, session: &SessionId) {
        self.newest.retain(|known| known != session);
        self.inbox.retain(|(posted_to, _), _| posted_to != session);
    }

    /// A session that whoever writes owns.
    pub fn owned(&mut self, own: &Ownership) -> Result<&mut Kept, LogError> {
        let nobody = LogError::Fenced { epoch: 0 };
        let kept = self.sessions.get_mut(&own.session).ok_or(nobody)?;
        kept.check(own)?;
        Ok(kept)
    }
}

/// What survives a crash: the logs of all sessions, in memory.
#[derive(Default)]
pub struct Disk {
    tables: Mutex<Tables>,
    /// Changes when something is posted or answered.
    posts: watch::Sender<u64>,
    pub(super) vectors: Piles,
}

impl Disk {
    pub(super) fn tables(&self) -> MutexGuard<'_, Tables> {
        self.tables.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Everything of a session's own log, with the epochs: what an oracle checks.
    pub fn dump(&self, session: &SessionId) -> Vec<StoredEvent> {
        self.tables().sessions.get(session).map(|kept| kept.events.clone()).unwrap_or_default()
    }

    /// The rows that a session's events made.
    pub fn rows(&self, session: &SessionId) -> Vec<Row> {
        self.tables().sessions.get(session).map(|kept| kept.rows.clone()).unwrap_or_default()
    }

    /// The commands that a session acknowledged.
    pub fn commands(&self, session: &SessionId) -> Vec<CommandRecord> {
        self.tables()
            .sessions
            .get(session)
            .map(|kept| kept.commands.values().cloned().collect())
            .unwrap_or_default()
    }

    /// A node is gone; what it owned can be claimed.
    pub fn bury(&self, node: &NodeId) {
        self.tables().alive.remove(node);
    }

    pub(super) fn enliven(&self, node: &NodeId) {
        self.tables().alive.insert(node.clone());
    }

    /// Another writer claims a session and is gone at once.
    pub(super) fn usurp(&self, session: &SessionId) {
        if let Some(kept) = self.tables().sessions.get_mut(session) {
            kept.epoch += 1;
            kept.owner = None;
        }
    }

    pub(super) fn append(&self, own: &Ownership, batch: &Batch<'_>) -> Result<Seq, LogError> {
        batch.check()?;
        let mut tables = self.tables();
        let is_new = {
            let kept = tables.owned(own)?;
            let is_new = kept.summary.is_none();
            if is_new {
                kept.origin = batch.origin.cloned();
            }
            let head = kept.head();
            if head != batch.expect {
                return Err(LogError::Conflict { head });
            }
            if let Some(command) =
                batch.commands.iter().find(|command| kept.commands.contains_key(&command.id))
            {
                return Err(LogError::Duplicate { id: command.id.clone() });
            }
            let stored = batch
                .events
                .iter()
                .map(|event| StoredEvent { epoch: own.epoch, event: event.clone() });
            kept.events.extend(stored);
            kept.rows.extend_from_slice(batch.rows);
            kept.commands
                .extend(batch.commands.iter().map(|command| (command.id.clone(), command.clone())));
            kept.summary = Some(batch.summary.clone());
            let spent = batch.events.last().filter(|_| batch.spent != Spend::default());
            kept.spent.extend(spent.map(|last| (last.at, batch.spent)));
            is_new
        };
        let owner = tables.sessions.get(&own.session).map(|kept| owner_of(&tables, kept));
        tables.line.follow(&owner.unwrap_or_default(), batch.rows);
        if is_new {
            tables.newest.push(own.session.clone());
        }
        Ok(batch.events.last().map_or(batch.expect, |event| event.seq))
    }

    /// Reads through the lineage: a fork's past is its origin's.
    pub(super) fn read(&self, session: &SessionId, from: Seq, most: usize) -> Vec<Arc<Event>> {
        let tables = self.tables();
        let mut lineage = Vec::new();
        let (mut next, mut until) = (Some(session.clone()), Seq(u64::MAX));
        while let Some(kept) = next.as_ref().and_then(|id| tables.sessions.get(id)) {
            lineage.push((kept, until));
            until = until.min(kept.base());
            next = kept
                .origin
                .as_ref()
                .map(|origin| origin.session.clone())
                .filter(|_| from <= kept.base());
        }
        let mut events = Vec::new();
        for (kept, until) in lineage.into_iter().rev() {
            let first = from.0.max(kept.base().0 + 1);
            let skipped = usize::try_from(first - kept.base().0 - 1).unwrap_or(usize::MAX);
            let own =
                kept.events.iter().skip(skipped).take_while(|stored| stored.event.seq <= until);
            events.extend(own.take(most - events.len()).map(|stored| stored.event.clone()));
        }
        events
    }

    pub(super) fn find_command(
        &self,
        session: &SessionId,
        id: &CommandId,
    ) -> Option<CommandRecord> {
        self.tables().sessions.get(session)?.commands.get(id).cloned()
    }

    pub(super) fn find_snapshot(&self, session: &SessionId) -> Option<Snapshot> {
        self.tables().sessions.get(session)?.snapshot.clone()
    }

    pub(super) fn put_snapshot(&self, own: &Ownership, snapshot: Snapshot) -> Result<(), LogError> {
        let mut tables = self.tables();
        let kept = tables.owned(own)?;
        // Of what is not there is no snapshot.
        if kept.summary.is_some() {
            kept.snapshot = Some(snapshot);
        }
        Ok(())
    }

    pub(super) fn put_draft(
        &self,
        own: &Ownership,
        iteration: &IterationId,
        text: &str,
    ) -> Result<(), LogError> {
        let mut tables = self.tables();
        let kept = tables.owned(own)?;
        kept.drafts.insert(iteration.clone(), text.to_owned());
        Ok(())
    }

    pub(super) fn list_drafts(&self, session: &SessionId) -> BTreeMap<IterationId, String> {
        self.tables().sessions.get(session).map(|kept| kept.drafts.clone()).unwrap_or_default()
    }

    pub(super) fn clear_drafts(&self, own: &Ownership) -> Result<(), LogError> {
        let mut tables = self.tables();
        tables.owned(own)?.drafts.clear();
        Ok(())
    }

    pub(super) fn find(&self, session: &SessionId) -> Option<SessionListing> {
        let tables = self.tables();
        let kept = tables.sessions.get(session)?;
        Some(SessionListing {
            session: session.clone(),
            head: kept.head(),
            created_at: kept.events.first()?.event.at,
            updated_at: kept.events.last()?.event.at,
            parked: kept.crashes.parked.clone(),
            summary: kept.summary.clone()?,
        })
    }

    pub(super) fn list(&self, most: usize) -> Vec<SessionListing> {
        self.select(&Selection::default(), most)
    }

    pub(super) fn select(&self, selection: &Selection, most: usize) -> Vec<SessionListing> {
        let newest: Vec<SessionId> = self.tables().newest.iter().rev().cloned().collect();
        let mut sessions = newest.iter();
        if let Some(before) = &selection.before {
            sessions.find(|session| *session == before);
        }
        let listed = sessions.filter_map(|session| self.find(session));
        listed.filter(|listed| selection.has(listed)).take(most).collect()
    }

    pub(super) fn list_due(&self, now: Timestamp, most: usize) -> Vec<SessionId> {
        let tables = self.tables();
        let due =
            |summary: &Summary| summary.has_work || summary.wake_at.is_some_and(|at| at <= now);
        let free = |kept: &Kept| {
            kept.crashes.parked.is_none()
                && kept.owner.as_ref().is_none_or(|owner| !tables.alive.contains(owner))
        };
        let sessions = tables.newest.iter().filter(|id| {
            tables
                .sessions
                .get(*id)
                .is_some_and(|kept| free(kept) && kept.summary.as_ref().is_some_and(due))
        });
        sessions.take(most).cloned().collect()
    }

    pub(super) fn post(&self, posted: &PostedCommand) -> Result<(), LogError> {
        let mut tables = self.tables();
        let key = (posted.session.clone(), posted.id.clone());
        let (there, _) = tables.inbox.entry(key).or_insert_with(|| (posted.clone(), None));
        if there != posted {
            return Err(LogError::Duplicate { id: posted.id.clone() });
        }
        self.posts.send_modify(|posts| *posts += 1);
        Ok(())
    }

    pub(super) fn list_posted(&self, node: &NodeId) -> Vec<PostedCommand> {
        let tables = self.tables();
        let owned = |session: &SessionId| {
            tables.sessions.get(session).is_some_and(|kept| kept.owner.as_ref() == Some(node))
        };
        let waiting = tables
            .inbox
            .values()
            .filter(|(posted, answer)| answer.is_none() && owned(&posted.session));
        waiting.map(|(posted, _)| posted.clone()).collect()
    }

    pub(super) fn answer(&self, session: &SessionId, id: &CommandId, answer: &Answered) {
        if let Some((_, slot)) = self.tables().inbox.get_mut(&(session.clone(), id.clone())) {
            slot.get_or_insert_with(|| answer.clone());
        }
        self.posts.send_modify(|posts| *posts += 1);
    }

    pub(super) fn take_answer(&self, session: &SessionId, id: &CommandId) -> Option<Answered> {
        let mut tables = self.tables();
        let key = (session.clone(), id.clone());
        let answer = tables.inbox.get(&key)?.1.clone()?;
        tables.inbox.remove(&key);
        Some(answer)
    }

    pub(super) fn posts(&self) -> watch::Receiver<u64> {
        self.posts.subscribe()
    }

    pub(super) fn next_wake(&self) -> Option<Timestamp> {
        let tables = self.tables();
        let free = |kept: &&Kept| {
            kept.crashes.parked.is_none()
                && kept.owner.as_ref().is_none_or(|owner| !tables.alive.contains(owner))
        };
        tables
            .sessions
            .values()
            .filter(free)
            .filter_map(|kept| kept.summary.as_ref()?.wake_at)
            .min()
    }
}
