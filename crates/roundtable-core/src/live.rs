//! One step of a session: receive, decide, and let everything follow that is due.
//!
//! State and window are folds of the same log and move together. A step changes them at once; if
//! its commit fails, they are dropped and read again from the log.

use std::cell::RefCell;
use std::collections::BTreeMap;

use jiff::Timestamp;

use crate::event::{Body, Event, IterationEvent};
use crate::id::{SessionId, TurnId};
use crate::input::{Env, Input};
use crate::prompt::RenderedPrompt;
use crate::reject::Reject;
use crate::scope::Place;
use crate::session::{Prepared, Session};
use crate::window::Window;

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
#[derive(Debug, Clone)]
pub struct Live {
    /// The state.
    pub session: Session,
    /// The transcript.
    pub window: Window,
    /// The prompts of calls that were started and not made yet: kept, so that nobody makes them
    /// twice.
    rendered: BTreeMap<TurnId, RenderedPrompt>,
}

impl PartialEq for Live {
    /// Prompts can be made again at any time: they are not part of what is compared.
    fn eq(&self, other: &Self) -> bool {
        self.session == other.session && self.window == other.window
    }
}

impl Live {
    /// A session before its first event.
    pub fn new(id: SessionId) -> Self {
        Self::of(Session::new(id), Window::default())
    }

    /// A state from a snapshot, and the events since [`Session::window_from`] before it.
    pub fn resume<'a>(session: Session, earlier: impl IntoIterator<Item = &'a Event>) -> Self {
        let mut window = Window::default();
        for event in earlier {
            window.evolve(event, &session);
        }
        Self::of(session, window)
    }

    fn of(session: Session, window: Window) -> Self {
        Self { session, window, rendered: BTreeMap::new() }
    }

    /// Applies an event that is in the log.
    pub fn apply(&mut self, event: &Event) {
        self.window.evolve(event, &self.session);
        self.session.evolve(event);
    }

    /// What an input makes happen, and all that follows from it, applied.
    ///
    /// # Errors
    /// [`Reject`] when the input is refused; nothing has changed then.
    pub fn step(&mut self, input: &Input, env: &Env, starts: Starts) -> Result<Vec<Event>, Reject> {
        let drafts = self.session.decide(input, env)?;
        let mut events: Vec<Event> =
            drafts.into_iter().map(|draft| self.commit(draft, env.now)).collect();
        events.extend(self.settle(env, starts));
        Ok(events)
    }

    /// What is due by itself, applied: nothing after a step, something after a restart.
    pub fn settle(&mut self, env: &Env, starts: Starts) -> Vec<Event> {
        let mut events = Vec::new();
        loop {
            let made = RefCell::new(None);
            let prepare = |turn: &TurnId| {
                let (rendered, prompt) = self.window.render(&self.session, turn)?;
                let bytes =
                    rendered.content_bytes() + self.session.tool_bytes(turn, &rendered.tools);
                made.replace(Some((turn.clone(), rendered)));
                Some(Prepared { prompt, bytes })
            };
            let Some(draft) = self.session.follow(starts, &prepare, env) else { return events };
            if let Body::Iteration(IterationEvent::ModelCallStarted { .. }) = draft.1 {
                self.rendered.extend(made.into_inner());
            }
            events.push(self.commit(draft, env.now));
        }
    }

    /// The prompt of a model call that is to be made now.
    pub fn take_prompt(&mut self, turn: &TurnId) -> Option<RenderedPrompt> {
        let made = self.rendered.remove(turn);
        made.or_else(|| Some(self.window.render(&self.session, turn)?.0))
    }

    fn commit(&mut self, (place, body): (Place, Body), at: Timestamp) -> Event {
        let event = Event { seq: self.session.head.next(), at, place, body };
        self.apply(&event);
        if self.session.round.is_none() {
            self.rendered.clear();
        }
        event
    }
}
