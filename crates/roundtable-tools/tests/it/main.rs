//! The tools, on real sockets and real child processes of this machine.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::disallowed_methods,
    missing_docs,
    reason = "a test stops loudly when an assumption is wrong"
)]

mod caller;
mod fact_check;
mod fetch_url;
#[path = "../../examples/mcp_server/handler.rs"]
mod handler;
mod mcp;
mod now;
