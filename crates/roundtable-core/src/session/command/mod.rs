//! What callers want, one command per file.

mod contribute;
mod import;
mod lifecycle;
mod open;
mod provide;
mod say;
mod synthesise;
mod take;

pub(crate) use take::superseded;
