//! The stores, against one suite, and what only one of them can do.
#![expect(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

mod conformance;
mod scene;
mod table;
