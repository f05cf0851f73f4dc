//! What `ask` prints: the answer to standard output, everything about it to standard error.

use std::collections::BTreeMap;

use roundtable::core::event::{Body, Event, IterationEvent, Seq, Task, ToolCallEvent, TurnEvent};
use roundtable::core::id::{IterationId, TurnId};
use roundtable::driver::Update;
use roundtable::prelude::*;

use super::usage::Usage;
use crate::wrap::fitted;
use crate::{approval, out, voice};

/// How much of a tool's arguments or result is shown.
const SHOWN: usize = 120;

pub(super) struct Show {
    json: bool,
    /// The turn of the agent that was asked; those inside it are its own affair.
    seat: Option<TurnId>,
    /// How much of each running reply was shown as it was said, in bytes.
    heard: BTreeMap<IterationId, usize>,
    /// The models that answered, each once.
    models: Vec<String>,
    /// The last event that was shown.
    seen: Seq,
}

impl Show {
    pub fn new(json: bool) -> Self {
        Self { json, seat: None, heard: BTreeMap::new(), models: Vec::new(), seen: Seq(0) }
    }

    pub fn model(&self, model: &str, why: &str) {
        self.note(&voice::introduced(model, why));
    }

    /// Shows a turn that began before.
    pub fn joins(&mut self, seat: &TurnId) {
        self.seat = Some(seat.clone());
    }

    pub fn stopping(&self) {
        self.note(
            "\nStopping. Waiting for the running model call to finish and be saved; \
             press Ctrl-C again to stop at once.",
        );
    }

    pub fn approval(&self, request: &ContextRequest) {
        self.note(&approval::shown(request));
    }

    /// Asks again for an answer that counts.
    pub fn undecided(&self, request: &ContextRequest) {
        self.note(approval::again(request));
    }

    pub fn waits(&self, again: &str) {
        self.note(&format!(
            "No decision; the tool was not called and the request stays open.\nDecide: {again}"
        ));
    }

    pub fn update(&mut self, update: &Update) {
        match update {
            Update::Event(event) if self.json => {
                self.seen = event.seq;
                let line = serde_json::to_string(event.as_ref()).unwrap_or_default();
                put(&out::json_line(line));
            }
            Update::Event(event) => self.event(event),
            Update::Delta(delta) => {
                if let Some(heard) = self.heard.get_mut(&delta.iteration) {
                    *heard = delta.offset + delta.text.len();
                    self.say(&delta.text);
                }
            }
        }
    }

    /// The last event that was shown.
    pub fn seen(&self) -> Seq {
        self.seen
    }

    fn event(&mut self, event: &Event) {
        self.seen = event.seq;
        match &event.body {
            Body::Turn(TurnEvent::TurnStarted { task: Task::Seat { .. }, .. }) => {
                self.seat.clone_from(&event.place.turn);
            }
            Body::Turn(TurnEvent::TurnStarted { agent, .. }) => {
                self.note(&format!("  asks {}", agent.suffix()));
            }
            Body::ToolCall(ToolCallEvent::ToolCallRequested { name, arguments, .. }) => {
                self.note(&format!("  calls {name} {}", out::line(&arguments.to_string(), SHOWN)));
            }
            Body::ToolCall(ToolCallEvent::ToolCallFinished(outcome)) => {
                self.note(&format!("  = {}", out::line(outcome.message(), SHOWN)));
            }
            Body::Iteration(body) if event.place.turn == self.seat => self.words(event, body),
            _ => {}
        }
    }

    /// Deltas are hints: whatever they did not bring is in the event that ends the call.
    fn words(&mut self, event: &Event, body: &IterationEvent) {
        let Some(iteration) = event.place.iteration.clone() else { return };
        match body {
            IterationEvent::IterationOpened { .. } => {
                self.heard.insert(iteration, 0);
            }
            IterationEvent::ModelCallFinished { text, record, .. } => {
                let heard = self.heard.remove(&iteration).unwrap_or_default();
                let rest = text.get(heard..).unwrap_or_default();
                let end = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
                self.say(&format!("{rest}{end}"));
                if !self.models.contains(&record.model) {
                    self.models.push(record.model.clone());
                }
            }
            IterationEvent::ModelCallFailed { .. } | IterationEvent::ModelCallCancelled { .. } => {
                let heard = self.heard.remove(&iteration).unwrap_or_default();
                self.say(if heard > 0 { "\n" } else { "" });
            }
            _ => {}
        }
    }

    /// Shows the agent's questions, the usage of the answer, and the command to continue.
    pub fn end(&self, questions: &[ContextRequest], usage: &Usage, again: &str) {
        if self.json {
            return put(&out::json_line(usage.json().to_string()));
        }
        for question in questions {
            self.note(&format!("It asks: {}", question.query));
        }
        self.note(&format!("({})", usage.line(&self.models)));
        self.note(&format!("Continue: {again}"));
    }

    fn say(&self, text: &str) {
        if !self.json {
            put(&out::plain(text));
        }
    }

    /// Words about the answer; a program that reads JSON gets none.
    fn note(&self, text: &str) {
        if !self.json {
            eprintln!("{}", fitted(&out::plain(text)));
        }
    }
}

/// A reader that is gone is no reason to stop: the session goes on without it.
fn put(text: &str) {
    let _ = out::put(text);
}
