//! Two sides of one account: what the log says of every model call, and what the provider counted
//! for its key. They have to agree.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command as Process;
use std::sync::Arc;

use roundtable::core::budget::Usage;
use roundtable::core::event::{Body, Event, IterationEvent, RoundEvent, ToolCallEvent, TurnEvent};
use roundtable::core::event::{Task, TurnOutcome};
use roundtable_testing::provider::Received;

use super::voice;

/// A model call, as the log has it.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Call {
    pub started: usize,
    /// What was left of attempts that were cut, each declared as a possible duplicate.
    pub cut: Vec<String>,
    pub failed: usize,
    pub finished: Vec<Option<Usage>>,
}

/// What was done and spent.
pub struct Account {
    pub log: Vec<Arc<Event>>,
    pub received: Vec<Received>,
    pub calls: BTreeMap<String, Call>,
    runs: Vec<String>,
}

impl Account {
    pub fn new(log: Vec<Arc<Event>>, received: Vec<Received>, runs: Vec<String>) -> Self {
        let mut calls: BTreeMap<String, Call> = BTreeMap::new();
        for event in &log {
            let (Body::Iteration(body), Some(id)) = (&event.body, &event.place.iteration) else {
                continue;
            };
            let call = calls.entry(id.to_string()).or_default();
            match body {
                IterationEvent::ModelCallStarted { .. } => call.started += 1,
                IterationEvent::ModelCallInterrupted { partial, possible_duplicate, .. } => {
                    assert!(possible_duplicate, "{event}");
                    call.cut.push(partial.clone());
                }
                IterationEvent::ModelCallFailed { .. } => call.failed += 1,
                IterationEvent::ModelCallFinished { record, .. } => {
                    call.finished.push(record.usage)
                }
                IterationEvent::ModelCallRetried { .. }
                | IterationEvent::ModelCallCancelled { .. }
                | IterationEvent::IterationOpened { .. }
                | IterationEvent::IterationClosed { .. } => {}
            }
        }
        Self { log, received, calls, runs }
    }

    /// How often the provider was asked, by key.
    pub fn requests(&self) -> BTreeMap<&str, usize> {
        let mut requests = BTreeMap::new();
        for one in &self.received {
            *requests.entry(one.key()).or_default() += 1;
        }
        requests
    }

    /// The keys of the calls that are recorded as finished.
    pub fn finished(&self) -> BTreeSet<String> {
        let finished = self.calls.iter().filter(|(_, call)| !call.finished.is_empty());
        finished.map(|(key, _)| key.clone()).collect()
    }

    /// How often something was declared as a possible duplicate.
    pub fn declared(&self) -> usize {
        self.calls.values().map(|call| call.cut.len()).sum()
    }

    /// Both sides agree, when every request was answered or cut.
    pub fn check(&self, rounds: usize) {
        let requests = self.requests();
        for (key, call) in &self.calls {
            let asked = requests.get(key.as_str()).copied().unwrap_or_default();
            // A cut call may have died before its request came; nobody else asks twice.
            assert!((1..=1 + call.cut.len()).contains(&asked), "{key}: {asked} for {call:?}");
            assert_eq!(call.started, 1 + call.cut.len(), "{key}");
            let same: Vec<&Received> = self.received.iter().filter(|r| r.key() == key).collect();
            assert!(same.iter().all(|one| one.body == same[0].body), "{key}: another prompt");
            assert_eq!(call.finished, [Some(voice::usage(same[0]))], "{key}");
        }
        let known = |key: &&&str| self.calls.contains_key(**key);
        assert_eq!(requests.keys().filter(known).count(), requests.len(), "nothing else was asked");
        self.check_tools();
        let opened =
            |event: &&Arc<Event>| matches!(event.body, Body::Round(RoundEvent::RoundOpened { .. }));
        assert_eq!(self.log.iter().filter(opened).count(), rounds);
    }

    /// A tool call is finished once, and its handler ran once more than it was interrupted.
    fn check_tools(&self) {
        let mut calls: BTreeMap<String, (usize, usize, usize)> = BTreeMap::new();
        for event in &self.log {
            let (Body::ToolCall(body), Some(id)) = (&event.body, &event.place.tool_call) else {
                continue;
            };
            let (starts, interruptions, finishes) = calls.entry(id.to_string()).or_default();
            match body {
                ToolCallEvent::ToolCallStarted { .. } => *starts += 1,
                ToolCallEvent::ToolCallInterrupted { .. } => *interruptions += 1,
                ToolCallEvent::ToolCallFinished(_) => *finishes += 1,
                ToolCallEvent::ToolCallRequested { .. }
                | ToolCallEvent::ToolCallPublished { .. } => {}
            }
        }
        for (id, (starts, interruptions, finishes)) in calls {
            assert_eq!((starts, finishes), (1 + interruptions, 1), "{id}");
            // A process may die between the start and the handler.
            let ran = self.runs.iter().filter(|run| **run == id).count();
            assert!((1..=starts).contains(&ran), "{id} ran {ran} times");
        }
    }

    /// How often the handler of a tool ran, over all of its calls.
    pub fn runs_of(&self, tool: &str) -> usize {
        let ids: BTreeSet<String> = { self.log.iter() }
            .filter_map(|event| match &event.body {
                Body::ToolCall(ToolCallEvent::ToolCallRequested { name, .. }) if name == tool => {
                    Some(event.place.tool_call.as_ref()?.to_string())
                }
                _ => None,
            })
            .collect();
        self.runs.iter().filter(|run| ids.contains(*run)).count()
    }

    /// How the turns in the seats ended.
    pub fn outcomes(&self) -> Vec<TurnOutcome> {
        let mut seats = BTreeSet::new();
        let mut outcomes = Vec::new();
        for event in &self.log {
            match &event.body {
                Body::Turn(TurnEvent::TurnStarted { task: Task::Seat { .. }, .. }) => {
                    seats.insert(event.place.turn.clone());
                }
                Body::Turn(TurnEvent::TurnEnded { outcome, .. })
                    if seats.contains(&event.place.turn) =>
                {
                    outcomes.push(outcome.clone());
                }
                _ => {}
            }
        }
        outcomes
    }
}

/// The promises, checked by a program that shares no code with this one.
pub fn check_from_outside(directory: &Path) {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/oracle.py");
    let asked = Process::new("python3").arg(script).arg(directory).output();
    let asked = asked.expect("python3, which these tests need");
    let said = String::from_utf8_lossy(&asked.stdout);
    assert!(asked.status.success(), "{said}{}", String::from_utf8_lossy(&asked.stderr));
}
