//! A store in memory. What survives a crash is the [`Disk`]; a [`MemoryStore`] is one process
//! that uses it, and can be told to fail.

mod delete;
mod disk;
mod faults;
mod lease;
mod message;
mod quota;
mod vectors;

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use jiff::Timestamp;
use roundtable_core::event::{Event, Seq};
use roundtable_core::id::{CommandId, IterationId, NodeId, SessionId};
use roundtable_core::quota::{Day, Spending};
use roundtable_ports::{
    Answered, Batch, Bell, CommandRecord, Crash, Directory, Drafts, Holdings, Inbox, LeaseError,
    Leases, LogError, Owner, Ownership, PostedCommand, Quotas, Rings, Selection, SessionListing,
    SessionLog, Snapshot,
};
use tokio::sync::watch;

pub use disk::{Disk, StoredEvent};
pub use faults::{Fault, Faults};

/// One process's view of a disk in memory.
pub struct MemoryStore {
    disk: Arc<Disk>,
    faults: Option<Arc<dyn Faults>>,
    bells: Mutex<HashMap<SessionId, watch::Sender<u64>>>,
    nodes: Mutex<Vec<NodeId>>,
}

impl MemoryStore {
    /// A process with a disk of its own.
    pub fn new() -> Self {
        Self::on(Arc::new(Disk::default()))
    }

    /// A process on this disk.
    pub fn on(disk: Arc<Disk>) -> Self {
        Self { disk, faults: None, bells: Mutex::default(), nodes: Mutex::default() }
    }

    /// A process on this disk, in which things go wrong.
    pub fn with_faults(disk: Arc<Disk>, faults: Arc<dyn Faults>) -> Self {
        let mut store = Self::on(disk);
        store.faults = Some(faults);
        store
    }

    /// What survives it.
    pub fn disk(&self) -> &Arc<Disk> {
        &self.disk
    }

    fn check_readable(&self, session: &SessionId) -> Result<(), LogError> {
        if self.faults.as_ref().is_some_and(|faults| faults.on_read(session)) {
            return Err(LogError::Unavailable("injected".to_owned()));
        }
        Ok(())
    }

    fn bells(&self) -> MutexGuard<'_, HashMap<SessionId, watch::Sender<u64>>> {
        self.bells.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Default for MemoryStore {
    fn default() -> Self {
        Self::new()
    }
}

impl Drop for MemoryStore {
    /// A process that is gone owns nothing.
    fn drop(&mut self) {
        for node in self.nodes.get_mut().unwrap_or_else(PoisonError::into_inner).drain(..) {
            self.disk.bury(&node);
        }
    }
}

#[async_trait]
impl SessionLog for MemoryStore {
    async fn append(&self, own: &Ownership, batch: Batch<'_>) -> Result<Seq, LogError> {
        let fault = self
            .faults
            .as_ref()
            .map_or(Fault::None, |faults| faults.on_append(&own.session, batch.expect));
        match fault {
            Fault::None => self.disk.append(own, &batch),
            Fault::Conflict => Err(LogError::Conflict { head: batch.expect }),
            Fault::Unavailable => Err(LogError::Unavailable("injected".to_owned())),
            Fault::Unstorable => Err(LogError::Unstorable { what: "injected".to_owned() }),
            Fault::Full => Err(LogError::Full),
            Fault::AckLost => {
                self.disk.append(own, &batch)?;
                Err(LogError::Unavailable("injected: the response was lost".to_owned()))
            }
            Fault::Slow(time) => {
                tokio::time::sleep(time).await;
                self.disk.append(own, &batch)
            }
            Fault::Fenced => {
                self.disk.usurp(&own.session);
                self.disk.append(own, &batch)
            }
            Fault::CrashBefore => std::future::pending().await,
            Fault::CrashAfter => {
                self.disk.append(own, &batch)?;
                std::future::pending().await
            }
        }
    }

    async fn read(
        &self,
        session: &SessionId,
        from: Seq,
        most: usize,
    ) -> Result<Vec<Arc<Event>>, LogError> {
        self.check_readable(session)?;
        Ok(self.disk.read(session, from, most))
    }

    async fn find_command(
        &self,
        session: &SessionId,
        id: &CommandId,
    ) -> Result<Option<CommandRecord>, LogError> {
        self.check_readable(session)?;
        Ok(self.disk.find_command(session, id))
    }

    async fn find_snapshot(&self, session: &SessionId) -> Result<Option<Snapshot>, LogError> {
        self.check_readable(session)?;
        Ok(self.disk.find_snapshot(session))
    }

    async fn put_snapshot(&self, own: &Ownership, snapshot: Snapshot) -> Result<(), LogError> {
        self.disk.put_snapshot(own, snapshot)
    }
}

#[async_trait]
impl Leases for MemoryStore {
    async fn claim_one(&self, session: &SessionId, node: &NodeId) -> Result<Ownership, LeaseError> {
        self.disk.claim(session, node, false)
    }

    async fn renew(&self, node: &NodeId) -> Result<(), LeaseError> {
        let mut nodes = self.nodes.lock().unwrap_or_else(PoisonError::into_inner);
        if !nodes.contains(node) {
            nodes.push(node.clone());
        }
        self.disk.enliven(node);
        Ok(())
    }

    async fn release(&self, own: &Ownership) -> Result<(), LeaseError> {
        self.disk.release(own);
        Ok(())
    }

    async fn claim_alone(
        &self,
        session: &SessionId,
        node: &NodeId,
    ) -> Result<Ownership, LeaseError> {
        self.disk.claim(session, node, true)
    }

    async fn settle(&self, own: &Ownership) -> Result<(), LeaseError> {
        self.disk.settle(own);
        Ok(())
    }

    async fn crashed(
        &self,
        session: &SessionId,
        node: &NodeId,
        crash: &Crash,
    ) -> Result<Option<String>, LeaseError> {
        Ok(self.disk.crashed(session, node, crash))
    }

    async fn unpark(&self, session: &SessionId) -> Result<bool, LeaseError> {
        Ok(self.disk.unpark(session))
    }
}

#[async_trait]
impl Bell for MemoryStore {
    async fn ring(&self, session: &SessionId) {
        let mut bells = self.bells();
        let Some(bell) = bells.get(session) else { return };
        if bell.receiver_count() == 0 {
            bells.remove(session);
            return;
        }
        bell.send_modify(|rings| *rings += 1);
    }

    async fn listen(&self, session: &SessionId) -> Rings {
        let receiver = self.bells().entry(session.clone()).or_default().subscribe();
        crate::rings(receiver)
    }
}

#[async_trait]
impl Drafts for MemoryStore {
    async fn put_draft(
        &self,
        own: &Ownership,
        iteration: &IterationId,
        text: &str,
    ) -> Result<(), LogError> {
        self.disk.put_draft(own, iteration, text)
    }

    async fn list_drafts(
        &self,
        session: &SessionId,
    ) -> Result<BTreeMap<IterationId, String>, LogError> {
        Ok(self.disk.list_drafts(session))
    }

    async fn clear_drafts(&self, own: &Ownership) -> Result<(), LogError> {
        self.disk.clear_drafts(own)
    }
}

#[async_trait]
impl Directory for MemoryStore {
    async fn find(&self, session: &SessionId) -> Result<Option<SessionListing>, LogError> {
        Ok(self.disk.find(session))
    }

    async fn list(&self, most: usize) -> Result<Vec<SessionListing>, LogError> {
        Ok(self.disk.list(most))
    }

    async fn select(
        &self,
        selection: &Selection,
        most: usize,
    ) -> Result<Vec<SessionListing>, LogError> {
        Ok(self.disk.select(selection, most))
    }

    async fn list_due(&self, now: Timestamp, most: usize) -> Result<Vec<SessionId>, LogError> {
        Ok(self.disk.list_due(now, most))
    }

    async fn find_fork(&self, session: &SessionId) -> Result<Option<SessionId>, LogError> {
        Ok(self.disk.find_fork(session))
    }

    async fn delete(&self, own: &Ownership) -> Result<bool, LogError> {
        self.disk.delete(own)
    }

    async fn next_wake(&self) -> Result<Option<Timestamp>, LogError> {
        Ok(self.disk.next_wake())
    }
}

#[async_trait]
impl Quotas for MemoryStore {
    async fn spending(
        &self,
        owner: Option<&Owner>,
        day: Day,
        up_to: Option<&IterationId>,
    ) -> Result<Spending, LogError> {
        Ok(self.disk.spending(owner, day, up_to))
    }

    async fn holdings(&self, owner: Option<&Owner>) -> Result<Holdings, LogError> {
        Ok(self.disk.holdings(owner))
    }
}

#[async_trait]
impl Inbox for MemoryStore {
    async fn post(&self, posted: &PostedCommand) -> Result<(), LogError> {
        self.disk.post(posted)
    }

    async fn list_posted(&self, node: &NodeId) -> Result<Vec<PostedCommand>, LogError> {
        Ok(self.disk.list_posted(node))
    }

    async fn answer(
        &self,
        session: &SessionId,
        id: &CommandId,
        answer: &Answered,
    ) -> Result<(), LogError> {
        self.disk.answer(session, id, answer);
        Ok(())
    }

    async fn take_answer(
        &self,
        session: &SessionId,
        id: &CommandId,
    ) -> Result<Option<Answered>, LogError> {
        Ok(self.disk.take_answer(session, id))
    }

    async fn listen_inbox(&self) -> Rings {
        crate::rings(self.disk.posts())
    }
}
