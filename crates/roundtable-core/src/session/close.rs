//! Closing what is open, children first: every scope that was opened is closed exactly once.

use super::{Draft, Session};
use crate::context_request::{About, ContextRequest, Priority};
use crate::event::{
    Body, ContextEvent, IterationEvent, IterationOutcome, MessageRef, RoundEvent, RoundOutcome,
    Seq, ToolCallEvent, TurnEvent, TurnOutcome,
};
use crate::id::{ContextRequestId, ToolCallId};
use crate::input::{Env, Unanswered};
use crate::iteration::Phase;
use crate::job::{Job, JobOutcome};
use crate::round::Round;
use crate::scope::Place;
use crate::tool::ToolOutcome;
use crate::tool_call::ToolCall;
use crate::turn::Turn;

impl Session {
    /// Cuts the open round off; what exists is kept. What is done beside it goes on.
    pub(crate) fn close_round(&self, env: &Env, drafts: &mut Vec<Draft>) {
        let Some(round) = &self.round else { return };
        let mut number = self.last_message;
        for seat in round.turns.iter().filter(|turn| turn.parent.is_none()) {
            // What was said before the cut is kept, as a message like any other: the running call's
            // text in the next event, else what the turn said before.
            let next = Seq(self.head.0 + drafts.len() as u64 + 1);
            let words = partial(seat, env).map(|_| next).or(seat.words);
            let public = round.stage_of(seat).is_some_and(|stage| stage.public);
            let words = words.filter(|_| public);
            self.close_inside(round, seat, IterationOutcome::Cancelled, env, drafts);
            number += u64::from(words.is_some());
            let said = words.map(|seq| MessageRef { number, seq });
            drafts.push((round.place().turn(&seat.id), ended(seat, said)));
        }
        if let Some(job) = &round.job {
            drafts.push((round.place(), unfinished(job, "it was interrupted")));
        }
        let cut = closed(RoundOutcome::Incomplete, None, round.notes.iter().cloned());
        drafts.push((round.place(), cut));
    }

    /// Ends a child turn with everything that is open in it.
    fn close_child(&self, round: &Round, turn: &Turn, env: &Env, drafts: &mut Vec<Draft>) {
        self.close_inside(round, turn, IterationOutcome::Cancelled, env, drafts);
        drafts.push((round.place().turn(&turn.id), ended(turn, None)));
    }

    /// Closes everything that is open in a turn, and leaves the turn itself.
    pub(crate) fn close_inside(
        &self,
        round: &Round,
        turn: &Turn,
        outcome: IterationOutcome,
        env: &Env,
        drafts: &mut Vec<Draft>,
    ) {
        let Some(iteration) = &turn.iteration else { return };
        let place = round.place().turn(&turn.id).iteration(&iteration.id);
        if let Phase::AwaitingModel { attempt, .. } = iteration.phase {
            let partial = partial(turn, env).cloned().unwrap_or_default();
            let charge = self.unanswered(turn, iteration, broken_off(&partial));
            let cancelled = IterationEvent::ModelCallCancelled { attempt, partial, charge };
            drafts.push((place.clone(), Body::Iteration(cancelled)));
        }
        for call in iteration.tool_calls().iter().filter(|call| call.is_open()) {
            self.close_call(round, turn, call, env, drafts);
        }
        drafts.push((place, Body::Iteration(IterationEvent::IterationClosed { outcome })));
    }

    /// Gives a tool call up. One that may have happened becomes a question.
    fn close_call(
        &self,
        round: &Round,
        turn: &Turn,
        call: &ToolCall,
        env: &Env,
        drafts: &mut Vec<Draft>,
    ) {
        self.close_children(round, call, env, drafts);
        if let Some(request) = call.awaited_request() {
            let withdrawn = ContextEvent::ContextWithdrawn { request: request.clone() };
            drafts.push((Place::session(), Body::Context(withdrawn)));
        }
        if call.may_have_happened() {
            self.doubt(turn, call, "it was interrupted", env, drafts);
        } else if let Some(place) = self.place_of_call(&call.id) {
            drafts.push((place, finished(ToolOutcome::Cancelled)));
        }
    }

    /// Ends the turns that a call still waits for.
    pub(crate) fn close_children(
        &self,
        round: &Round,
        call: &ToolCall,
        env: &Env,
        drafts: &mut Vec<Draft>,
    ) {
        for child in call.children.iter().filter(|child| child.outcome.is_none()) {
            if let Some(turn) = round.find_turn(&child.turn) {
                self.close_child(round, turn, env, drafts);
            }
        }
    }

    /// Ends an effectful call whose outcome nobody knows: it is not repeated and not guessed.
    pub(crate) fn doubt(
        &self,
        turn: &Turn,
        call: &ToolCall,
        why: &str,
        env: &Env,
        drafts: &mut Vec<Draft>,
    ) {
        let Some(place) = self.place_of_call(&call.id) else { return };
        let request = ContextRequestId::derive(call.id.as_str(), "outcome");
        let name = self.find_agent(&turn.agent).map_or(turn.agent.suffix(), |agent| &agent.name);
        let asked = ContextRequest {
            id: request.clone(),
            agent: turn.agent.clone(),
            query: format!("Did the call of {} ({}) take effect?", call.name, call.id),
            reason: format!(
                "The call started, and {why}. Do not repeat it without knowing its outcome."
            ),
            priority: Priority::Required,
            about: About::Outcome {
                tool_call: call.id.clone(),
                action: call.action.clone(),
                call: Some(Box::new(call.details(name))),
            },
            at: env.now,
        };
        drafts.push((place.clone(), Body::Context(ContextEvent::ContextRequested(asked))));
        drafts.push((place, finished(ToolOutcome::Unknown { request })));
    }

    /// Where a tool call of an open turn is.
    pub(crate) fn place_of_call(&self, id: &ToolCallId) -> Option<Place> {
        let (round, turn, _) = self.find_call(id)?;
        let iteration = turn.iteration.as_ref()?;
        Some(round.place().turn(&turn.id).iteration(&iteration.id).tool_call(id))
    }
}

/// What the running model call of a turn has said so far, if anything. A driver may still hold
/// the text of a call that is over: that one is recorded already.
fn partial<'a>(turn: &Turn, env: &'a Env) -> Option<&'a String> {
    let iteration = turn.iteration.as_ref()?;
    if !matches!(iteration.phase, Phase::AwaitingModel { .. }) {
        return None;
    }
    env.partials.get(&iteration.id).filter(|text| !text.is_empty())
}

/// A request that was cut off when this much of its answer had arrived.
pub(crate) fn broken_off(partial: &str) -> Unanswered {
    Unanswered::BrokenOff { arrived: partial.len() as u64 }
}

fn ended(turn: &Turn, said: Option<MessageRef>) -> Body {
    let outcome = turn.ending.clone().unwrap_or(TurnOutcome::Cancelled);
    Body::Turn(TurnEvent::TurnEnded { outcome, said })
}

/// A job that nobody waits for any longer.
pub(crate) fn unfinished(job: &Job, why: &str) -> Body {
    let outcome = JobOutcome::Failed { error: why.to_owned() };
    let (name, ordinal) = (job.name.clone(), job.ordinal);
    Body::Round(RoundEvent::JobFinished { name, ordinal, outcome, ends: None })
}

/// A round or an aside ends, with all that people should know of it.
pub(crate) fn closed(
    outcome: RoundOutcome,
    ends: Option<String>,
    notes: impl IntoIterator<Item = String>,
) -> Body {
    let notes: Vec<String> = notes.into_iter().collect();
    let note = (!notes.is_empty()).then(|| notes.join("; "));
    Body::Round(RoundEvent::RoundClosed { outcome, ends, note })
}

pub(crate) fn finished(outcome: ToolOutcome) -> Body {
    Body::ToolCall(ToolCallEvent::ToolCallFinished(outcome))
}
