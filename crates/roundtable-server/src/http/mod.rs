//! The HTTP API: one file per resource, each with its routes.

pub(crate) mod context;
pub(crate) mod debate;
pub(crate) mod health;
pub(crate) mod query;
pub(crate) mod session;
pub(crate) mod turn;
