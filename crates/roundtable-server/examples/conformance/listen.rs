//! Clients that want to hear when the list of tools or prompts changes, and tools that say it did.

use rmcp::ErrorData;
use rmcp::service::SubscriptionContext;
use tokio::sync::broadcast;

/// The tools.
pub const TOOLS: [&str; 2] = ["test_trigger_tool_change", "test_trigger_prompt_change"];

/// How many changes a listener may be behind.
const BEHIND: usize = 16;

/// The changes, by the tool that makes them. All clones are one.
#[derive(Clone)]
pub struct Changes(broadcast::Sender<&'static str>);

impl Default for Changes {
    fn default() -> Self {
        Self(broadcast::Sender::new(BEHIND))
    }
}

impl Changes {
    pub fn change(&self, tool: &str) {
        if let Some(known) = TOOLS.into_iter().find(|known| *known == tool) {
            // Nobody has to listen.
            let _ = self.0.send(known);
        }
    }

    /// Tells a client of every change until it does not listen any more. What it did not ask for is
    /// not told.
    pub async fn tell(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let (mut changes, sink) = (self.0.subscribe(), context.sink());
        loop {
            let change = tokio::select! {
                change = changes.recv() => change,
                () = context.cancelled() => return Ok(()),
            };
            let _ = match change {
                Ok("test_trigger_tool_change") => sink.notify_tool_list_changed().await,
                Ok(_) => sink.notify_prompt_list_changed().await,
                Err(_) => return Ok(()),
            };
        }
    }
}
