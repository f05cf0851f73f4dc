//! Time passed, or another process wrote this session before.

use crate::budget::Exhausted;
use crate::event::{Body, IterationEvent, IterationOutcome, ToolCallEvent};
use crate::id::TurnId;
use crate::input::Env;
use crate::iteration::Phase;
use crate::round::Round;
use crate::session::close::{broken_off, unfinished};
use crate::session::{Draft, Session};
use crate::tool_call::Phase as CallPhase;
use crate::turn::Turn;

impl Session {
    /// Ends the turns and jobs whose time is over; a turn takes its children with it.
    pub(crate) fn woke(&self, env: &Env) -> Vec<Draft> {
        let mut drafts = Vec::new();
        for scope in self.scopes() {
            self.end_late(scope, env, &mut drafts);
        }
        drafts
    }

    fn end_late(&self, round: &Round, env: &Env, drafts: &mut Vec<Draft>) {
        let over = |at: Option<jiff::Timestamp>| at.is_some_and(|at| at <= env.now);
        let late = |turn: &&Turn| over(round.deadline()) || over(turn.deadline());
        let mut ended: Vec<&TurnId> = Vec::new();
        for turn in round.turns.iter().filter(late) {
            let ancestors = round.line_of(&turn.id);
            if ancestors.iter().any(|id| ended.contains(&id)) {
                continue;
            }
            ended.push(&turn.id);
            let outcome = IterationOutcome::Exhausted { budget: Exhausted::Time };
            self.close_inside(round, turn, outcome, env, drafts);
        }
        if let Some(job) = round.job.as_ref().filter(|_| over(round.deadline())) {
            drafts.push((round.place(), unfinished(job, "its round timed out")));
        }
    }

    /// Settles what the earlier writer had started and not finished. A model call is made again,
    /// and the first one declared; a harmless tool is run again under its key; an effectful one
    /// becomes a question.
    pub(crate) fn writer_changed(&self, env: &Env) -> Vec<Draft> {
        let mut drafts = Vec::new();
        let turns =
            self.scopes().flat_map(|scope| scope.turns.iter().map(move |turn| (scope, turn)));
        for (round, turn) in turns.filter(|(round, turn)| !under_doubt(round, turn)) {
            let Some(iteration) = &turn.iteration else { continue };
            // What waits for the model of whoever calls was not running, so nothing was cut off.
            if let Phase::AwaitingModel { attempt, .. } = iteration.phase
                && !self.waits_for_host(turn)
            {
                let place = round.place().turn(&turn.id).iteration(&iteration.id);
                let partial = env.partials.get(&iteration.id).cloned().unwrap_or_default();
                let charge = self.unanswered(turn, iteration, broken_off(&partial));
                let interrupted = IterationEvent::ModelCallInterrupted {
                    attempt,
                    partial,
                    possible_duplicate: true,
                    charge,
                };
                drafts.push((place, Body::Iteration(interrupted)));
            }
            for call in iteration.tool_calls() {
                let CallPhase::Started { attempt, .. } = call.phase else { continue };
                if call.may_have_happened() {
                    self.close_children(round, call, env, &mut drafts);
                    self.doubt(turn, call, "the process that ran it ended", env, &mut drafts);
                } else if let Some(place) = self.place_of_call(&call.id) {
                    let interrupted = ToolCallEvent::ToolCallInterrupted { attempt };
                    drafts.push((place, Body::ToolCall(interrupted)));
                }
            }
        }
        drafts
    }
}

/// Whether a turn works for an effectful call that is now in doubt: it ends with that call.
fn under_doubt(round: &Round, turn: &Turn) -> bool {
    let calls =
        round.line_of(&turn.id).into_iter().filter_map(|id| round.find_turn(&id)?.parent.clone());
    calls.filter_map(|id| round.find_call(&id)).any(|(_, call)| call.may_have_happened())
}
