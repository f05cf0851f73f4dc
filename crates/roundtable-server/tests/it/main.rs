//! The server, over real connections.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::disallowed_methods,
    reason = "a test stops loudly when an assumption is wrong"
)]

mod access;
mod attachments;
mod caller;
mod cancel;
mod client;
mod connections;
mod consent;
mod context;
mod context_requests;
mod conversations;
mod debate;
mod documents;
mod events;
mod gate;
mod hints;
mod host;
mod keys;
mod kit;
mod limits;
mod lock;
mod mcp;
mod messages;
mod openai;
mod pipes;
mod race;
mod refusals;
mod search;
mod session;
mod sessions;
mod socket;
mod strict;
mod table;
mod waiting;
mod ws;
