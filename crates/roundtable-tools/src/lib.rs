//! Tools for agents: built in ones, and those of MCP servers.
//!
//! [`builtin`] are the tools that need nothing and harm nobody. [`FetchUrl`] reaches out, so it is
//! there only for those who register it. `request_context` and `delegate` are no tools of this
//! crate: the core carries them out itself.

mod fact_check;
#[cfg(any(feature = "fetch-url", feature = "mcp"))]
mod fence;
#[cfg(feature = "fetch-url")]
pub mod fetch_url;
#[cfg(feature = "mcp")]
pub mod mcp;
mod now;
#[cfg(any(feature = "fetch-url", feature = "mcp"))]
mod tls;

use std::sync::Arc;

use roundtable_ports::{Clock, DynTool};

pub use fact_check::{FactCheck, Quote};
#[cfg(feature = "fetch-url")]
pub use fetch_url::FetchUrl;
pub use now::{Now, Whereabouts};

/// The tools that need nothing and harm nobody: `fact_check`, `now`.
pub fn builtin(clock: Arc<dyn Clock>) -> Vec<Arc<dyn DynTool>> {
    vec![Arc::new(FactCheck), Arc::new(Now::new(clock))]
}
