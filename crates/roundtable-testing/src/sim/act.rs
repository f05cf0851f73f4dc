//! What callers do and wait for.

use roundtable_core::agent::Agent;
use roundtable_core::event::Opening;
use roundtable_core::id::SessionId;
use roundtable_core::input::{Command, OnBusy};

use super::dice::Dice;

/// Something that a client waits to see.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sight {
    /// So many rounds have closed.
    Closed(usize),
    /// So many model calls have started.
    Started(usize),
    /// So many requests have been raised.
    Asked(usize),
    /// Nothing is under way, and nobody is asked anything.
    Rest,
}

/// Something that a client does.
#[expect(clippy::large_enum_variant, reason = "a simulation has a few dozen of them")]
#[derive(Debug, Clone)]
pub enum Act {
    /// Opens its session.
    Open(Box<Opening>),
    /// Opens its session as a fork of another, where so many rounds had closed there, and goes on
    /// with other agents, if any are named.
    Fork(SessionId, usize, Option<Vec<Agent>>),
    /// Says something.
    Say(String, OnBusy),
    /// Says something and answers all pending requests with it.
    SayAndAnswer(String),
    /// Says something, without an id for the command: it cannot be sent again.
    SayOnce(String),
    /// Sends any other command.
    Send(Command),
    /// Answers the requests that were raised so far once more.
    AnswerAgain,
    /// Sends the last acknowledged command again: the answer has to be the same.
    SendAgain,
    /// Asks for the state.
    Look,
    /// Waits for so many milliseconds.
    Wait(u64),
    /// Waits to see something.
    Until(Sight),
}

/// Who answers the requests of agents.
#[derive(Debug, Clone)]
pub enum Conduct {
    /// This client does not.
    Reads,
    /// This one does, and the dice say what.
    Answers(Dice),
}
