//! The engine, driven through its public interface on a scripted model and paused time.
#![expect(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

mod budgets;
mod busy;
mod caps;
mod commands;
mod context_requests;
mod deltas;
mod failures;
mod forks;
mod isolation;
mod nested;
mod nodes;
mod overlap;
mod round;
mod seen;
mod shutdown;
mod simulation;
mod subscribe;
mod timers;
mod tool_failures;
mod tools;
