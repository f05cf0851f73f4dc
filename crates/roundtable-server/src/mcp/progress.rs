//! How a round goes, told to a client that wants to know.

use std::sync::atomic::{AtomicU32, Ordering};

use async_trait::async_trait;
use rmcp::RoleServer;
use rmcp::model::{ProgressNotificationParam, ProgressToken};
use rmcp::service::{Peer, RequestContext};
use tokio_util::sync::CancellationToken;

use crate::debate::Watch;

/// A client that waits for an answer.
pub(super) struct Progress {
    peer: Peer<RoleServer>,
    /// What it wants to hear of it under, if it does.
    token: Option<ProgressToken>,
    told: AtomicU32,
    gone: CancellationToken,
}

impl Progress {
    pub fn of(context: &RequestContext<RoleServer>) -> Self {
        Self {
            peer: context.peer.clone(),
            token: context.meta.get_progress_token(),
            told: AtomicU32::new(0),
            gone: context.ct.clone(),
        }
    }
}

#[async_trait]
impl Watch for Progress {
    fn listens(&self) -> bool {
        self.token.is_some()
    }

    async fn tell(&self, message: &str) {
        let Some(token) = self.token.clone() else { return };
        let told = self.told.fetch_add(1, Ordering::Relaxed) + 1;
        let mut progress = ProgressNotificationParam::new(token, f64::from(told));
        progress.message = Some(message.to_owned());
        // Whoever does not listen any more misses nothing: the answer has it all.
        let _ = self.peer.notify_progress(progress).await;
    }

    fn gone(&self) -> &CancellationToken {
        &self.gone
    }
}
