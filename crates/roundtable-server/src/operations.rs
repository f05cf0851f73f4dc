//! The table of operations. Routes, the description of the HTTP API and the tools of the MCP server
//! are made of it; a new endpoint is one row here and one function.

use std::sync::LazyLock;

use crate::operation::{Operation, Transport};
use crate::problem::Problem;
use crate::{debate, session};

static ALL: LazyLock<Vec<Operation>> =
    LazyLock::new(|| session::operations().into_iter().chain(debate::operations()).collect());

/// All operations.
pub(crate) fn all() -> &'static [Operation] {
    &ALL
}

/// The operation that a caller names over a transport.
pub(crate) fn find(transport: Transport, name: &str) -> Result<&'static Operation, Problem> {
    let found = all().iter().find(|operation| operation.name_on(transport) == Some(name));
    found.ok_or_else(|| {
        let name: String = name.chars().filter(|c| !c.is_control()).take(64).collect();
        Problem::bad_request("unknown_operation", format!("unknown operation: {name}"))
    })
}
