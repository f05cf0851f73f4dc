//! The models, asked as the engine asks them.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::type_complexity,
    clippy::disallowed_methods,
    reason = "a test stops loudly when an assumption is wrong"
)]

mod asked;
mod bodies;
mod golden;
mod guide;
mod hostile;
mod http;
mod local;
mod proxy;
mod requests;
mod retry;
mod script;
mod scripted;
mod sdk;
mod structured;
