//! The engine, driven through its public interface on a scripted model and paused time.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::type_complexity,
    clippy::disallowed_methods,
    reason = "a test stops loudly when an assumption is wrong"
)]

mod budgets;
mod busy;
mod caps;
mod commands;
mod context_requests;
mod deltas;
mod depth;
mod failures;
mod forks;
mod full;
mod isolation;
mod nested;
mod nodes;
mod overlap;
mod parking;
mod round;
mod seen;
mod shutdown;
mod simulation;
mod subscribe;
mod timers;
mod tool_failures;
mod tools;
mod values;
