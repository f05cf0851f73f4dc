//! The requests that one model call makes: each further one is asked for, so that none is made that no
//! budget covers.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use async_trait::async_trait;
use roundtable_core::input::Unanswered;

use crate::model::ModelError;

/// Grants further requests. The engine's implementation records each failed request in the log.
#[async_trait]
pub trait Grant: Send + Sync {
    /// Whether another request may be made after one that failed like this.
    async fn retry(&self, error: &ModelError, unanswered: Unanswered) -> bool;
}

/// The requests of one model call. The first one is covered when the call begins; whoever makes
/// another one, to the same provider or to the next, asks for it first. By default all are granted.
#[derive(Clone, Default)]
pub struct Attempts {
    grant: Option<Arc<dyn Grant>>,
    arrived: Arc<AtomicU64>,
}

impl Attempts {
    /// Requests that this grants.
    pub fn new(grant: impl Grant + 'static) -> Self {
        Self { grant: Some(Arc::new(grant)), arrived: Arc::default() }
    }

    /// Notes text that arrived for the request that is running, whether or not it is handed on.
    pub fn note_arrived(&self, bytes: usize) {
        self.arrived.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    /// What a request came to that failed with this error. A provider that sent text, or did not
    /// refuse, may bill it.
    pub fn unanswered(&self, error: &ModelError) -> Unanswered {
        match self.arrived.load(Ordering::Relaxed) {
            0 if !error.may_be_billed() => Unanswered::Refused,
            arrived => Unanswered::BrokenOff { arrived },
        }
    }

    /// Asks for another request after one that failed; without it, no further request is made.
    pub async fn retry(&self, error: &ModelError) -> bool {
        let unanswered = self.unanswered(error);
        self.arrived.store(0, Ordering::Relaxed);
        match &self.grant {
            Some(grant) => grant.retry(error, unanswered).await,
            None => true,
        }
    }
}

impl fmt::Debug for Attempts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.grant.is_some() { "Granted" } else { "Unlimited" })
    }
}
