//! The proof of the core: rules as traces, requirements by number, and random walks.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::needless_pass_by_value,
    missing_docs,
    reason = "a test says what it expects and stops where that does not hold"
)]

mod table;
mod trace;

mod approvals;
mod budgets;
mod cancel;
mod children;
mod context_requests;
mod context_results;
mod effects;
mod forks;
mod iterations;
mod lifecycle;
mod projection;
mod prompts;
mod queue;
mod recovery;
mod rejects;
mod rounds;
mod takes;
mod time_limits;
mod tools;
mod turn_context;
mod walk;
mod wire;
