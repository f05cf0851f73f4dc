//! What a session needs done, derived from its state.

use jiff::Timestamp;

use super::Session;
use crate::id::ToolCallId;
use crate::iteration::Phase;
use crate::job::Job;
use crate::round::Round;
use crate::tool::Runs;
use crate::tool_call::{Phase as CallPhase, ToolCall};
use crate::turn::Turn;
use crate::want::Want;

impl Session {
    /// What has to be running. Whoever drives the session starts what is wanted and not running,
    /// and ends what is running and not wanted.
    pub fn wants(&self) -> Vec<Want> {
        let mut wants = Vec::new();
        for scope in self.scopes() {
            for turn in &scope.turns {
                // What waits for the model of whoever calls needs nothing to run.
                if !self.waits_for_host(turn) {
                    turn_wants(turn, &mut wants);
                }
            }
            if let Some(Job { name, ordinal }) = &scope.job {
                let (round, name) = (scope.id.clone(), name.clone());
                wants.push(Want::RunJob { round, name, ordinal: *ordinal });
            }
        }
        wants.extend(self.wake_at().map(Want::WakeAt));
        wants
    }

    /// When something is due next.
    pub fn wake_at(&self) -> Option<Timestamp> {
        let turns = self.scopes().flat_map(|scope| &scope.turns).map(Turn::deadline);
        turns.chain(self.scopes().map(Round::deadline)).flatten().min()
    }

    /// Whether someone has to drive the session now: it is not just waiting for people.
    pub fn has_work(&self) -> bool {
        let waits_for_people = |turn: &Turn| {
            let calls = turn
                .iteration
                .as_ref()
                .map(crate::iteration::Iteration::tool_calls)
                .unwrap_or_default();
            let mut open = calls.iter().filter(|call| call.is_open()).peekable();
            // A call that waits for a child is as busy as the child, which is asked in its turn.
            let blocked = |call: &ToolCall| {
                call.awaited_request().is_some()
                    || call.children.iter().any(|child| child.outcome.is_none())
            };
            self.waits_for_host(turn) || (open.peek().is_some() && open.all(blocked))
        };
        let works =
            |scope: &Round| scope.turns.is_empty() || !scope.turns.iter().all(waits_for_people);
        self.scopes().any(works)
            || (self.round.is_none() && (self.redo.is_some() || self.could_open()))
    }

    /// Whether a waiting input would open its round now.
    fn could_open(&self) -> bool {
        !self.waiting.is_empty()
            && self.status == super::Status::Active
            && self.required().next().is_none()
    }

    /// Whether a handler that runs waits for the turn of this call.
    pub fn is_awaited(&self, id: &ToolCallId) -> bool {
        self.find_call(id).is_some_and(|(scope, turn, _)| is_awaited(scope, turn))
    }

    /// Whether an earlier writer left something started and not finished.
    pub fn has_started(&self) -> bool {
        let started = |want: &Want| matches!(want, Want::CallModel { .. } | Want::RunTool { .. });
        self.wants().iter().any(started)
    }
}

/// Whether a handler that runs waits for a turn, or for one that waits for it.
pub(super) fn is_awaited(round: &Round, turn: &Turn) -> bool {
    let runs = |call: &ToolCall| {
        call.runs == Runs::Handler && matches!(call.phase, CallPhase::Started { .. })
    };
    let line = round.line_of(&turn.id).into_iter().filter_map(|id| round.find_turn(&id));
    let calls = line.filter_map(|turn| round.find_call(turn.parent.as_ref()?));
    calls.into_iter().any(|(_, call)| runs(call))
}

fn turn_wants(turn: &Turn, wants: &mut Vec<Want>) {
    let Some(iteration) = &turn.iteration else { return };
    if let Phase::AwaitingModel { attempt, since, .. } = iteration.phase {
        wants.push(Want::CallModel {
            turn: turn.id.clone(),
            iteration: iteration.id.clone(),
            attempt,
            since,
        });
    }
    for call in iteration.tool_calls() {
        if let CallPhase::Started { attempt, .. } = call.phase {
            wants.push(Want::RunTool {
                turn: turn.id.clone(),
                tool_call: call.id.clone(),
                attempt,
            });
        } else if call.wants_own_start() {
            wants.push(Want::BeginEffect { tool_call: call.id.clone() });
        }
    }
}
