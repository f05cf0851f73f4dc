//! What callers want, one command per file.

mod lifecycle;
mod open;
mod provide;
mod say;
mod take;
