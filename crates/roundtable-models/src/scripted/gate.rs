//! Named gates: replies wait at them until someone opens them.

use std::collections::HashSet;
use std::sync::Arc;

use tokio::sync::watch;

/// Named gates.
#[derive(Clone)]
pub struct Gates(Arc<watch::Sender<HashSet<String>>>);

impl Default for Gates {
    fn default() -> Self {
        Self(Arc::new(watch::Sender::new(HashSet::new())))
    }
}

impl Gates {
    /// Lets everyone through who waits at this gate, and who comes later.
    pub fn open(&self, name: &str) {
        self.0.send_modify(|open| {
            open.insert(name.to_owned());
        });
    }

    /// Waits until a gate is open.
    pub async fn wait(&self, name: &str) {
        // The sender lives as long as this handle, so waiting cannot fail.
        let _ = self.0.subscribe().wait_for(|open| open.contains(name)).await;
    }
}
