//! Tool calls that a person has to agree to.

use roundtable::core::context_request::About;
use roundtable::prelude::*;

pub(crate) fn is_approval(request: &ContextRequest) -> bool {
    matches!(request.about, About::Approval { .. })
}

/// Only a yes is a yes; nobody there is a no.
pub(crate) fn decided(request: ContextRequest, line: Option<&str>) -> ContextResult {
    let yes = line.is_some_and(|line| ["y", "yes"].contains(&line.to_lowercase().as_str()));
    if yes {
        ContextResult::found(request.id, "yes")
    } else {
        ContextResult::not_found(request.id, "a person did not agree")
    }
}
