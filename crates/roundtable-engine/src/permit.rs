//! Permits: how many model calls and handlers are at work at once. Whoever waits for someone
//! else's work holds none, so nesting cannot starve.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// The permit of one handler, given back while it waits for a nested prompt.
pub(crate) struct Slot {
    permits: Arc<Semaphore>,
    held: Mutex<Option<OwnedSemaphorePermit>>,
    waiting: AtomicU32,
}

impl Slot {
    /// Waits for a permit.
    pub async fn acquire(permits: Arc<Semaphore>) -> Self {
        let held = take(&permits).await;
        Self { permits, held: Mutex::new(held), waiting: AtomicU32::new(0) }
    }

    /// Gives the permit back while something else is waited for.
    pub async fn while_waiting<T>(&self, wait: impl Future<Output = T>) -> T {
        self.waiting.fetch_add(1, Ordering::AcqRel);
        drop(self.held.lock().unwrap_or_else(PoisonError::into_inner).take());
        let value = wait.await;
        // A handler may wait for several things at once: it is at work again after the last one.
        if self.waiting.fetch_sub(1, Ordering::AcqRel) == 1 {
            let held = take(&self.permits).await;
            *self.held.lock().unwrap_or_else(PoisonError::into_inner) = held;
        }
        value
    }
}

/// A permit; none when the engine has closed them, which happens only when all work is dropped.
pub(crate) async fn take(permits: &Arc<Semaphore>) -> Option<OwnedSemaphorePermit> {
    permits.clone().acquire_owned().await.ok()
}
