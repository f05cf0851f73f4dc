//! A round: one cycle of a session, in stages. Seats of a stage speak side by side; stages follow
//! each other and hear what was said before.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::budget::Account;
use crate::event::RoundOutcome;
use crate::id::{IterationId, RoundId, ToolCallId, TurnId};
use crate::message_context::MessageContext;
use crate::scope::Place;
use crate::stage::{Seat, Stage};
use crate::tool_call::ToolCall;
use crate::turn::{Turn, deadline};

/// The open round of a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Round {
    /// Its id.
    pub id: RoundId,
    /// Its number, from 1.
    pub number: u32,
    /// Which take of that number.
    pub take: u32,
    /// The input that opened it.
    pub input: MessageContext,
    /// Its stages, as far as they are decided.
    pub stages: Vec<Stage>,
    /// The stage under way.
    pub stage: u32,
    /// How many seats of that stage have begun.
    pub begun: u32,
    /// How many of them are done.
    pub done: u32,
    /// How many turns of the whole round have answered.
    pub answered: u32,
    /// When it opened.
    pub opened_at: Timestamp,
    /// What it has spent.
    pub account: Account,
    /// The open turns, in the order in which they began: parents before children.
    pub turns: Vec<Turn>,
    /// Whether it is done between rounds, and has no number of its own.
    #[serde(default)]
    pub aside: bool,
    /// Whether it was measured how far the panel agrees.
    #[serde(default)]
    pub measured: bool,
}

impl Round {
    /// Where its events happen.
    pub fn place(&self) -> Place {
        Place::round(&self.id)
    }

    /// The open turn with this id.
    pub fn find_turn(&self, id: &TurnId) -> Option<&Turn> {
        self.turns.iter().find(|turn| turn.id == *id)
    }

    pub(crate) fn find_turn_mut(&mut self, id: &TurnId) -> Option<&mut Turn> {
        self.turns.iter_mut().find(|turn| turn.id == *id)
    }

    /// The open turn whose open iteration this is.
    pub fn turn_of_iteration(&self, id: &IterationId) -> Option<&Turn> {
        self.turns.iter().find(|turn| turn.iteration.as_ref().is_some_and(|open| open.id == *id))
    }

    /// The open turn in which this tool call was made, and the call.
    pub fn find_call(&self, id: &ToolCallId) -> Option<(&Turn, &ToolCall)> {
        self.turns.iter().find_map(|turn| Some((turn, turn.find_call(id)?)))
    }

    /// A turn and those that wait for it, innermost first: whose budgets a call draws on.
    pub(crate) fn line_of(&self, turn: &TurnId) -> Vec<TurnId> {
        let mut line = Vec::new();
        let mut next = self.find_turn(turn);
        while let Some(turn) = next {
            line.push(turn.id.clone());
            next = turn
                .parent
                .as_ref()
                .and_then(|call| self.find_call(call))
                .map(|(parent, _)| parent);
        }
        line
    }

    /// The seat that begins next, in the stage under way.
    pub(crate) fn next_seat(&self) -> Option<&Seat> {
        self.stages.get(self.stage as usize)?.seats.get(self.begun as usize)
    }

    /// The stage that a turn is a seat of; none for the child of another turn.
    pub(crate) fn stage_of(&self, turn: &Turn) -> Option<&Stage> {
        self.stages.get(turn.stage? as usize)
    }

    /// A seat is done; with the last one of a stage, the next stage is under way.
    pub(crate) fn seat_done(&mut self, answered: bool) {
        self.done += 1;
        self.answered += u32::from(answered);
        if self
            .stages
            .get(self.stage as usize)
            .is_some_and(|stage| self.done as usize >= stage.seats.len())
        {
            (self.stage, self.begun, self.done) = (self.stage + 1, 0, 0);
        }
    }

    /// Leaves out the stages that are left where nothing was said that they could be about.
    pub(crate) fn skip_judges(&mut self) {
        let judges = self.stages.get(self.stage as usize).is_some_and(|stage| stage.if_answered);
        if judges && self.answered == 0 {
            self.stage = u32::try_from(self.stages.len()).unwrap_or(u32::MAX);
        }
    }

    /// Whether every seat of every stage that is decided is done.
    pub(crate) fn is_done(&self) -> bool {
        self.turns.is_empty() && self.stage as usize >= self.stages.len()
    }

    /// How it ends, once every seat is done.
    pub(crate) fn outcome(&self) -> Option<RoundOutcome> {
        self.is_done().then_some(if self.answered > 0 {
            RoundOutcome::Completed
        } else {
            RoundOutcome::Failed
        })
    }

    /// When it has to be over.
    pub(crate) fn deadline(&self) -> Option<Timestamp> {
        deadline(self.opened_at, self.account.limits)
    }
}
