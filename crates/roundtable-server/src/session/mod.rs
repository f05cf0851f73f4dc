//! Sessions of any kind, as callers use them: one function per operation, whatever the transport.

mod act;
mod change;
mod operations;
mod provide;
mod read;
mod search;

pub(crate) use act::Busy;
pub(crate) use operations::operations;
pub(crate) use provide::answers;
