//! What callers want, one command per file.

mod act;
mod change;
mod contribute;
mod import;
mod lifecycle;
mod open;
mod provide;
mod queue;
mod say;
mod take;

pub(crate) use take::superseded;
