//! Decisions on tool calls at the terminal: the whole call is shown, and only an explicit answer
//! counts.

use roundtable::core::context_request::{ContextRequest, ContextResult, Decision, RequestKind};

/// How to answer required requests at a terminal: the last sentence of their refusal.
pub(crate) const HOW_TO_ANSWER: &str = "Answer the questions at the prompt to continue.";

/// Whether a request is a decision on a tool call.
pub(crate) fn is_decision(request: &ContextRequest) -> bool {
    request.kind() != RequestKind::Question
}

pub(crate) fn is_approval(request: &ContextRequest) -> bool {
    request.kind() == RequestKind::Approval
}

/// The whole call, who asks, and which answers count.
pub(crate) fn shown(request: &ContextRequest) -> String {
    let answers = match request.kind() {
        RequestKind::Approval => "Allow this call? [yes/no]",
        RequestKind::UnknownOutcome => "[happened/did not happen/unknown]",
        RequestKind::Question => "",
    };
    let Some(call) = request.about.call() else {
        return format!("{} {answers}", request.query);
    };
    let arguments = match &call.arguments {
        Some(arguments) => arguments.to_string(),
        None => "(larger than 64 KiB; see `roundtable show`)".to_owned(),
    };
    let asks = match request.kind() {
        RequestKind::Approval => format!("{} wants to call {}.", call.agent_name, call.tool),
        RequestKind::UnknownOutcome | RequestKind::Question => request.query.clone(),
    };
    format!(
        "{asks}\n  tool:      {}\n  agent:     {} ({})\n  arguments: {arguments}\n  digest:    {}\n  because:   {}\n{answers}",
        call.tool,
        call.agent_name,
        request.agent,
        call.digest.as_str(),
        request.reason,
    )
}

/// What a line decides; nothing when it decides nothing.
pub(crate) fn decided(request: &ContextRequest, line: &str) -> Option<ContextResult> {
    let line = line.trim().to_lowercase();
    let id = request.id.clone();
    let decision = match (request.kind(), line.as_str()) {
        (RequestKind::Approval, "y" | "yes" | "approve") => Decision::Approve,
        (RequestKind::Approval, "n" | "no" | "deny") => {
            return Some(ContextResult::deny(id, "a person refused"));
        }
        (RequestKind::UnknownOutcome, "happened") => Decision::Happened,
        (RequestKind::UnknownOutcome, "did not happen" | "did_not_happen") => {
            Decision::DidNotHappen
        }
        (RequestKind::UnknownOutcome, "unknown") => Decision::Unknown,
        _ => return None,
    };
    Some(ContextResult::decided(id, decision))
}

/// What is said to a line that decides nothing.
pub(crate) fn again(request: &ContextRequest) -> &'static str {
    match request.kind() {
        RequestKind::Approval => "Please answer yes or no:",
        RequestKind::UnknownOutcome => "Please answer happened, did not happen, or unknown:",
        RequestKind::Question => "Your answer:",
    }
}

#[cfg(test)]
mod tests {
    use roundtable::core::context_request::{About, CallDetails, Priority};
    use roundtable::core::digest::Digest;
    use roundtable::core::id::{AgentId, ContextRequestId, ToolCallId};
    use serde_json::json;

    use super::*;

    fn approval() -> ContextRequest {
        let call = CallDetails {
            agent_name: "Ada".to_owned(),
            tool: "pay".to_owned(),
            arguments: Some(json!({ "to": "Bob", "note": "x".repeat(2_000) })),
            digest: Digest::of(b"pay"),
        };
        ContextRequest {
            id: ContextRequestId::new("q1").unwrap(),
            agent: AgentId::new("ada").unwrap(),
            query: "May pay be called?".to_owned(),
            reason: "A person has to agree.".to_owned(),
            priority: Priority::Required,
            about: About::Approval {
                tool_call: ToolCallId::new("c1").unwrap(),
                call: Some(Box::new(call)),
            },
            at: "2026-01-01T00:00:00Z".parse().unwrap(),
        }
    }

    #[test]
    fn only_an_explicit_yes_approves_and_only_an_explicit_no_denies() {
        let request = approval();
        let id = || request.id.clone();
        for yes in ["y", "yes", "YES", " approve "] {
            assert_eq!(decided(&request, yes), Some(ContextResult::approve(id())), "{yes}");
        }
        for no in ["n", "No", "deny"] {
            let denied = ContextResult::deny(id(), "a person refused");
            assert_eq!(decided(&request, no), Some(denied), "{no}");
        }
        for other in ["", "ok", "yes please", "yep", "1", "happened"] {
            assert_eq!(decided(&request, other), None, "{other}");
        }
    }

    #[test]
    fn the_whole_call_is_shown() {
        let shown = shown(&approval());
        assert!(shown.contains(&"x".repeat(2_000)), "{shown}");
        assert!(shown.contains("agent:     Ada (agt_ada)"), "{shown}");
        assert!(shown.contains(Digest::of(b"pay").as_str()), "{shown}");
        assert!(shown.starts_with("Ada wants to call pay.\n"), "{shown}");
        assert!(shown.ends_with("[yes/no]"), "{shown}");
    }
}
