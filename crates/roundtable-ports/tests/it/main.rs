//! The ports, used as callers outside the engine use them.
#![expect(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod caller;
mod errors;
mod toolkit;
