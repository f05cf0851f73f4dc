//! Tool calls.

use roundtable::core::event::{Event, ToolCallEvent};
use roundtable::core::tool::ToolOutcome;

use super::{Encoder, Payload};

impl Encoder {
    pub(super) fn tool_call(&self, event: &Event, body: &ToolCallEvent) -> Vec<Payload> {
        let scope = self.scopes.turn(event.place.turn.as_ref());
        if !scope.is_some_and(|scope| scope.is_shown) {
            return Vec::new();
        }
        let turn = event.place.turn.as_ref().map(|turn| turn.as_str());
        let call = event.place.tool_call.as_ref().map(|call| call.as_str());
        let payload = |kind: &str| {
            Payload::new(kind).maybe("toolCallId", call).maybe("agentTurnId", turn).by(scope)
        };
        let payload = match body {
            ToolCallEvent::ToolCallRequested { name, arguments, .. } => payload("tool_requested")
                .with("name", name.as_str())
                .with("arguments", arguments.clone()),
            ToolCallEvent::ToolCallPublished { topic, data, .. } => {
                payload("tool_progress").with("topic", topic.as_str()).with("data", data.clone())
            }
            ToolCallEvent::ToolCallFinished(outcome) => {
                finished(payload("tool_execution_finished"), outcome)
            }
            ToolCallEvent::ToolCallStarted { .. } | ToolCallEvent::ToolCallInterrupted { .. } => {
                return Vec::new();
            }
        };
        vec![payload]
    }
}

fn finished(payload: Payload, outcome: &ToolOutcome) -> Payload {
    match outcome {
        ToolOutcome::Returned(result) => payload
            .with("outcome", "returned")
            .with("success", result.success)
            .with("message", result.message.as_str()),
        ToolOutcome::Answered { turn } => payload
            .with("outcome", "answered")
            .with("success", true)
            .with("delegateTurnId", turn.as_str()),
        ToolOutcome::Cancelled => payload.with("outcome", "cancelled").with("success", false),
        ToolOutcome::Unknown { request } => payload
            .with("outcome", "unknown")
            .with("success", false)
            .with("requestId", request.as_str()),
        ToolOutcome::NotRun { reason } => payload
            .with("outcome", "not_run")
            .with("success", false)
            .with("message", reason.as_str()),
    }
}
