//! One step of a session: receive, decide, and let everything follow that is due.
//!
//! State and window are folds of the same log and move together. A step changes them at once; if
//! its commit fails, they are dropped and read again from the log.

use std::cell::RefCell;
use std::collections::BTreeMap;

use jiff::Timestamp;
use serde_json::Value;

use crate::event::{Body, Event, IterationEvent, PromptRecord, RoundEvent};
use crate::id::{AgentId, RoundId, SessionId, TurnId};
use crate::input::{Env, Input};
use crate::program::Programs;
use crate::prompt::RenderedPrompt;
use crate::reject::Reject;
use crate::scope::Place;
use crate::session::{PreparedPrompt, Session, With};
use crate::window::{Keep, Window};

/// Whether a step may start model calls and tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Starts {
    /// It may.
    Allowed,
    /// The engine is draining: what is not started yet will be started by whoever comes next. What
    /// a running handler waits for is started all the same, because the handler has to end first.
    Held,
}

/// A session's state and the transcript that its prompts draw on.
#[derive(Debug)]
pub struct Live {
    /// The state.
    pub session: Session,
    /// The transcript.
    pub window: Window,
    programs: Programs,
    /// The prompts of calls that were started and not made yet: kept, so that nobody makes them
    /// twice.
    rendered: BTreeMap<TurnId, RenderedPrompt>,
}

impl Clone for Live {
    /// Prompts can be made again at any time, so a copy goes without them.
    fn clone(&self) -> Self {
        Self::of(self.session.clone(), self.window.clone(), &self.programs)
    }
}

impl PartialEq for Live {
    /// Prompts can be made again at any time: they are not part of what is compared.
    fn eq(&self, other: &Self) -> bool {
        self.session == other.session && self.window == other.window
    }
}

impl Live {
    /// A session before its first event.
    pub fn new(id: SessionId, programs: &Programs) -> Self {
        Self::reader(id, programs, Keep::Window)
    }

    /// A session before its first event, of which so much is kept.
    pub fn reader(id: SessionId, programs: &Programs, keep: Keep) -> Self {
        Self::of(Session::new(id), Window::new(keep), programs)
    }

    /// A state from a snapshot, and the events since [`Session::window_from`] before it.
    pub fn resume<'a>(
        session: Session,
        earlier: impl IntoIterator<Item = &'a Event>,
        programs: &Programs,
    ) -> Self {
        let mut window = Window::default();
        for event in earlier {
            window.evolve(event, &session, programs.of(&session));
        }
        Self::of(session, window, programs)
    }

    fn of(session: Session, window: Window, programs: &Programs) -> Self {
        Self { session, window, programs: programs.clone(), rendered: BTreeMap::new() }
    }

    /// Applies an event that is in the log.
    pub fn apply(&mut self, event: &Event) {
        self.window.evolve(event, &self.session, self.programs.of(&self.session));
        self.session.evolve(event);
    }

    /// What an input makes happen, and all that follows from it, applied.
    ///
    /// # Errors
    /// [`Reject`] when the input is refused; nothing has changed then.
    pub fn step(&mut self, input: &Input, env: &Env, starts: Starts) -> Result<Vec<Event>, Reject> {
        let drafts = self.session.decide(input, env, &self.window, &self.programs)?;
        let mut events: Vec<Event> =
            drafts.into_iter().map(|draft| self.commit(draft, env.now)).collect();
        events.extend(self.settle(env, starts));
        Ok(events)
    }

    /// What is due by itself, applied: nothing after a step, something after a restart.
    pub fn settle(&mut self, env: &Env, starts: Starts) -> Vec<Event> {
        let mut events = Vec::new();
        if self.programs.missing(&self.session).is_some() {
            return events;
        }
        loop {
            let made = RefCell::new(None);
            let prepare = |turn: &TurnId| {
                let (rendered, prompt) = self.render(turn)?;
                let bytes =
                    rendered.content_bytes() + self.session.tool_bytes(turn, &rendered.tools);
                made.replace(Some((turn.clone(), rendered)));
                Some(PreparedPrompt { prompt, bytes })
            };
            let program = self.programs.of(&self.session);
            let with = With { window: &self.window, program, prepare: &prepare, starts };
            let drafts = self.session.follow(&with, env);
            if let [(_, Body::Iteration(IterationEvent::ModelCallStarted { .. }))] = &drafts[..] {
                self.rendered.extend(made.into_inner());
            }
            if drafts.is_empty() {
                return events;
            }
            events.extend(drafts.into_iter().map(|draft| self.commit(draft, env.now)));
        }
    }

    /// The text of an open turn's next model call, and what it is made of.
    pub fn render(&self, turn: &TurnId) -> Option<(RenderedPrompt, PromptRecord)> {
        self.window.render(&self.session, &self.programs, turn)
    }

    /// What others call an agent whose name they must not know.
    pub(crate) fn pseudonym(&self, agent: &AgentId) -> Option<String> {
        self.programs.of(&self.session).pseudonym(&self.session, agent)
    }

    /// What the open job of a round or an aside is given.
    pub fn job_input(&self, scope: &RoundId) -> Option<Value> {
        let scope = self.session.find_scope(scope)?;
        self.session.job_input(&self.window, self.programs.of(&self.session), scope)
    }

    /// The prompt of a model call that is to be made now.
    pub fn take_prompt(&mut self, turn: &TurnId) -> Option<RenderedPrompt> {
        let made = self.rendered.remove(turn);
        made.or_else(|| Some(self.render(turn)?.0))
    }

    fn commit(&mut self, (place, body): (Place, Body), at: Timestamp) -> Event {
        let event = Event { seq: self.session.head.next(), at, place, body };
        self.apply(&event);
        if matches!(event.body, Body::Round(RoundEvent::RoundClosed { .. })) {
            self.rendered.retain(|turn, _| self.session.find_turn(turn).is_some());
        }
        event
    }
}
