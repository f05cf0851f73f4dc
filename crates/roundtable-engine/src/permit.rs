//! Permits: how many model calls and handlers are at work at once. Whoever waits for someone
//! else's work holds none, so nesting cannot starve.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// The permit of one handler, given back while it waits for a nested prompt.
pub(crate) struct Slot {
    permits: Arc<Semaphore>,
    work: Mutex<Work>,
    /// Held by whoever takes the permit again: a handler that takes two would wait for itself.
    taking: tokio::sync::Mutex<()>,
}

/// Whether a handler is at work.
#[derive(Default)]
struct Work {
    permit: Option<OwnedSemaphorePermit>,
    /// How many things it waits for.
    waiting: u32,
}

impl Slot {
    /// Waits for a permit.
    pub async fn acquire(permits: Arc<Semaphore>) -> Self {
        let permit = take(&permits).await;
        let work = Mutex::new(Work { permit, waiting: 0 });
        Self { permits, work, taking: tokio::sync::Mutex::default() }
    }

    /// Gives the permit back while something else is waited for.
    pub async fn while_waiting<T>(&self, wait: impl Future<Output = T>) -> T {
        let pause = self.pause();
        let value = wait.await;
        drop(pause);
        self.resume().await;
        value
    }

    fn pause(&self) -> Pause<'_> {
        let mut work = self.work();
        work.waiting += 1;
        work.permit = None;
        Pause(self)
    }

    /// Takes a permit again, unless the handler waits for something else as well: it is at work
    /// again after the last one.
    async fn resume(&self) {
        let _taking = self.taking.lock().await;
        if !self.work().lacks_permit() {
            return;
        }
        let permit = take(&self.permits).await;
        // It may have begun to wait for something else meanwhile, and then it must not hold one.
        let mut work = self.work();
        if work.lacks_permit() {
            work.permit = permit;
        }
    }

    fn work(&self) -> MutexGuard<'_, Work> {
        self.work.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Work {
    fn lacks_permit(&self) -> bool {
        self.waiting == 0 && self.permit.is_none()
    }
}

/// A wait that ends when this is dropped: handlers may give up waiting.
struct Pause<'a>(&'a Slot);

impl Drop for Pause<'_> {
    fn drop(&mut self) {
        self.0.work().waiting -= 1;
    }
}

/// A permit; none when the engine has closed them, which happens only when all work is dropped.
pub(crate) async fn take(permits: &Arc<Semaphore>) -> Option<OwnedSemaphorePermit> {
    permits.clone().acquire_owned().await.ok()
}
