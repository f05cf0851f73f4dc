//! What is open in a session: its round, and the asides that run beside it. Everything that happens
//! in one of them is found by the place of its event.

use super::{ASIDES, AsideKey, Session};
use crate::event::RoundOutcome;
use crate::id::{IterationId, RoundId, ToolCallId, TurnId};
use crate::round::Round;
use crate::scope::Place;
use crate::stage::{Name, Stage};
use crate::tool_call::ToolCall;
use crate::turn::Turn;

/// How many asides are at work at once; the others wait.
const AT_WORK: usize = 8;

impl Session {
    /// The open round, and the open asides behind it.
    pub fn scopes(&self) -> impl Iterator<Item = &Round> {
        self.round.iter().chain(&self.asides)
    }

    /// The same, without the asides whose turn has not come.
    pub(crate) fn scopes_at_work(&self) -> impl Iterator<Item = &Round> {
        self.round.iter().chain(self.asides.iter().take(AT_WORK))
    }

    /// The open round or aside with this id.
    pub fn find_scope(&self, id: &RoundId) -> Option<&Round> {
        self.scopes().find(|scope| scope.id == *id)
    }

    pub(crate) fn scope_at(&mut self, place: &Place) -> Option<&mut Round> {
        let id = place.round.as_ref()?;
        self.round.iter_mut().chain(&mut self.asides).find(|scope| scope.id == *id)
    }

    /// An open turn, and where it is.
    pub fn find_turn(&self, id: &TurnId) -> Option<(&Round, &Turn)> {
        self.scopes().find_map(|scope| Some((scope, scope.find_turn(id)?)))
    }

    /// The open turn whose open iteration this is, and where it is.
    pub fn turn_of_iteration(&self, id: &IterationId) -> Option<(&Round, &Turn)> {
        self.scopes().find_map(|scope| Some((scope, scope.turn_of_iteration(id)?)))
    }

    /// An open tool call, and where it is.
    pub fn find_call(&self, id: &ToolCallId) -> Option<(&Round, &Turn, &ToolCall)> {
        self.scopes().find_map(|scope| {
            let (turn, call) = scope.find_call(id)?;
            Some((scope, turn, call))
        })
    }

    /// Whether such an aside is under way, or was completed.
    pub(crate) fn has_aside(&self, wanted: &AsideKey) -> bool {
        let under_way = |open: &Round| open.aside.as_ref() == Some(wanted);
        self.asides_done.contains(wanted) || self.asides.iter().any(under_way)
    }

    /// An aside is done, for better or worse.
    pub(super) fn close_aside(&mut self, id: &RoundId, outcome: RoundOutcome) {
        let Some(index) = self.asides.iter().position(|aside| aside.id == *id) else { return };
        let aside = self.asides.remove(index);
        if outcome == RoundOutcome::Completed {
            self.asides_done.extend(aside.aside);
        }
        if self.asides_done.len() > ASIDES {
            self.asides_done.pop_front();
        }
    }

    /// The number of the last round that prompts no longer draw on. What an open aside is about is
    /// kept for it; the one that is closing needs nothing any more.
    pub(crate) fn left_behind(&self, latest: u32, closing: Option<&RoundId>) -> u32 {
        let open = self.asides.iter().filter(|aside| Some(&aside.id) != closing);
        let needed = open.map(|aside| aside.number.saturating_sub(1)).min();
        self.settings.left_behind(latest).min(needed.unwrap_or(u32::MAX))
    }
}

impl AsideKey {
    pub(crate) fn new(purpose: Name, number: u32, take: u32, stages: &[Stage]) -> Self {
        let agent = stages.iter().flat_map(Stage::agents).next().cloned();
        Self { purpose, number, take, agent }
    }
}
