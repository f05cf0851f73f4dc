//! Tools: what handlers did, against what the log says of their calls.

use std::collections::BTreeMap;

use roundtable_core::context_request::{About, Priority};
use roundtable_core::event::{Body, ContextEvent, ToolCallEvent};
use roundtable_core::id::{ContextRequestId, ToolCallId};
use roundtable_core::tool::{Effect, ToolOutcome};

use super::{Evidence, Findings, Rule};

/// A tool call, as the log has it.
#[derive(Default)]
struct Call {
    starts: Vec<u32>,
    interruptions: Vec<u32>,
    publications: Vec<u32>,
    outcome: Option<ToolOutcome>,
    /// The required question whether it took effect.
    question: Option<ContextRequestId>,
}

pub(super) fn check(evidence: &Evidence, found: &mut Findings) {
    let calls = calls(evidence);
    for (id, call) in &calls {
        check_call(id, call, found);
    }
    let mut runs: BTreeMap<&ToolCallId, (usize, Effect)> = BTreeMap::new();
    for execution in &evidence.executions {
        runs.entry(&execution.tool_call).or_insert((0, execution.effect)).0 += 1;
    }
    for (id, (runs, effect)) in runs {
        let Some(call) = calls.get(id) else {
            found.add(Rule::Tools, format!("{id} was run, and no log knows it"));
            continue;
        };
        check_runs(id, call, runs, effect, found);
    }
}

fn calls(evidence: &Evidence) -> BTreeMap<ToolCallId, Call> {
    let mut calls: BTreeMap<ToolCallId, Call> = BTreeMap::new();
    for event in evidence.logs.values().flatten().map(|stored| &stored.event) {
        match (&event.body, &event.place.tool_call) {
            (Body::ToolCall(body), Some(id)) => {
                let call = calls.entry(id.clone()).or_default();
                match body {
                    ToolCallEvent::ToolCallStarted { attempt } => call.starts.push(*attempt),
                    ToolCallEvent::ToolCallInterrupted { attempt } => {
                        call.interruptions.push(*attempt);
                    }
                    ToolCallEvent::ToolCallFinished(outcome) => {
                        call.outcome = Some(outcome.clone());
                    }
                    ToolCallEvent::ToolCallPublished { ordinal, .. } => {
                        call.publications.push(*ordinal);
                    }
                    ToolCallEvent::ToolCallRequested { .. } => {}
                }
            }
            (Body::Context(ContextEvent::ContextRequested(request)), _) => {
                if let (About::Outcome { tool_call, .. }, Priority::Required) =
                    (&request.about, request.priority)
                {
                    calls.entry(tool_call.clone()).or_default().question = Some(request.id.clone());
                }
            }
            _ => {}
        }
    }
    calls
}

fn check_call(id: &ToolCallId, call: &Call, found: &mut Findings) {
    let counted: Vec<u32> = (1..).take(call.starts.len()).collect();
    found.check(call.starts == counted, Rule::Tools, || {
        format!("{id} started as attempts {:?}", call.starts)
    });
    let counted: Vec<u32> = (1..).take(call.publications.len()).collect();
    found.check(call.publications == counted, Rule::Tools, || {
        format!("{id} published as {:?}", call.publications)
    });
    // A start after the first one needs an interruption of the one before it.
    let declared =
        call.starts.iter().filter(|attempt| **attempt > 1).all(|attempt| {
            call.interruptions.iter().filter(|gone| *gone + 1 == *attempt).count() == 1
        });
    found.check(declared, Rule::Tools, || {
        format!("{id} started as {:?}, interrupted as {:?}", call.starts, call.interruptions)
    });
    let asked = match &call.outcome {
        Some(ToolOutcome::Unknown { request }) => call.question.as_ref() == Some(request),
        Some(_) | None => call.question.is_none(),
    };
    found.check(asked, Rule::Tools, || {
        format!("{id} ended as {:?}, and the question is {:?}", call.outcome, call.question)
    });
}

fn check_runs(id: &ToolCallId, call: &Call, runs: usize, effect: Effect, found: &mut Findings) {
    found.check(runs <= call.starts.len(), Rule::Tools, || {
        format!("{id} was run {runs} times and started {} times", call.starts.len())
    });
    if effect != Effect::Effectful {
        return;
    }
    found.check(runs <= 1, Rule::Tools, || format!("{id} has effects and was run {runs} times"));
    found.check(call.interruptions.is_empty(), Rule::Tools, || {
        format!("{id} has effects and was set up to be run again")
    });
    let settled =
        matches!(call.outcome, Some(ToolOutcome::Returned(_) | ToolOutcome::Unknown { .. }));
    found.check(settled, Rule::Tools, || {
        format!("{id} has effects, was run, and ended as {:?}", call.outcome)
    });
}
