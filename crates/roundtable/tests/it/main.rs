//! The library, as an embedder uses it.
#![expect(clippy::unwrap_used, reason = "tests")]

mod talk;
