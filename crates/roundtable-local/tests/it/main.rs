//! The model in the box with its real weights, through what it offers.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::disallowed_methods,
    missing_docs,
    reason = "a test stops loudly when an assumption is wrong"
)]

mod generate;
