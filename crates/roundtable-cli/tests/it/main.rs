//! The `roundtable` binary, started as a user starts it.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::type_complexity,
    clippy::disallowed_methods,
    reason = "a test stops loudly when an assumption is wrong"
)]

mod ask;
mod binary;
mod chat;
mod config;
mod context;
mod crash;
mod debate;
mod demo;
mod descriptors;
mod export;
mod exports;
mod foreign;
mod guides;
mod hostile;
mod interrupt;
mod local;
mod mcp;
mod models;
mod modes;
mod oracle;
mod poisoned;
mod price;
mod private;
mod provider;
mod refusals;
mod screen;
mod search;
mod secrets;
mod serve;
mod sessions;
mod show;
mod sync;
mod together;
mod tools;
mod verify;
