//! What the prompt of a seat is made of, and what it says.

use std::fmt::Write as _;

use super::{Program, RoundView};
use crate::id::AgentId;
use crate::prompt::OutputSchema;
use crate::session::Session;
use crate::stage::{Seat, Stage};

/// What a seat's prompt is made of. There is no way from here to what its agent has not heard.
pub struct SeatView<'a, P: Program> {
    /// The session. Words may depend on what does not change while a turn is open: its topic, its
    /// agents, its settings.
    pub session: &'a Session,
    /// What it was opened with.
    pub rules: &'a P::Rules,
    /// The state of the program.
    pub state: &'a P::State,
    /// Who is told.
    pub agent: &'a AgentId,
    /// In which stage.
    pub stage: &'a Stage,
    /// In which seat of it.
    pub seat: &'a Seat,
    /// The round, as far as it was heard before this stage; in an aside, the round that the aside
    /// is about.
    pub round: RoundView<'a>,
    /// In an aside, what was said in it before this stage.
    pub aside: Option<RoundView<'a>>,
    /// The rounds before that count, oldest first, as far as the window reaches.
    pub earlier: Vec<RoundView<'a>>,
}

impl<P: Program> SeatView<'_, P> {
    /// The input, and the messages of earlier stages of the round, as plain text.
    pub fn asked(&self) -> String {
        let mut text = match self.round.input().and_then(|i| Some((&i.sender, i.text.as_ref()?))) {
            Some((sender, said)) => format!("{sender}: {said}"),
            None => GO_ON.to_owned(),
        };
        let mut heard = self.round.messages().peekable();
        if heard.peek().is_some() {
            text.push_str("\n\nSaid so far in this round:\n");
        }
        for spoken in heard {
            let cut = if spoken.is_partial() { " [cut off]" } else { "" };
            let _ = writeln!(text, "{}: {}{cut}", self.session.name_of(&spoken.agent), spoken.text);
        }
        text.trim_end().to_owned()
    }

    /// The persona of the agent; nothing of one who no longer takes part.
    pub fn persona(&self) -> &str {
        self.session.find_agent(self.agent).map_or("", |agent| &agent.persona)
    }
}

/// What agents are told when a round has no message.
const GO_ON: &str = "Continue the conversation.";

/// What a seat is told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Brief {
    /// What the prompt is called.
    pub name: String,
    /// Who the agent is and what it has to do.
    pub system: String,
    /// What is asked. Answers that people gave to earlier questions come before it.
    pub ask: String,
    /// What the answer has to look like.
    pub output: Option<OutputSchema>,
    /// Whether earlier rounds come before it.
    pub history: bool,
}

impl Brief {
    /// A prompt with earlier rounds before it, answered with prose.
    pub fn new(name: impl Into<String>, system: impl Into<String>, ask: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            system: system.into(),
            ask: ask.into(),
            output: None,
            history: true,
        }
    }
}
