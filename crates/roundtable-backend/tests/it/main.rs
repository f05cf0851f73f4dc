//! The stores, against one suite, and what only one of them can do.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::type_complexity,
    clippy::disallowed_methods,
    reason = "a test stops loudly when an assumption is wrong"
)]

mod conformance;
mod damage;
mod delete;
mod disk;
mod erase;
mod golden;
mod lease;
mod lock;
mod memory;
mod migration;
mod process;
mod scene;
mod size;
mod table;
mod vectors;
