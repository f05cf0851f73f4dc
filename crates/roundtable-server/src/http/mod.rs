//! Routes that are not rows of the table of operations: streams, and what describes the server.

pub(crate) mod events;
pub(crate) mod health;
