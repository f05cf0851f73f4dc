//! What `chat` prints: answers to standard output, everything about them to standard error.

use std::collections::BTreeMap;

use roundtable::core::event::{
    Body, ContextEvent, Event, IterationEvent, SessionEvent, Task, ToolCallEvent, TurnEvent,
    TurnOutcome,
};
use roundtable::core::id::{AgentId, IterationId, TurnId};
use roundtable::core::session::Session as State;
use roundtable::driver::Update;
use roundtable::prelude::*;

use crate::wrap::{Wrap, columns, fitted, width_of};
use crate::{approval, out};

/// How wide a note is where nobody looks at a terminal.
const USUAL: usize = 100;

/// A turn that is open.
struct Turn {
    agent: AgentId,
    /// Whether its words are the answer.
    seat: bool,
}

pub(super) struct Show {
    turns: BTreeMap<TurnId, Turn>,
    /// How much of each running reply of a seat was shown, in bytes.
    heard: BTreeMap<IterationId, usize>,
    /// Whether the cursor is inside a line of an answer.
    open: bool,
    /// Breaks answers between words, on a terminal.
    wrap: Option<Wrap>,
}

impl Default for Show {
    fn default() -> Self {
        let wrap = width_of(&console::Term::stdout()).map(|width| Wrap::new(width, ""));
        Self { turns: BTreeMap::new(), heard: BTreeMap::new(), open: false, wrap }
    }
}

impl Show {
    pub fn update(&mut self, update: &Update, state: &State) {
        match update {
            Update::Event(event) => self.event(event, state),
            Update::Delta(delta) => {
                if let Some(heard) = self.heard.get_mut(&delta.iteration) {
                    *heard = delta.offset + delta.text.len();
                    self.say(&delta.text);
                }
            }
        }
    }

    fn event(&mut self, event: &Event, state: &State) {
        match (&event.body, &event.place.turn) {
            (Body::Turn(TurnEvent::TurnStarted { agent, task }), Some(turn)) => {
                self.begin(turn, agent, task, state, is_aside(event, state));
            }
            (Body::Turn(TurnEvent::TurnEnded { outcome, .. }), Some(turn)) => {
                self.end(turn, outcome, state);
            }
            (Body::ToolCall(body), Some(turn)) => self.tool_call(turn, body, state),
            (Body::Iteration(body), Some(turn)) if self.is_seat(turn) => self.words(event, body),
            (Body::Context(ContextEvent::ContextRequested(request)), _) => {
                self.request(request, state);
            }
            (Body::Session(SessionEvent::SessionChanged(change)), _) => {
                if let Some(title) = &change.title {
                    self.note(&format!("This conversation is now called \"{title}\"."));
                }
            }
            _ => {}
        }
    }

    /// Whether the words of a turn are the answer.
    fn is_seat(&self, turn: &TurnId) -> bool {
        self.turns.get(turn).is_some_and(|turn| turn.seat)
    }

    fn begin(&mut self, id: &TurnId, agent: &AgentId, task: &Task, state: &State, aside: bool) {
        // What is done beside the rounds is not part of an answer.
        if aside {
            return;
        }
        let seat = matches!(task, Task::Seat { .. });
        self.turns.insert(id.clone(), Turn { agent: agent.clone(), seat });
        let name = state.name_of(agent);
        match task {
            Task::Seat { .. } => self.introduce(name),
            Task::Delegated { mission, .. } => self.note(&format!("  → {name}: {mission}")),
            Task::Nested { prompt, .. } => self.note(&format!("  {name} works on {}", prompt.name)),
        }
    }

    fn end(&mut self, id: &TurnId, outcome: &TurnOutcome, state: &State) {
        let Some(turn) = self.turns.remove(id) else { return };
        let name = state.name_of(&turn.agent);
        let why = match outcome {
            TurnOutcome::Answered if turn.seat => return,
            TurnOutcome::Answered => "is done".to_owned(),
            TurnOutcome::Failed { error } => format!("could not answer: {error}"),
            TurnOutcome::Cancelled => "was stopped".to_owned(),
            TurnOutcome::Exhausted { budget } => {
                format!("exhausted its budget of {}", budget.word())
            }
        };
        self.note(&format!("  ← {name} {why}"));
    }

    fn tool_call(&mut self, turn: &TurnId, body: &ToolCallEvent, state: &State) {
        let name = self.turns.get(turn).map_or("", |turn| state.name_of(&turn.agent)).to_owned();
        match body {
            ToolCallEvent::ToolCallRequested { name: tool, .. }
                if ["delegate", "ask"].contains(&tool.as_str()) => {}
            ToolCallEvent::ToolCallRequested { name: tool, arguments, .. } => {
                self.note(&format!("  {name} calls {tool} {arguments}"));
            }
            ToolCallEvent::ToolCallFinished(outcome) if !outcome.succeeded() => {
                self.note(&format!("  {name}: {}", outcome.message()));
            }
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
            IterationEvent::ModelCallFinished { text, .. } => {
                let heard = self.heard.remove(&iteration).unwrap_or_default();
                self.say(text.get(heard..).unwrap_or_default());
                self.end_line();
            }
            IterationEvent::ModelCallFailed { .. } | IterationEvent::ModelCallCancelled { .. } => {
                self.heard.remove(&iteration);
                self.end_line();
            }
            _ => {}
        }
    }

    /// What a person has to answer before the turn goes on.
    pub fn request(&mut self, request: &ContextRequest, state: &State) {
        let name = state.name_of(&request.agent);
        if approval::is_decision(request) {
            self.whole(&approval::shown(request));
        } else {
            let why = match request.reason.as_str() {
                "" => String::new(),
                reason => format!(" ({reason})"),
            };
            self.whole(&format!("{name} asks: {}{why}", request.query));
        }
    }

    /// Who answers.
    fn introduce(&mut self, name: &str) {
        let name = out::plain(name);
        let _ = out::put(&format!("{}: ", console::style(&name).bold()));
        if let Some(wrap) = &mut self.wrap {
            wrap.begin_after(columns(&name) + 2);
        }
        self.open = true;
    }

    /// The words of an answer. Nothing in them acts on the terminal.
    fn say(&mut self, text: &str) {
        if !text.is_empty() {
            let text = out::plain(text);
            self.open = !text.ends_with('\n');
            let text = match &mut self.wrap {
                Some(wrap) => wrap.push(&text),
                None => text,
            };
            let _ = out::put(&text);
        }
    }

    pub fn end_line(&mut self) {
        if std::mem::take(&mut self.open) {
            let rest = self.wrap.as_mut().map_or_else(|| "\n".to_owned(), Wrap::finish);
            let _ = out::put(&rest);
        }
    }

    /// A line about an answer.
    pub fn note(&mut self, text: &str) {
        let indent = text.len() - text.trim_start().len();
        let line = out::line(&out::plain(text), width().saturating_sub(indent).max(20));
        self.whole(&format!("{}{line}", &text[..indent]));
    }

    /// Something that is shown whole.
    pub fn whole(&mut self, text: &str) {
        self.end_line();
        let text = fitted(&out::plain(text));
        eprintln!("{}", console::style(text).dim().for_stderr());
    }
}

/// Whether a turn is part of what is done beside the rounds.
fn is_aside(event: &Event, state: &State) -> bool {
    let round = event.place.round.as_ref();
    round.and_then(|id| state.find_scope(id)).is_some_and(|scope| scope.aside.is_some())
}

fn width() -> usize {
    console::Term::stderr().size_checked().map_or(USUAL, |(_, columns)| usize::from(columns))
}
