//! The proof of the core: rules as traces, requirements by number, and random walks.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::type_complexity,
    clippy::disallowed_methods,
    reason = "a test stops loudly when an assumption is wrong"
)]

mod table;
mod trace;

mod approvals;
mod asking;
mod audience;
mod budgets;
mod cancel;
mod changes;
mod children;
mod consent;
mod context_requests;
mod context_results;
mod depth;
mod effects;
mod failed_rounds;
mod files;
mod forks;
mod host;
mod images;
mod iterations;
mod kept_prompts;
mod ledger;
mod lifecycle;
mod projection;
mod prompts;
mod queue;
mod queued;
mod recovery;
mod rejects;
mod rounds;
mod takes;
mod time_limits;
mod tools;
mod turn_context;
mod wire;

use roundtable_core::program::Programs;

/// The programs that sessions under test can run.
fn programs() -> Programs {
    Programs::default().with(audience::Plan)
}
