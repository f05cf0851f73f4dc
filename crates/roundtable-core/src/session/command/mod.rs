//! What callers want, one command per file.

mod import;
mod lifecycle;
mod open;
mod provide;
mod say;
mod synthesise;
mod take;
