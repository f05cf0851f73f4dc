//! What happens to a conversation, its rounds and its requests to the person.

use roundtable::core::document::ContextRequest;
use roundtable::core::event::{
    AcceptedInput, ContextEvent, Event, RoundEvent, RoundOutcome, SessionEvent,
};
use serde_json::{Value, json};

use super::Payload;
use crate::scopes::RoundScope;

pub(super) fn payloads(event: &Event, body: &SessionEvent) -> Vec<Payload> {
    let updated = || Payload::new("conversation_updated");
    let payload = match body {
        SessionEvent::SessionOpened(opening) => {
            let agents: Vec<Value> = opening
                .agents
                .iter()
                .map(|agent| json!({ "agentId": agent.id, "name": agent.name }))
                .collect();
            Payload::new("conversation_created")
                .with("title", opening.topic.as_str())
                .with("kind", opening.kind.as_str())
                .with("agents", agents)
        }
        SessionEvent::SessionInputAccepted(input) => message(event, input),
        SessionEvent::SessionInputEdited(input) => message(event, input).with("edited", true),
        SessionEvent::SessionInputDropped { withdrawn, .. } => {
            Payload::new("message_dropped").with("withdrawn", *withdrawn)
        }
        SessionEvent::SessionChanged(change) => {
            updated().maybe("title", change.title.as_deref()).maybe("archived", change.archived)
        }
        SessionEvent::SessionPaused => updated().with("status", "paused"),
        SessionEvent::SessionResumed => updated().with("status", "active"),
        SessionEvent::SessionCompleted { reason } => {
            updated().with("status", "completed").with("reason", reason.as_str())
        }
        SessionEvent::SessionRoundSuperseded { number, take, .. } => {
            updated().with("supersededRound", *number).with("take", *take)
        }
        SessionEvent::SessionTakeSelected { number, take } => {
            updated().with("selectedRound", *number).with("take", *take)
        }
        SessionEvent::SessionForked { .. }
        | SessionEvent::SessionImported(_)
        | SessionEvent::StateChanged { .. } => return Vec::new(),
    };
    vec![payload]
}

fn message(event: &Event, input: &AcceptedInput) -> Payload {
    Payload::new("message")
        .with("role", "user")
        .with("sender", input.sender.as_str())
        .with("content", input.text.as_deref().unwrap_or_default())
        .with("at", event.at.to_string())
}

pub(super) fn round(body: &RoundEvent, scope: Option<&RoundScope>) -> Vec<Payload> {
    let number = scope.and_then(|scope| scope.number);
    match body {
        RoundEvent::RoundOpened { number, take, .. } => {
            vec![Payload::new("round_started").with("roundNumber", *number).with("take", *take)]
        }
        // An aside is nothing that people wait for.
        RoundEvent::RoundClosed { outcome, note, .. } if number.is_some() => {
            let ended = Payload::new("round_ended")
                .maybe("roundNumber", number)
                .with("outcome", outcome_word(*outcome))
                .maybe("note", note.as_deref());
            vec![ended]
        }
        _ => Vec::new(),
    }
}

fn outcome_word(outcome: RoundOutcome) -> &'static str {
    match outcome {
        RoundOutcome::Completed => "completed",
        RoundOutcome::Incomplete => "incomplete",
        RoundOutcome::Failed => "failed",
    }
}

pub(super) fn request(body: &ContextEvent) -> Vec<Payload> {
    let resolved = |request: &str, status: &str| {
        Payload::new("interaction_resolved").with("requestId", request).with("status", status)
    };
    vec![match body {
        ContextEvent::ContextRequested(request) => {
            let shown = serde_json::to_value(ContextRequest::from(request)).unwrap_or_default();
            Payload::new("interaction_requested")
                .with("requestId", request.id.as_str())
                .with("request", shown)
        }
        ContextEvent::ContextProvided(result) => resolved(result.request.as_str(), "answered")
            .with("success", result.success)
            .maybe("decision", result.decision.map(|decision| decision.word())),
        ContextEvent::ContextWithdrawn { request } => resolved(request.as_str(), "withdrawn"),
    }]
}
