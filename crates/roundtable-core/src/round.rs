//! A round: one cycle of a session, in stages and jobs. Seats of a stage speak side by side; stages
//! follow each other and hear what was said before. An aside is the same beside the rounds.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::budget::{Account, Limits};
use crate::event::{RoundOutcome, Seq};
use crate::id::{IterationId, RoundId, ToolCallId, TurnId};
use crate::job::Job;
use crate::message_context::MessageContext;
use crate::scope::Place;
use crate::session::AsideKey;
use crate::stage::{Seat, Stage};
use crate::tool_call::ToolCall;
use crate::turn::{Turn, deadline};

/// An open round of a session, or an open aside.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Round {
    /// Its id.
    pub id: RoundId,
    /// Its number, from 1; for an aside, that of the round that it is about.
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
    /// Where the log says that it opened.
    pub since: Seq,
    /// When it opened.
    pub opened_at: Timestamp,
    /// What it has spent.
    pub account: Account,
    /// The open turns, in the order in which they began: parents before children.
    pub turns: Vec<Turn>,
    /// What it is for, when it is an aside.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub aside: Option<AsideKey>,
    /// The job that it waits for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub job: Option<Job>,
    /// How many jobs it has started.
    #[serde(default)]
    pub jobs: u32,
    /// What people should know of how it went.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// What a round or an aside is opened with.
pub(crate) struct RoundOpening {
    pub id: RoundId,
    pub number: u32,
    pub take: u32,
    pub input: MessageContext,
    pub stages: Vec<Stage>,
    pub aside: Option<AsideKey>,
    pub limits: Limits,
    pub since: Seq,
    pub at: Timestamp,
}

impl From<RoundOpening> for Round {
    fn from(opened: RoundOpening) -> Self {
        let RoundOpening { id, number, take, input, stages, aside, limits, since, at } = opened;
        Self {
            id,
            number,
            take,
            input,
            stages,
            stage: 0,
            begun: 0,
            done: 0,
            answered: 0,
            since,
            opened_at: at,
            account: Account::new(limits),
            turns: Vec::new(),
            aside,
            job: None,
            jobs: 0,
            notes: Vec::new(),
        }
    }
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

    /// Whether everything that is decided is done: every seat of every stage, and every job.
    pub(crate) fn is_done(&self) -> bool {
        self.turns.is_empty() && self.job.is_none() && self.stage as usize >= self.stages.len()
    }

    /// How it ends when nothing more comes. A round in which nobody answered who counts has failed;
    /// an aside without such stages has done what it was for.
    pub(crate) fn outcome(&self) -> RoundOutcome {
        let counts = self.aside.is_none() || self.stages.iter().any(|stage| stage.counts);
        if self.answered > 0 || !counts { RoundOutcome::Completed } else { RoundOutcome::Failed }
    }

    /// When it has to be over.
    pub(crate) fn deadline(&self) -> Option<Timestamp> {
        deadline(self.opened_at, self.account.limits)
    }
}
