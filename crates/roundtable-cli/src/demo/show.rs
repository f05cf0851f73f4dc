//! What the demonstration prints. Nothing here decides anything.

use std::collections::BTreeMap;
use std::io::Write as _;

use roundtable::core::event::{
    Body, ContextEvent, Event, IterationEvent, RoundEvent, SessionEvent, Task, ToolCallEvent,
    TurnEvent,
};
use roundtable::core::id::{AgentId, IterationId};
use roundtable::driver::Update;
use roundtable::prelude::*;

use super::cast::QUESTION;

pub(super) struct Show {
    json: bool,
    /// How much of each running reply was shown as it was said, in bytes.
    heard: BTreeMap<IterationId, usize>,
    /// The agents' names.
    names: BTreeMap<AgentId, String>,
    /// How deep the open turns are nested.
    depth: usize,
}

impl Show {
    pub fn new(json: bool) -> Self {
        Self { json, heard: BTreeMap::new(), names: BTreeMap::new(), depth: 0 }
    }

    pub fn opening(&self) {
        self.say(&format!("You: {QUESTION}\n"));
    }

    pub fn stopping(&self) {
        self.say(
            "\n\nStopping: what runs is finished and recorded; another signal stops at once.\n",
        );
    }

    pub fn refused(&self, error: &roundtable::Error) {
        let lines: String = error.to_string().lines().map(|line| format!("  | {line}\n")).collect();
        self.say(&format!("\nGoing on without an answer is refused:\n\n{lines}"));
    }

    pub fn question(&self, request: &ContextRequest) {
        self.say(&format!(
            "\n{} asks: {}\nYour answer: ",
            self.name(&request.agent),
            request.query
        ));
    }

    pub fn given(&self, answer: &str) {
        self.say(&format!("{answer}\n"));
    }

    pub fn update(&mut self, update: &Update) {
        match update {
            Update::Delta(delta) => {
                self.heard.insert(delta.iteration.clone(), delta.offset + delta.text.len());
                self.say(&delta.text);
            }
            Update::Event(event) if self.json => {
                put(&format!("{}\n", serde_json::to_string(event.as_ref()).unwrap_or_default()));
            }
            Update::Event(event) => {
                let text = self.text_of(event);
                self.say(&text);
            }
        }
    }

    /// The whole log, as it was committed.
    pub async fn log(&self, session: &Session) -> anyhow::Result<()> {
        let lines: String = session.log().await?.iter().map(|event| format!("{event}\n")).collect();
        self.say(&format!("\nThe log of {} (this one was in memory):\n{lines}", session.id()));
        Ok(())
    }

    fn text_of(&mut self, event: &Event) -> String {
        let indent = "    ".repeat(self.depth);
        match &event.body {
            Body::Session(SessionEvent::SessionOpened(opening)) => {
                self.names = opening
                    .agents
                    .iter()
                    .map(|agent| (agent.id.clone(), agent.name.clone()))
                    .collect();
                String::new()
            }
            Body::Session(SessionEvent::SessionCompleted { reason }) => {
                format!("\nThe session is over: {reason}.\n")
            }
            Body::Round(RoundEvent::RoundOpened { number, .. }) => {
                format!("\n--- Round {number} ---\n")
            }
            Body::Round(RoundEvent::RoundClosed { .. }) => "\n--- Round complete ---\n".to_owned(),
            Body::Turn(TurnEvent::TurnStarted { agent, task }) => {
                self.depth += 1;
                match task {
                    Task::Nested { prompt, .. } => {
                        format!("{indent}nested prompt \"{}\": ", prompt.name)
                    }
                    Task::Seat { .. } | Task::Delegated { .. } => {
                        format!("\n{indent}{}: ", self.name(agent))
                    }
                }
            }
            Body::Turn(TurnEvent::TurnEnded { .. }) => {
                self.depth = self.depth.saturating_sub(1);
                "\n".to_owned()
            }
            Body::Iteration(IterationEvent::ModelCallFinished { text, .. }) => {
                // Deltas are hints: whatever they did not bring is in the finished event.
                let heard = event
                    .place
                    .iteration
                    .as_ref()
                    .and_then(|iteration| self.heard.remove(iteration));
                text.get(heard.unwrap_or_default()..).unwrap_or_default().to_owned()
            }
            Body::ToolCall(ToolCallEvent::ToolCallRequested { name, arguments, .. }) => {
                format!("[calls {name} {arguments}]\n")
            }
            Body::ToolCall(ToolCallEvent::ToolCallPublished { topic, data, .. }) => {
                format!("{indent}{topic}: {data}\n")
            }
            Body::ToolCall(ToolCallEvent::ToolCallFinished(outcome)) => {
                format!("{indent}= {}\n", outcome.message())
            }
            Body::Context(ContextEvent::ContextRequested(request)) => {
                format!("{indent}asks for context: {}\n", request.query)
            }
            _ => String::new(),
        }
    }

    fn name<'a>(&'a self, agent: &'a AgentId) -> &'a str {
        self.names.get(agent).map_or(agent.as_str(), String::as_str)
    }

    /// Words for people; a program that reads JSON gets none.
    fn say(&self, text: &str) {
        if !self.json {
            put(text);
        }
    }
}

/// Writes at once. A reader that is gone is no reason to stop: the session goes on without it.
fn put(text: &str) {
    let mut out = std::io::stdout().lock();
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}
