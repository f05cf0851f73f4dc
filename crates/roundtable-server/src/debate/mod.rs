//! Debates, as callers hold them: one function per operation, whatever transport it comes over.

pub(crate) mod answer;
pub(crate) mod ask;
mod consent;
pub(crate) mod detail;
mod hold;
mod next_step;
mod operations;
mod read;
mod wait;

pub(crate) use consent::Caller;
pub(crate) use operations::operations;
pub(crate) use wait::{Silent, Watch};
