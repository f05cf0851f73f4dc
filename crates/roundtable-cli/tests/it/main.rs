//! The `roundtable` binary, started as a user starts it.
#![expect(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod demo;
