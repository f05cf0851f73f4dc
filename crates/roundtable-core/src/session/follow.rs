//! What follows: the next event that the state makes due by itself, until nothing is.
//!
//! An input is decided in a few lines because the rest follows from the state: closed tool calls
//! close their iteration, a closed iteration opens the next one or ends the turn, an ended turn
//! begins the next seat or closes the round, a closed round opens the next. The same rules go on
//! where a crash left off.

use super::command::superseded;
use super::stages::Opens;
use super::{Draft, Session, Status, Waiting};
use crate::budget::{Exhausted, Fit, Spend};
use crate::event::{
    AcceptedInput, Body, IterationEvent, IterationOutcome, MessageRef, PromptRecord, RoundOutcome,
    SessionEvent, ToolCallEvent, TurnEvent, TurnOutcome,
};
use crate::id::{IterationId, TurnId};
use crate::input::Env;
use crate::iteration::{Iteration, Phase};
use crate::live::Starts;
use crate::message_context::MessageContext;
use crate::program::AnyProgram;
use crate::round::Round;
use crate::scope::Place;
use crate::session::close::finished;
use crate::session::wants::is_awaited;
use crate::turn::{Turn, exceeded};
use crate::window::Window;

/// What a model call would be made with.
pub(crate) struct PreparedPrompt {
    pub prompt: PromptRecord,
    pub bytes: u64,
}

/// Makes the prompt of an open turn.
pub(crate) type Prepare<'a> = &'a dyn Fn(&TurnId) -> Option<PreparedPrompt>;

/// What decisions draw on besides the state.
pub(crate) struct With<'a> {
    pub window: &'a Window,
    pub program: &'a dyn AnyProgram,
    pub prepare: Prepare<'a>,
    pub starts: Starts,
}

impl Session {
    /// The next events that are due, decided together; none when nothing is.
    pub(crate) fn follow(&self, with: &With<'_>, env: &Env) -> Vec<Draft> {
        if !self.opened || self.newer {
            return Vec::new();
        }
        for scope in self.scopes_at_work() {
            let due = self.follow_scope(scope, with, env);
            if !due.is_empty() {
                return due;
            }
        }
        if self.round.is_some() { Vec::new() } else { self.follow_session(with) }
    }

    fn follow_scope(&self, scope: &Round, with: &With<'_>, env: &Env) -> Vec<Draft> {
        // A draining engine starts nothing, except for handlers that run: those have to end first.
        let prepare = |turn: &Turn| {
            (with.starts == Starts::Allowed || is_awaited(scope, turn)).then_some(with.prepare)
        };
        let due = |turn: &Turn| self.follow_turn(scope, turn, prepare(turn), env);
        match scope.turns.iter().find_map(due) {
            Some(draft) => vec![draft],
            None => self.follow_stages(scope, with),
        }
    }

    /// Between rounds: the next one opens, or the session is over.
    fn follow_session(&self, with: &With<'_>) -> Vec<Draft> {
        if self.status != Status::Active || self.required().next().is_some() {
            return Vec::new();
        }
        if let Some(reason) = self.is_over_because() {
            let completed = SessionEvent::SessionCompleted { reason };
            let mut drafts: Vec<Draft> = self.drop_waiting().collect();
            drafts.push((Place::session(), Body::Session(completed)));
            return drafts;
        }
        if let Some(failed) = self.failed_round().filter(|_| self.redo.is_none()) {
            // It is run again when someone asks for a round, not by itself.
            let again = self.waiting.front().map(|_| superseded(failed.number, failed.take, true));
            return again.into_iter().collect();
        }
        let number = self.last_number + 1;
        let take = self.next_take(number);
        let message = |next: &Waiting| MessageRef { number: self.last_message + 1, seq: next.seq };
        let (input, said) = match (&self.redo, self.waiting.front()) {
            // A round that failed is run again for the next input, and answers the message that it
            // failed to answer unless there is another one.
            (Some(mark), Some(next)) => {
                let said = if next.has_text { Some(message(next)) } else { mark.said };
                (next.context.clone(), said)
            }
            (Some(mark), None) => (mark.input.clone(), mark.said),
            (None, Some(next)) => (next.context.clone(), next.has_text.then_some(message(next))),
            (None, None) => return self.go_on(number, take).into_iter().collect(),
        };
        self.open_round(Opens { number, take, input, said }, with)
    }

    /// Why no more rounds will open, if that is so. A round in which nobody could answer does not
    /// count, so it is never the last.
    fn is_over_because(&self) -> Option<String> {
        if let Some(ends) = self.ends() {
            return Some(ends.to_owned());
        }
        let total = self.settings.total_rounds?;
        if self.redo.is_some() || self.failed_round().is_some() || self.last_number < total {
            return None;
        }
        let last = self.marks.iter().filter(|mark| mark.active).max_by_key(|mark| mark.number);
        let outcome = last.and_then(|mark| mark.outcome);
        let reason = match outcome {
            Some(RoundOutcome::Incomplete) => "the last round was stopped",
            Some(RoundOutcome::Completed | RoundOutcome::Failed) | None => "all rounds are done",
        };
        Some(reason.to_owned())
    }

    /// Why the session ends here, if its last round says so. A message that waits goes first.
    fn ends(&self) -> Option<&str> {
        if self.redo.is_some() || !self.waiting.is_empty() {
            return None;
        }
        let active = self.marks.iter().filter(|mark| mark.active);
        active.max_by_key(|mark| mark.number)?.ends.as_deref()
    }

    /// Goes on by itself, where the session is set so and the last round was completed.
    fn go_on(&self, number: u32, take: u32) -> Option<Draft> {
        let last = self.marks.iter().filter(|mark| mark.active).max_by_key(|mark| mark.number)?;
        let completed = last.outcome == Some(RoundOutcome::Completed);
        if !(self.settings.auto_continue && completed && self.settings.total_rounds.is_some()) {
            return None;
        }
        let context = MessageContext::new(&format!("auto_{number}_{take}"), &self.id, None).ok()?;
        let accepted = AcceptedInput {
            context,
            sender: "Roundtable".to_owned(),
            text: None,
            images: Vec::new(),
            files: Vec::new(),
            limits: None,
            to: None,
        };
        let accepted = SessionEvent::SessionInputAccepted(accepted);
        Some((Place::session(), Body::Session(accepted)))
    }

    fn follow_turn(
        &self,
        round: &Round,
        turn: &Turn,
        prepare: Option<Prepare<'_>>,
        env: &Env,
    ) -> Option<Draft> {
        let place = round.place().turn(&turn.id);
        let Some(iteration) = &turn.iteration else {
            return Some(self.follow_between(round, turn));
        };
        let place = place.iteration(&iteration.id);
        match &iteration.phase {
            Phase::Pending => self.follow_pending(round, turn, iteration, prepare, env),
            Phase::AwaitingModel { .. } => None,
            Phase::Over => Some((place, closed(over_outcome(turn)))),
            Phase::AwaitingTools(calls) => {
                if iteration.tools_done() {
                    let agent = self.find_agent(&turn.agent);
                    let limit = agent.map_or(1, |agent| agent.max_iterations.max(1));
                    let outcome = if exceeded(iteration.number, limit) {
                        IterationOutcome::LimitReached
                    } else {
                        IterationOutcome::ToolsDone
                    };
                    return Some((place, closed(outcome)));
                }
                let delegated =
                    calls.iter().find_map(|call| Some((call, call.delegate_outcome()?)));
                if let Some((call, outcome)) = delegated {
                    return Some((place.tool_call(&call.id), finished(outcome)));
                }
                let ready = calls
                    .iter()
                    .find(|call| call.starts_with_its_cause())
                    .filter(|_| prepare.is_some())?;
                let started = ToolCallEvent::ToolCallStarted { attempt: ready.attempts + 1 };
                Some((place.tool_call(&ready.id), Body::ToolCall(started)))
            }
        }
    }

    /// Between iterations: the next one opens, or the turn is over.
    fn follow_between(&self, round: &Round, turn: &Turn) -> Draft {
        let place = round.place().turn(&turn.id);
        let Some(outcome) = turn.ending.clone() else {
            let number = turn.iterations + 1;
            let id = IterationId::derive(turn.id.as_str(), number);
            return (
                place.iteration(&id),
                Body::Iteration(IterationEvent::IterationOpened { number }),
            );
        };
        // A partial answer is worth a message too; what a child says belongs to its parent.
        let words = match outcome {
            TurnOutcome::Answered | TurnOutcome::Exhausted { .. } => turn.words,
            TurnOutcome::Failed { .. } | TurnOutcome::Cancelled => None,
        };
        let said = words.filter(|_| round.stage_of(turn).is_some_and(|stage| stage.public));
        let said = said.map(|seq| MessageRef { number: self.last_message + 1, seq });
        (place, Body::Turn(TurnEvent::TurnEnded { outcome, said }))
    }

    /// A model call starts when every budget that it draws on has room for the most it can cost.
    fn follow_pending(
        &self,
        round: &Round,
        turn: &Turn,
        iteration: &Iteration,
        prepare: Option<Prepare<'_>>,
        env: &Env,
    ) -> Option<Draft> {
        let place = round.place().turn(&turn.id).iteration(&iteration.id);
        if self.time_is_over(round, turn, env) {
            return Some((place, closed(IterationOutcome::Exhausted { budget: Exhausted::Time })));
        }
        let prepared = prepare?(&turn.id)?;
        let agent = self.find_agent(&turn.agent)?;
        let reserved = Spend::most(prepared.bytes, agent.max_tokens, agent.price);
        match self.fit(round, turn, reserved) {
            Fit::Later(_) => None,
            Fit::No(budget) => Some((place, closed(IterationOutcome::Exhausted { budget }))),
            Fit::Yes => {
                let attempt = iteration.attempts + 1;
                let started =
                    IterationEvent::ModelCallStarted { attempt, reserved, prompt: prepared.prompt };
                Some((place, Body::Iteration(started)))
            }
        }
    }

    /// Whether an amount fits the turn, those that wait for it, the round and the session.
    pub(crate) fn fit(&self, round: &Round, turn: &Turn, amount: Spend) -> Fit {
        let line = round.line_of(&turn.id);
        let turns = line.iter().filter_map(|id| round.find_turn(id)).map(|turn| turn.account);
        let mut worst = Fit::Yes;
        for account in turns.chain([round.account, self.account]) {
            match account.fit(amount) {
                Fit::Yes => {}
                Fit::Later(budget) => worst = Fit::Later(budget),
                Fit::No(budget) => return Fit::No(budget),
            }
        }
        match worst {
            Fit::Later(budget) if !self.may_give_back() => Fit::No(budget),
            worst => worst,
        }
    }

    /// Whether a call is under way that may cost less than it could. A turn that waits for the model
    /// of whoever calls may wait for ever, so nobody waits for what it gives back.
    fn may_give_back(&self) -> bool {
        let runs = |turn: &Turn| turn.awaits_model() && !self.waits_for_host(turn);
        self.scopes().flat_map(|scope| &scope.turns).any(runs)
    }

    fn time_is_over(&self, round: &Round, turn: &Turn, env: &Env) -> bool {
        let line = round.line_of(&turn.id);
        let turns = line.iter().filter_map(|id| round.find_turn(id)).map(Turn::deadline);
        turns.chain([round.deadline()]).flatten().any(|deadline| deadline <= env.now)
    }
}

/// How an iteration ends whose model call is over and which asked for no tools.
fn over_outcome(turn: &Turn) -> IterationOutcome {
    match &turn.ending {
        Some(TurnOutcome::Answered) => IterationOutcome::Answered,
        Some(TurnOutcome::Exhausted { budget }) => IterationOutcome::Exhausted { budget: *budget },
        Some(TurnOutcome::Failed { .. }) => IterationOutcome::Failed,
        Some(TurnOutcome::Cancelled) | None => IterationOutcome::Cancelled,
    }
}

fn closed(outcome: IterationOutcome) -> Body {
    Body::Iteration(IterationEvent::IterationClosed { outcome })
}
