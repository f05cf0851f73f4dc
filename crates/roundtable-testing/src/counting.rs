//! A log that remembers how often each of its events was read.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use roundtable_core::event::{Event, Seq};
use roundtable_core::id::{CommandId, SessionId};
use roundtable_ports::{Batch, CommandRecord, LogError, Ownership, SessionLog, Snapshot};

/// A log that remembers how often each of its events was read.
pub struct CountingLog {
    log: Arc<dyn SessionLog>,
    reads: Mutex<BTreeMap<(SessionId, Seq), usize>>,
}

impl CountingLog {
    /// The same log, counted from here on.
    pub fn new(log: Arc<dyn SessionLog>) -> Self {
        Self { log, reads: Mutex::default() }
    }

    /// How often the events of a session were read since the last call of this.
    pub fn take(&self, session: &SessionId) -> BTreeMap<Seq, usize> {
        let reads = std::mem::take(&mut *self.reads.lock().unwrap_or_else(PoisonError::into_inner));
        let own = reads.into_iter().filter(|((read, _), _)| read == session);
        own.map(|((_, seq), times)| (seq, times)).collect()
    }
}

#[async_trait]
impl SessionLog for CountingLog {
    async fn append(&self, own: &Ownership, batch: Batch<'_>) -> Result<Seq, LogError> {
        self.log.append(own, batch).await
    }

    async fn read(
        &self,
        session: &SessionId,
        from: Seq,
        most: usize,
    ) -> Result<Vec<Arc<Event>>, LogError> {
        let events = self.log.read(session, from, most).await?;
        let mut reads = self.reads.lock().unwrap_or_else(PoisonError::into_inner);
        for event in &events {
            *reads.entry((session.clone(), event.seq)).or_default() += 1;
        }
        Ok(events)
    }

    async fn find_command(
        &self,
        session: &SessionId,
        id: &CommandId,
    ) -> Result<Option<CommandRecord>, LogError> {
        self.log.find_command(session, id).await
    }

    async fn find_snapshot(&self, session: &SessionId) -> Result<Option<Snapshot>, LogError> {
        self.log.find_snapshot(session).await
    }

    async fn put_snapshot(&self, own: &Ownership, snapshot: Snapshot) -> Result<(), LogError> {
        self.log.put_snapshot(own, snapshot).await
    }
}
