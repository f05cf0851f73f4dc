//! The library, as an embedder uses it.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::type_complexity,
    clippy::disallowed_methods,
    reason = "a test stops loudly when an assumption is wrong"
)]

mod archive;
mod chat;
mod debate;
mod http;
mod program;
mod reader;
mod search;
mod session;
mod vendor;
