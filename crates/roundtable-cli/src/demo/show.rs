//! What the demonstration prints. Nothing here decides anything.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::io::IsTerminal as _;

use roundtable::core::event::{
    Body, ContextEvent, Event, IterationEvent, RoundEvent, SessionEvent, Task, ToolCallEvent,
    TurnEvent,
};
use roundtable::core::id::{ContextRequestId, IterationId};
use roundtable::core::required_context;
use roundtable::core::session::Session as State;
use roundtable::driver::Update;
use roundtable::prelude::*;

use super::cast::Play;
use crate::approval::HOW_TO_ANSWER;
use crate::config::Config;
use crate::out;
use crate::trace::Trace;
use crate::wrap::{Wrap, width_of};

pub(super) struct Show {
    json: bool,
    play: Play,
    /// How much of each running reply was shown as it was said, in bytes.
    heard: BTreeMap<IterationId, usize>,
    /// The questions whose answers need not be shown again.
    shown: BTreeSet<ContextRequestId>,
    /// How deep the open turns are nested.
    depth: usize,
    /// Breaks texts between words, on a terminal.
    wrap: RefCell<Option<Wrap>>,
}

impl Show {
    pub fn new(json: bool, play: Play) -> Self {
        Self {
            json,
            play,
            heard: BTreeMap::new(),
            shown: BTreeSet::new(),
            depth: 0,
            wrap: RefCell::new(
                width_of(&console::Term::stdout()).map(|width| Wrap::new(width, "")),
            ),
        }
    }

    pub fn killing(&self) {
        self.say(
            "Starting another process. Its agent calls a tool, and the tool calls a model twice.\n",
        );
    }

    pub fn killed(&self) {
        self.say("The process was killed (SIGKILL) during the second model call.\n\n");
    }

    pub fn going_on(&self, session: &SessionId) {
        self.say(&format!("Resuming {session} where it was interrupted.\n\n"));
    }

    pub fn opening(&self) {
        self.say(&format!("You: {}\n", self.play.question()));
    }

    pub fn stopping(&self) {
        self.say(
            "\n\nStopping. Running calls are finished and saved; press Ctrl-C again to stop at once.\n",
        );
    }

    pub fn refused(&self, error: &roundtable::Error) {
        let what = required_context(error.missing_context(), HOW_TO_ANSWER);
        let lines: String = what.lines().map(|line| format!("  | {line}\n")).collect();
        self.say(&format!("\nThe next round cannot start without an answer:\n\n{lines}"));
    }

    pub fn question(&mut self, request: &ContextRequest, now: &State) {
        self.shown.insert(request.id.clone());
        let name = now.name_of(&request.agent);
        self.say(&format!("\n{name} asks: {}\nYour answer: ", request.query));
    }

    pub fn given(&self, answer: &str) {
        self.say(&format!("{answer}\n"));
    }

    /// What was typed is on a terminal already.
    pub fn typed(&self, line: Option<&str>) {
        if !std::io::stdin().is_terminal() {
            self.given(line.unwrap_or("(nobody answered)"));
        } else if let Some(wrap) = &mut *self.wrap.borrow_mut() {
            // The key that ends an answer ends the line.
            wrap.begin_line();
        }
    }

    pub fn update(&mut self, update: &Update, now: &State) {
        match update {
            Update::Delta(delta) => {
                self.heard.insert(delta.iteration.clone(), delta.offset + delta.text.len());
                self.say(&delta.text);
            }
            Update::Event(event) if self.json => {
                let line = serde_json::to_string(event.as_ref()).unwrap_or_default();
                put(&format!("{line}\n"));
            }
            Update::Event(event) => {
                let text = self.text_of(event, now);
                self.say(&text);
            }
        }
    }

    /// The whole log, as it was committed, and what can be done with it.
    pub async fn log(&self, session: &Session, config: &Config) -> anyhow::Result<()> {
        let log = session.log().await?;
        let mut trace = Trace::default();
        let lines: String = log.iter().map(|event| trace.line(event)).collect();
        let again = config.command(&format!("show {}", session.id()));
        self.say(&format!("\nThe log of {}:\n{lines}\nShow it again: {again}\n", session.id()));
        let is_end = |event: &Event| {
            matches!(event.body, Body::Session(SessionEvent::SessionCompleted { .. }))
        };
        if !log.last().is_some_and(|event| is_end(event)) {
            self.say(&format!("Continue it:      {}\n", config.command(self.play.command())));
        }
        Ok(())
    }

    fn text_of(&mut self, event: &Event, now: &State) -> String {
        let indent = "    ".repeat(self.depth);
        match &event.body {
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
                        format!("\n{indent}{}: ", now.name_of(agent))
                    }
                }
            }
            Body::Turn(TurnEvent::TurnEnded { .. }) => {
                self.depth = self.depth.saturating_sub(1);
                "\n".to_owned()
            }
            Body::Iteration(body) => self.words(event, body),
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
            Body::Context(ContextEvent::ContextProvided(result))
                if !self.shown.contains(&result.request) =>
            {
                format!("\nAnswered: {}\n", result.shown())
            }
            _ => String::new(),
        }
    }

    /// What a model call said, as far as it was not heard while it was said: deltas are hints,
    /// and whatever they did not bring is in the event that ends the call.
    fn words(&mut self, event: &Event, body: &IterationEvent) -> String {
        let (text, end) = match body {
            IterationEvent::ModelCallFinished { text, .. } => (text, None),
            IterationEvent::ModelCallInterrupted { partial, .. } => {
                (partial, Some("[interrupted; trying again]\n"))
            }
            IterationEvent::ModelCallCancelled { partial, .. } => (partial, Some("[stopped]")),
            _ => return String::new(),
        };
        let heard = event.place.iteration.as_ref().and_then(|id| self.heard.remove(id));
        let heard = heard.unwrap_or_default();
        let rest = text.get(heard..).unwrap_or_default();
        let gap = if heard > 0 || !rest.is_empty() { " " } else { "" };
        end.map_or_else(|| rest.to_owned(), |end| format!("{rest}{gap}{end}"))
    }

    /// Words for people; a program that reads JSON gets none.
    fn say(&self, text: &str) {
        if self.json {
            return;
        }
        let text = out::plain(text);
        match &mut *self.wrap.borrow_mut() {
            Some(wrap) => put(&wrap.push(&text)),
            None => put(&text),
        }
    }
}

/// A reader that is gone, or has no room, is no reason to stop: the session goes on without it.
fn put(text: &str) {
    let _ = out::put(text);
}
