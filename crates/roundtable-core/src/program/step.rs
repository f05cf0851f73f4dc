//! What a program answers when it is asked what comes next.

use crate::audience::Audience;
use crate::id::AgentId;
use crate::stage::{Name, Stage};

/// What comes next, and what of it the program remembers.
#[derive(Debug, Clone)]
pub struct Step<S> {
    /// The new state of the program, where it changes.
    pub state: Option<S>,
    /// The title that lists show from here on. One that cannot be shown is dropped.
    pub title: Option<String>,
    /// Who is present from here on: nobody else receives what is said. It is recorded when a round
    /// opens and when stages are added; where it says nothing, those who were before, and everyone
    /// when a round opens.
    pub audience: Option<Audience>,
    /// What comes next.
    pub next: Next,
}

/// What comes next in a round or an aside.
#[derive(Debug, Clone)]
pub enum Next {
    /// It goes on with these stages, one after another.
    Stages(Vec<Stage>),
    /// Something is computed first.
    Job(Name),
    /// It is over.
    Close {
        /// Why the session is over with it, if it is. A message that waits goes first.
        ends: Option<String>,
        /// What people should know of how it went.
        note: Option<String>,
        /// What is done beside the rounds because of it, if it was completed.
        asides: Vec<Aside>,
    },
}

/// Something that is done beside the rounds, about one of them. The same purpose for the same take
/// with the same agent in its first seat is done once.
#[derive(Debug, Clone)]
pub struct Aside {
    /// What it is for, in the program's own word.
    pub purpose: Name,
    /// The round that it is about.
    pub number: u32,
    /// The take of that round.
    pub take: u32,
    /// With which stages it opens. Without any, the program is asked at once what comes next.
    pub stages: Vec<Stage>,
}

/// What a caller's wish makes happen.
#[derive(Debug, Clone)]
pub struct Act<S> {
    /// The new state of the program, where it changes.
    pub state: Option<S>,
    /// What is done because of it.
    pub aside: Option<Aside>,
}

impl<S> Step<S> {
    /// It goes on with these stages, one after another.
    pub fn stages(stages: Vec<Stage>) -> Self {
        Self::of(Next::Stages(stages))
    }

    /// Something is computed first.
    pub fn job(name: Name) -> Self {
        Self::of(Next::Job(name))
    }

    /// It is over.
    pub fn close() -> Self {
        Self::of(Next::Close { ends: None, note: None, asides: Vec::new() })
    }

    /// It is over, and the session with it.
    pub fn end(why: impl Into<String>) -> Self {
        Self::of(Next::Close { ends: Some(why.into()), note: None, asides: Vec::new() })
    }

    /// This comes next.
    pub fn of(next: Next) -> Self {
        Self { state: None, title: None, audience: None, next }
    }

    /// The same, with this as the title of the session.
    #[must_use]
    pub fn titled(mut self, title: impl Into<String>) -> Self {
        self.title = Some(title.into());
        self
    }

    /// The same, with these agents present from here on.
    #[must_use]
    pub fn among(mut self, agents: impl IntoIterator<Item = AgentId>) -> Self {
        self.audience = Some(agents.into_iter().collect());
        self
    }

    /// The same, with this as the new state.
    #[must_use]
    pub fn with(mut self, state: S) -> Self {
        self.state = Some(state);
        self
    }
}
