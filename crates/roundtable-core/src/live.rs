//! One step of a session: receive, decide, and let everything follow that is due.
//!
//! State and window are folds of the same log and move together. A step changes them at once; if
//! its commit fails, they are dropped and read again from the log.

use jiff::Timestamp;

use crate::event::{Body, Event};
use crate::id::{SessionId, TurnId};
use crate::input::{Env, Input};
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
#[derive(Debug, Clone, PartialEq)]
pub struct Live {
    /// The state.
    pub session: Session,
    /// The transcript.
    pub window: Window,
}

impl Live {
    /// A session before its first event.
    pub fn new(id: SessionId) -> Self {
        Self { session: Session::new(id), window: Window::default() }
    }

    /// A state from a snapshot, and the events since [`Session::window_from`] before it.
    pub fn resume<'a>(session: Session, earlier: impl IntoIterator<Item = &'a Event>) -> Self {
        let mut window = Window::default();
        for event in earlier {
            window.evolve(event, &session);
        }
        Self { session, window }
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
            let prepare = |turn: &TurnId| {
                let (rendered, prompt) = self.window.render(&self.session, turn)?;
                let bytes =
                    rendered.content_bytes() + self.session.tool_bytes(turn, &rendered.tools);
                Some(Prepared { prompt, bytes })
            };
            let Some(draft) = self.session.follow(starts, &prepare, env) else { return events };
            events.push(self.commit(draft, env.now));
        }
    }

    fn commit(&mut self, (place, body): (Place, Body), at: Timestamp) -> Event {
        let event = Event { seq: self.session.head.next(), at, place, body };
        self.apply(&event);
        event
    }
}
