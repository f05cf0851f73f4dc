//! Who takes part in the stories, and how to ask what came of them.

use std::collections::BTreeMap;

use roundtable_core::agent::Agent;
use roundtable_core::event::{Body, Event, IterationEvent, RoundEvent};
use roundtable_core::id::{AgentId, IterationId, SessionId};
use roundtable_core::input::OnBusy;
use roundtable_core::settings::{Order, Settings};
use roundtable_models::scripted::Call;
use roundtable_testing::oracle::Evidence;
use roundtable_testing::sim::{Act, Client, Conduct, Dice, Seed, Workshop};
use roundtable_testing::{agent, opening};

pub fn session(name: &str) -> SessionId {
    SessionId::new(name).unwrap()
}

/// An agent with every tool there is, who may delegate to anyone.
pub fn worker(name: &str) -> Agent {
    let mut agent = agent(name);
    agent.tools = Workshop::declarations();
    agent.workers = ["ann", "bob", "cyd"].map(|name| AgentId::new(name).unwrap()).to_vec();
    agent
}

pub fn open(agents: Vec<Agent>, order: Order) -> Act {
    Act::Open(Box::new(opening(agents, Settings { order, ..Settings::default() })))
}

pub fn say(text: &str) -> Act {
    Act::Say(text.to_owned(), OnBusy::Queue)
}

pub fn call(tool: &str, arguments: serde_json::Value) -> Call {
    Call::new(tool, arguments)
}

pub fn answers() -> Conduct {
    Conduct::Answers(Dice::new(Seed(1)))
}

/// The one who acts, and one who only reads.
pub fn people(name: &str, acts: Vec<Act>) -> Vec<Client> {
    let session = session(name);
    vec![
        Client::new("user", &session, answers(), acts),
        Client::new("tab", &session, Conduct::Reads, Vec::new()),
    ]
}

pub fn events(evidence: &Evidence) -> impl Iterator<Item = &Event> {
    evidence.logs.values().flatten().map(|stored| &*stored.event)
}

pub fn count(evidence: &Evidence, fits: impl Fn(&Body) -> bool) -> usize {
    events(evidence).filter(|event| fits(&event.body)).count()
}

pub fn closed(evidence: &Evidence) -> usize {
    count(evidence, |body| matches!(body, Body::Round(RoundEvent::RoundClosed { .. })))
}

/// How often each model call finished; a recorded one is never made again.
pub fn finishes(evidence: &Evidence) -> BTreeMap<IterationId, usize> {
    let mut finishes = BTreeMap::new();
    for event in events(evidence) {
        if let Body::Iteration(IterationEvent::ModelCallFinished { .. }) = &event.body {
            *finishes.entry(event.place.iteration.clone().unwrap()).or_default() += 1;
        }
    }
    finishes
}

/// What became of the model calls, in the order of the log.
pub fn model_calls(evidence: &Evidence) -> Vec<String> {
    let named = events(evidence).filter_map(|event| match &event.body {
        Body::Iteration(IterationEvent::ModelCallStarted { attempt, .. }) => {
            Some(format!("started {attempt}"))
        }
        Body::Iteration(IterationEvent::ModelCallInterrupted {
            attempt,
            partial,
            possible_duplicate,
            ..
        }) => Some(format!("interrupted {attempt} {partial:?} duplicate: {possible_duplicate}")),
        Body::Iteration(IterationEvent::ModelCallFinished { attempt, text, .. }) => {
            Some(format!("finished {attempt} {text:?}"))
        }
        Body::Iteration(IterationEvent::ModelCallFailed { attempt, .. }) => {
            Some(format!("failed {attempt}"))
        }
        Body::Iteration(IterationEvent::ModelCallCancelled { attempt, partial, .. }) => {
            Some(format!("cancelled {attempt} {partial:?}"))
        }
        _ => None,
    });
    named.collect()
}

/// Which attempts the provider received, and whether it counted an answer for each.
pub fn received(evidence: &Evidence) -> Vec<(u32, bool)> {
    evidence.received.iter().map(|call| (call.attempt, call.usage.is_some())).collect()
}
