//! The models, asked as the engine asks them.
#![expect(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod asked;
mod script;
mod scripted;
