//! What tests read out of a log.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use roundtable_core::agent::Agent;
use roundtable_core::context_request::ContextRequest;
use roundtable_core::event::{
    Body, ContextEvent, Event, IterationEvent, RoundEvent, RoundOutcome, ToolCallEvent, TurnEvent,
    TurnOutcome,
};
use roundtable_core::id::{AgentId, TurnId};
use roundtable_core::settings::Settings;
use roundtable_core::tool::{ToolDecl, ToolOutcome, ToolResult};
use roundtable_engine::{Engine, SessionHandle, Subscription, Update};
use roundtable_testing::{agent, opening, rounds, say};

/// An agent with these tools.
pub fn armed(name: &str, tools: impl IntoIterator<Item = ToolDecl>) -> Agent {
    Agent { tools: tools.into_iter().collect(), ..agent(name) }
}

/// A chat of these agents after its first round.
pub async fn one_round(engine: &Engine, agents: Vec<Agent>) -> (SessionHandle, Vec<Arc<Event>>) {
    let session = engine.open(opening(agents, Settings::default())).await.unwrap();
    session.command(say(session.id(), "m1", "Go."), None).await.unwrap();
    let events = rounds(&session, 1).await;
    (session, events)
}

/// The next update of a reader, which has to come at some time.
pub async fn next(subscription: &mut Subscription) -> Update {
    let next = tokio::time::timeout(Duration::from_secs(3600), subscription.next()).await;
    next.expect("something happens").unwrap()
}

/// The kinds of these events.
pub fn kinds(events: &[Arc<Event>]) -> Vec<String> {
    events.iter().map(|event| event.body.kind().to_owned()).collect()
}

/// How many of these events are of a kind.
pub fn count(events: &[Arc<Event>], kind: &str) -> usize {
    events.iter().filter(|event| event.body.kind() == kind).count()
}

/// How the tool calls ended, in that order.
pub fn tool_outcomes(events: &[Arc<Event>]) -> Vec<ToolOutcome> {
    let outcome = |event: &Arc<Event>| match &event.body {
        Body::ToolCall(ToolCallEvent::ToolCallFinished(outcome)) => Some(outcome.clone()),
        _ => None,
    };
    events.iter().filter_map(outcome).collect()
}

/// What the tools handed back, in that order.
pub fn tool_results(events: &[Arc<Event>]) -> Vec<ToolResult> {
    let result = |outcome| match outcome {
        ToolOutcome::Returned(result) => Some(result),
        _ => None,
    };
    tool_outcomes(events).into_iter().filter_map(result).collect()
}

/// How the turns ended, in that order, and whose they were.
pub fn turn_ends(events: &[Arc<Event>]) -> Vec<(AgentId, TurnOutcome)> {
    let mut agents: BTreeMap<TurnId, AgentId> = BTreeMap::new();
    let mut ends = Vec::new();
    for event in events {
        match (&event.body, &event.place.turn) {
            (Body::Turn(TurnEvent::TurnStarted { agent, .. }), Some(turn)) => {
                agents.insert(turn.clone(), agent.clone());
            }
            (Body::Turn(TurnEvent::TurnEnded { outcome, .. }), Some(turn)) => {
                ends.push((agents[turn].clone(), outcome.clone()));
            }
            _ => {}
        }
    }
    ends
}

/// How the rounds ended, in that order.
pub fn round_ends(events: &[Arc<Event>]) -> Vec<RoundOutcome> {
    let outcome = |event: &Arc<Event>| match &event.body {
        Body::Round(RoundEvent::RoundClosed { outcome, .. }) => Some(*outcome),
        _ => None,
    };
    events.iter().filter_map(outcome).collect()
}

/// The texts of the finished model calls, in that order.
pub fn replies(events: &[Arc<Event>]) -> Vec<String> {
    let text = |event: &Arc<Event>| match &event.body {
        Body::Iteration(IterationEvent::ModelCallFinished { text, .. }) => Some(text.clone()),
        _ => None,
    };
    events.iter().filter_map(text).collect()
}

/// The context requests that were raised, in that order.
pub fn requests(events: &[Arc<Event>]) -> Vec<ContextRequest> {
    let request = |event: &Arc<Event>| match &event.body {
        Body::Context(ContextEvent::ContextRequested(request)) => Some(request.clone()),
        _ => None,
    };
    events.iter().filter_map(request).collect()
}

/// The events as a log writes them.
pub fn json(events: &[Arc<Event>]) -> String {
    events.iter().map(|event| serde_json::to_string(event).unwrap()).collect()
}
