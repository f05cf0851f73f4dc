//! The engine, driven through its public interface on a scripted model and paused time.
#![expect(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

mod caps;
mod context_requests;
mod nested;
mod round;
mod seen;
mod simulation;
mod tool_failures;
mod tools;
