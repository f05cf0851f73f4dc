//! I3 and I8: model calls, in the logs and at the provider; and the finishes of tool calls.

use std::collections::BTreeMap;

use roundtable_core::budget::Usage;
use roundtable_core::event::{Body, Event, IterationEvent, SessionEvent, ToolCallEvent};
use roundtable_core::id::{IterationId, ToolCallId};
use roundtable_core::session::Session;
use roundtable_models::scripted::Received;

use super::{Evidence, Findings, Rule};

/// One attempt of a model call, as the log has it.
#[derive(Default)]
struct Attempt {
    started: u32,
    /// How many requests of it failed and were made again.
    retried: usize,
    /// How it ended, in words, and what it used; more than one is a contradiction.
    ends: Vec<(&'static str, Option<Usage>)>,
}

impl Attempt {
    fn finish(&self) -> Option<Option<Usage>> {
        self.ends.iter().find(|(word, _)| *word == "finished").map(|(_, usage)| *usage)
    }
}

type Attempts = BTreeMap<(IterationId, u32), Attempt>;

pub(super) fn check(evidence: &Evidence, found: &mut Findings) {
    let mut attempts = Attempts::new();
    for event in evidence.logs.values().flatten().map(|stored| &stored.event) {
        note(event, &mut attempts);
    }
    check_ends(&attempts, found);
    check_provider(&attempts, &evidence.received, found);
    check_accounts(evidence, found);
    for stored in evidence.logs.values() {
        check_tool_calls(stored.iter().map(|stored| &*stored.event), found);
    }
}

fn note(event: &Event, attempts: &mut Attempts) {
    let (Body::Iteration(body), Some(id)) = (&event.body, &event.place.iteration) else { return };
    let (attempt, end) = match body {
        IterationEvent::ModelCallStarted { attempt, .. } => (attempt, None),
        IterationEvent::ModelCallInterrupted { attempt, .. } => {
            (attempt, Some(("interrupted", None)))
        }
        IterationEvent::ModelCallFailed { attempt, .. } => (attempt, Some(("failed", None))),
        IterationEvent::ModelCallCancelled { attempt, .. } => (attempt, Some(("cancelled", None))),
        IterationEvent::ModelCallFinished { attempt, record, .. } => {
            (attempt, Some(("finished", record.usage)))
        }
        IterationEvent::ModelCallRetried { attempt, .. } => {
            attempts.entry((id.clone(), *attempt)).or_default().retried += 1;
            return;
        }
        IterationEvent::IterationOpened { .. } | IterationEvent::IterationClosed { .. } => return,
    };
    let noted = attempts.entry((id.clone(), *attempt)).or_default();
    match end {
        None => noted.started += 1,
        Some(end) => noted.ends.push(end),
    }
}

fn check_ends(attempts: &Attempts, found: &mut Findings) {
    let mut finishes: BTreeMap<&IterationId, u32> = BTreeMap::new();
    for ((id, attempt), noted) in attempts {
        found.check(noted.started == 1, Rule::I3, || {
            format!("{id} attempt {attempt} started {} times", noted.started)
        });
        found.check(noted.ends.len() == 1, Rule::I3, || {
            let words: Vec<&str> = noted.ends.iter().map(|(word, _)| *word).collect();
            format!("{id} attempt {attempt} ended as [{}]", words.join(", "))
        });
        *finishes.entry(id).or_default() += u32::from(noted.finish().is_some());
    }
    for (id, count) in finishes.into_iter().filter(|(_, count)| *count > 1) {
        found.add(Rule::I3, format!("{id} finished {count} times"));
    }
}

fn check_provider(attempts: &Attempts, received: &[Received], found: &mut Findings) {
    let mut calls: BTreeMap<(IterationId, u32), Vec<&Received>> = BTreeMap::new();
    let mut prompts: BTreeMap<&IterationId, &str> = BTreeMap::new();
    for call in received {
        calls.entry((call.key.clone(), call.attempt)).or_default().push(call);
        let first = prompts.entry(&call.key).or_insert(&call.prompt);
        found.check(*first == call.prompt, Rule::I8, || {
            format!(
                "{} attempt {} asks something else than before:\n{first}\n---\n{}",
                call.key, call.attempt, call.prompt
            )
        });
    }
    for ((id, attempt), calls) in &calls {
        let noted = attempts.get(&(id.clone(), *attempt));
        let recorded = noted.map_or(0, |noted| 1 + noted.retried);
        found.check(calls.len() <= recorded, Rule::I8, || {
            format!(
                "the provider received {id} attempt {attempt} {} times, and the log has {recorded}",
                calls.len()
            )
        });
        found.check(noted.is_some_and(|noted| !noted.ends.is_empty()), Rule::I8, || {
            format!("the provider received {id} attempt {attempt}, and the log does not say what became of it")
        });
    }
    for (key, noted) in attempts {
        let Some(usage) = noted.finish() else { continue };
        let counted = calls.get(key).map(Vec::as_slice).unwrap_or_default();
        let last = counted.len().saturating_sub(1);
        let counted: Vec<Option<Usage>> =
            counted.iter().map(|call| call.usage).skip(last).collect();
        found.check(counted == [usage], Rule::I8, || {
            format!(
                "{} attempt {} finished with {usage:?}; the provider counted {counted:?}",
                key.0, key.1
            )
        });
    }
}

/// Every request that the provider received counts as a call of its session.
fn check_accounts(evidence: &Evidence, found: &mut Findings) {
    for (id, stored) in &evidence.logs {
        let mut session = Session::new(id.clone());
        stored.iter().for_each(|stored| session.evolve(&stored.event));
        let forked =
            |body: &Body| matches!(body, Body::Session(SessionEvent::SessionForked { .. }));
        // The account of a fork begins where it parts from its origin.
        if stored.iter().any(|stored| forked(&stored.event.body)) {
            continue;
        }
        let received = evidence.received.iter().filter(|call| call.session == *id).count() as u64;
        let counted = session.account.spent.calls + session.account.reserved.calls;
        found.check(received <= counted, Rule::I8, || {
            format!("the provider received {received} requests of {id}; the account has {counted}")
        });
    }
}

fn check_tool_calls<'a>(events: impl Iterator<Item = &'a Event>, found: &mut Findings) {
    let mut open: BTreeMap<&ToolCallId, bool> = BTreeMap::new();
    for event in events {
        let (Body::ToolCall(body), Some(id)) = (&event.body, &event.place.tool_call) else {
            continue;
        };
        match (body, open.get(id)) {
            (ToolCallEvent::ToolCallRequested { .. }, _) => {
                open.insert(id, true);
            }
            (_, None) => {
                found.add(Rule::I3, format!("{id}: {} without a request", event.body.kind()))
            }
            (_, Some(false)) => {
                found.add(Rule::I3, format!("{id}: {} after its finish", event.body.kind()))
            }
            (ToolCallEvent::ToolCallFinished(_), Some(true)) => {
                open.insert(id, false);
            }
            (_, Some(true)) => {}
        }
    }
}
