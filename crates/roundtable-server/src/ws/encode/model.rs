//! What agents say: turns, delegations and the streams of their model calls.

use roundtable::core::event::{
    Body, CallRecord, Event, IterationEvent, MessageRef, Task, TurnEvent, TurnOutcome,
};
use roundtable::core::message::Citation;
use serde_json::{Value, json};

use super::{Encoder, Payload};
use crate::chat::stream_id;
use crate::problem::Problem;

impl Encoder {
    pub(super) async fn turn(
        &self,
        event: &Event,
        body: &TurnEvent,
    ) -> Result<Vec<Payload>, Problem> {
        let scope = self.scopes.turn(event.place.turn.as_ref());
        let turn = event.place.turn.as_ref().map(|turn| turn.as_str());
        Ok(match body {
            TurnEvent::TurnStarted { task: Task::Delegated { mission, rationale, .. }, .. } => {
                let delegation = Payload::new("delegation")
                    .with("mission", mission.as_str())
                    .with("rationale", rationale.as_str())
                    .maybe("agentTurnId", turn);
                vec![delegation.by(scope)]
            }
            TurnEvent::TurnStarted { .. } => Vec::new(),
            TurnEvent::TurnEnded { outcome, said } => {
                let message = match said {
                    Some(said) => Some(self.message(event, outcome, *said).await?),
                    None => None,
                };
                let failure = match outcome {
                    TurnOutcome::Failed { error } => {
                        let failure = Payload::new("error")
                            .with("reason", "turn_failed")
                            .with("error", error.as_str())
                            .maybe("agentTurnId", turn);
                        Some(failure.by(scope))
                    }
                    _ => None,
                };
                message.into_iter().chain(failure).collect()
            }
        })
    }

    async fn message(
        &self,
        event: &Event,
        outcome: &TurnOutcome,
        said: MessageRef,
    ) -> Result<Payload, Problem> {
        let scope = self.scopes.turn(event.place.turn.as_ref());
        let known = scope.and_then(|scope| scope.words.as_ref());
        let content = match known.filter(|(seq, _)| *seq == said.seq) {
            Some((_, text)) => text.clone(),
            None => {
                let read = self.session.read(said.seq, 1).await?;
                read.first().and_then(|event| words(&event.body)).unwrap_or_default()
            }
        };
        let status = match outcome {
            TurnOutcome::Answered => "completed",
            TurnOutcome::Failed { .. } => "failed",
            TurnOutcome::Cancelled => "stopped",
            TurnOutcome::Exhausted { .. } => "partial",
        };
        let message = Payload::new("message")
            .with("role", "assistant")
            .with("content", content)
            .with("status", status)
            .with("number", said.number)
            .with("at", event.at.to_string());
        let turn = event.place.turn.as_ref().map(|turn| turn.as_str());
        Ok(message.maybe("agentTurnId", turn).by(scope))
    }

    pub(super) fn model_call(&self, event: &Event, body: &IterationEvent) -> Vec<Payload> {
        let scope = self.scopes.turn(event.place.turn.as_ref());
        let (Some(scope), Some(iteration)) = (scope, &event.place.iteration) else {
            return Vec::new();
        };
        if !scope.is_shown {
            return Vec::new();
        }
        let turn = event.place.turn.as_ref().map(|turn| turn.as_str());
        let stream = |kind: &str, attempt: u32| {
            Payload::new(kind)
                .with("streamId", stream_id(iteration, attempt))
                .maybe("agentTurnId", turn)
                .by(Some(scope))
        };
        let end = |attempt: u32, finish: &str| stream("stream_end", attempt).with("finish", finish);
        let payload = match body {
            IterationEvent::ModelCallStarted { attempt, .. } => stream("stream_start", *attempt),
            IterationEvent::ModelCallFinished {
                attempt, text, calls, citations, record, ..
            } => end(*attempt, "completed")
                .with("content", text.as_str())
                .with("toolCalls", *calls)
                .maybe("citations", shown_citations(citations))
                .maybe("usage", usage(record)),
            IterationEvent::ModelCallCancelled { attempt, partial, .. } => {
                end(*attempt, "stopped").with("content", partial.as_str())
            }
            IterationEvent::ModelCallInterrupted { attempt, partial, .. } => {
                end(*attempt, "interrupted").with("content", partial.as_str())
            }
            IterationEvent::ModelCallFailed { attempt, error, .. } => {
                end(*attempt, "failed").with("error", error.as_str())
            }
            IterationEvent::IterationOpened { .. }
            | IterationEvent::ModelCallRetried { .. }
            | IterationEvent::IterationClosed { .. } => return Vec::new(),
        };
        vec![payload]
    }

    /// Remembers which streams a subscriber was told of.
    pub(super) fn note_streams(&mut self, event: &Event) {
        let (Body::Iteration(body), Some(iteration)) = (&event.body, &event.place.iteration) else {
            return;
        };
        match body {
            IterationEvent::ModelCallStarted { attempt, .. } => {
                self.streams.insert(stream_id(iteration, *attempt));
            }
            IterationEvent::ModelCallFinished { attempt, .. }
            | IterationEvent::ModelCallCancelled { attempt, .. }
            | IterationEvent::ModelCallInterrupted { attempt, .. }
            | IterationEvent::ModelCallFailed { attempt, .. } => {
                self.streams.remove(&stream_id(iteration, *attempt));
            }
            IterationEvent::IterationOpened { .. }
            | IterationEvent::ModelCallRetried { .. }
            | IterationEvent::IterationClosed { .. } => {}
        }
    }
}

/// The text that an event has.
fn words(body: &Body) -> Option<String> {
    match body {
        Body::Iteration(IterationEvent::ModelCallFinished { text, .. }) => Some(text.clone()),
        Body::Iteration(IterationEvent::ModelCallCancelled { partial, .. }) => {
            Some(partial.clone())
        }
        _ => None,
    }
}

fn shown_citations(citations: &[Citation]) -> Option<Value> {
    (!citations.is_empty()).then(|| json!(citations))
}

fn usage(record: &CallRecord) -> Option<Value> {
    let usage = record.usage?;
    let mut shown = json!({
        "inputTokens": usage.input,
        "outputTokens": usage.output,
        "model": record.model,
    });
    if let Some(cost) = record.cost {
        shown["costMicroUsd"] = cost.into();
    }
    Some(shown)
}
