//! Chats, as an embedder uses them.

mod queue;
mod tabs;
mod team;
mod walk;

use roundtable::core::event::{Body, Event, RoundEvent, SessionEvent};
use roundtable::prelude::*;
use roundtable_testing::RecordingModel;

/// An engine whose only model says what the script says.
async fn engine(model: &RecordingModel) -> Engine {
    Engine::builder().custom_model("scripted", model.clone()).build().await.unwrap()
}

fn recorded(script: Script) -> (RecordingModel, ScriptedModel) {
    let model = ScriptedModel::new(script);
    (RecordingModel::new(model.clone()), model)
}

fn agent(name: &str) -> Agent {
    Agent::new(name, "scripted").unwrap()
}

/// Events until this many rounds and asides are closed.
async fn until_closed(session: &Session, count: usize) -> Vec<std::sync::Arc<Event>> {
    let mut events = session.events(Since::Start).await.unwrap();
    let (mut seen, mut closed) = (Vec::new(), 0);
    while closed < count {
        let event = events.next().await.unwrap().unwrap();
        closed += usize::from(matches!(event.body, Body::Round(RoundEvent::RoundClosed { .. })));
        seen.push(event);
    }
    seen
}

fn title_of(events: &[std::sync::Arc<Event>]) -> Option<String> {
    events.iter().find_map(|event| match &event.body {
        Body::Session(SessionEvent::SessionChanged(change)) => change.title.clone(),
        _ => None,
    })
}
