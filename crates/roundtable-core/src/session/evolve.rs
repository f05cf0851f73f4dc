//! The fold: what an event makes of the state. Total and infallible; an event about something
//! that is not open changes nothing.

use serde_json::Value;

use super::{ANSWERED, AsideKey, Mark, Session, Status, Waiting};
use crate::budget::{Account, Spend};
use crate::context_request::{About, ContextRequest, Priority};
use crate::event::{
    Body, ContextEvent, Event, ImportedSession, IterationEvent, IterationOutcome, RoundEvent,
    RoundOutcome, SessionEvent, Task, ToolCallEvent, TurnEvent, TurnOutcome, legacy,
};
use crate::id::{RoundId, TurnId};
use crate::iteration::{Iteration, Phase};
use crate::job::Job;
use crate::round::{Round, RoundOpening};
use crate::scope::Place;
use crate::session::report::action_digest;
use crate::state;
use crate::tool::{Effect, Runs};
use crate::tool_call::{Child, Phase as CallPhase, ToolCall};
use crate::turn::Turn;

impl Session {
    /// Applies an event. Replaying a log gives the same state, always.
    pub fn evolve(&mut self, event: &Event) {
        self.head = event.seq;
        match &event.body {
            Body::Session(body) => self.evolve_session(body, event),
            Body::Round(body) => self.evolve_round(body, event),
            Body::Turn(body) => self.evolve_turn(body, event),
            Body::Iteration(body) => self.evolve_iteration(body, event),
            Body::ToolCall(body) => self.evolve_tool_call(body, event),
            Body::Context(body) => self.evolve_context(body, event),
            Body::Unknown { .. } => self.newer = true,
            Body::Redacted => {}
        }
    }

    fn evolve_session(&mut self, body: &SessionEvent, event: &Event) {
        match body {
            SessionEvent::SessionOpened(opening) => {
                self.opened = true;
                self.kind.clone_from(&opening.kind);
                self.topic.clone_from(&opening.topic);
                self.agents.clone_from(&opening.agents);
                self.settings = opening.settings.clone();
                self.actor.clone_from(&opening.actor);
                self.tenant.clone_from(&opening.tenant);
                self.account = Account::new(opening.settings.session_limits);
            }
            SessionEvent::SessionForked { agents, seats, .. } => {
                self.agents.clone_from(agents);
                self.settings.seats.clone_from(seats);
                self.status = Status::Active;
                self.archived = false;
                self.waiting.clear();
                self.redo = None;
                // What is under way beside the rounds is the origin's.
                self.asides.clear();
                self.account = Account::new(self.settings.session_limits);
                // A round that is run again here answers here, not in the conversation it is from.
                for mark in &mut self.marks {
                    mark.input = mark.input.moved_to(&self.id);
                }
            }
            SessionEvent::SessionInputAccepted(accepted) => {
                self.waiting.push_back(Waiting::of(accepted, event.seq));
                if let Some(limits) = accepted.limits {
                    self.settings.session_limits = limits;
                    self.account.limits = limits;
                }
            }
            SessionEvent::SessionInputEdited(accepted) => {
                let id = accepted.context.message_id();
                let mut waiting = self.waiting.iter_mut();
                if let Some(edited) = waiting.find(|it| it.context.message_id() == id) {
                    *edited = Waiting::of(accepted, event.seq);
                }
            }
            SessionEvent::SessionInputDropped { message_id, .. } => {
                self.waiting.retain(|waiting| waiting.context.message_id() != message_id);
            }
            SessionEvent::SessionPaused => self.status = Status::Paused,
            SessionEvent::SessionResumed => self.status = Status::Active,
            SessionEvent::SessionCompleted { .. } => self.status = Status::Completed,
            SessionEvent::SessionRoundSuperseded { number, take, redo } => {
                self.supersede(*number, *take, *redo)
            }
            SessionEvent::SessionTakeSelected { number, take } => self.select(*number, *take),
            SessionEvent::SessionImported(imported) => self.import(imported),
            SessionEvent::SessionChanged(change) => {
                self.title = change.title.clone().or(self.title.take());
                self.archived = change.archived.unwrap_or(self.archived);
            }
            SessionEvent::StateChanged { patch, note } => {
                self.change_state(&event.place, patch, note.as_ref());
            }
        }
    }

    /// A session that was held elsewhere. It has no agents here, so nobody needs their models.
    fn import(&mut self, imported: &ImportedSession) {
        self.opened = true;
        self.kind.clone_from(&imported.program);
        self.topic.clone_from(&imported.topic);
        self.settings.total_rounds = imported.total_rounds;
        self.settings.program.name.clone_from(&imported.program);
        self.status = Status::Completed;
        self.rounds_completed = imported.completed;
        self.completed_before = imported.completed;
        self.last_number = imported.last;
    }

    /// Changes the state of the program. The mark of the round in which that happens knows the way
    /// back; what an aside changes stays.
    fn change_state(&mut self, place: &Place, patch: &Value, note: Option<&String>) {
        let after = merged(&self.state, patch);
        let round = self.round.as_ref().filter(|round| place.round.as_ref() == Some(&round.id));
        if let Some(mark) = round.and(self.marks.back_mut()) {
            let before = merged(&self.state, &mark.patch);
            mark.patch = state::diff(&after, &before);
        }
        let before = std::mem::replace(&mut self.state, after);
        let scopes = self.round.iter_mut().chain(&mut self.asides);
        for turn in scopes.flat_map(|scope| &mut scope.turns) {
            turn.state.get_or_insert_with(|| before.clone());
        }
        if let Some(scope) = self.scope_at(place) {
            scope.notes.extend(note.cloned());
        }
    }

    fn supersede(&mut self, number: u32, take: u32, redo: bool) {
        let Some(index) = self.marks.iter().position(|mark| mark.is(number, take)) else { return };
        self.set_active(index, false);
        self.redo = redo.then(|| self.marks[index].clone());
        self.recount();
    }

    fn select(&mut self, number: u32, take: u32) {
        let of_number = |mark: &Mark| mark.number == number;
        let others: Vec<usize> = (0..self.marks.len())
            .filter(|index| of_number(&self.marks[*index]) && self.marks[*index].take != take)
            .collect();
        others.into_iter().for_each(|index| self.set_active(index, false));
        if let Some(index) = self.marks.iter().position(|mark| mark.is(number, take)) {
            self.set_active(index, true);
        }
        self.recount();
    }

    /// Lets a take count or not, and the state of the program with it.
    fn set_active(&mut self, index: usize, active: bool) {
        let Some(mark) = self.marks.get_mut(index).filter(|mark| mark.active != active) else {
            return;
        };
        mark.active = active;
        let other = merged(&self.state, &mark.patch);
        mark.patch = state::diff(&other, &self.state);
        self.state = other;
    }

    /// Counts from the rounds that count. Those that left the window can no longer change.
    fn recount(&mut self) {
        let first = self.marks.iter().map(|mark| mark.number).min().unwrap_or(1);
        let active = || self.marks.iter().filter(|mark| mark.active);
        self.last_number =
            active().map(|mark| mark.number).max().unwrap_or(first.saturating_sub(1));
        let completed = |mark: &&Mark| mark.outcome == Some(RoundOutcome::Completed);
        let within = u32::try_from(active().filter(completed).count()).unwrap_or(u32::MAX);
        self.rounds_completed = self.completed_before + within;
    }

    fn evolve_round(&mut self, body: &RoundEvent, event: &Event) {
        match body {
            RoundEvent::RoundOpened { number, take, stages, input, said, .. } => {
                let Some(id) = event.place.round.clone() else { return };
                let waited = self.take_waiting(input.message_id());
                let redone = self.redo.take();
                let again = redone.as_ref().map(|mark| mark.from);
                let from = [waited, again].into_iter().flatten().min().unwrap_or(event.seq);
                let answered = std::mem::take(&mut self.carried);
                // Rounds open when nothing required is pending. What still seems to be was
                // answered by an event whose body has been erased.
                self.requests.retain(|request| request.priority == Priority::Optional);
                self.marks.push_back(Mark {
                    number: *number,
                    take: *take,
                    active: true,
                    from: self.carried_from.take().map_or(from, |carried| carried.min(from)),
                    input: input.clone(),
                    said: *said,
                    // What a round was told is told again when it is run again.
                    answered: redone
                        .map(|mark| mark.answered)
                        .unwrap_or_default()
                        .into_iter()
                        .chain(answered)
                        .collect(),
                    outcome: None,
                    ends: None,
                    patch: state::empty(),
                });
                self.last_number = *number;
                self.last_message = self.last_message.max(said.map_or(0, |said| said.number));
                self.round = Some(Round::from(RoundOpening {
                    id,
                    number: *number,
                    take: *take,
                    input: input.clone(),
                    stages: legacy::stages(stages, &self.settings).into_owned(),
                    aside: None,
                    limits: self.settings.round_limits,
                    since: event.seq,
                    at: event.at,
                }));
            }
            RoundEvent::RoundAsideOpened { number, take, purpose, stages, input } => {
                let Some(id) = event.place.round.clone() else { return };
                self.asides_opened += 1;
                self.asides.push(Round::from(RoundOpening {
                    id,
                    number: *number,
                    take: *take,
                    input: input.clone(),
                    stages: stages.clone(),
                    aside: Some(AsideKey::new(purpose.clone(), *number, *take, stages)),
                    limits: self.settings.round_limits,
                    since: event.seq,
                    at: event.at,
                }));
            }
            RoundEvent::StagesAdded { stages, .. } => {
                if let Some(scope) = self.scope_at(&event.place) {
                    scope.stages.extend(stages.iter().cloned());
                }
            }
            RoundEvent::JobStarted { name, ordinal } => {
                let Some(scope) = self.scope_at(&event.place) else { return };
                scope.jobs = *ordinal;
                scope.job = Some(Job { name: name.clone(), ordinal: *ordinal });
            }
            RoundEvent::JobFinished { ordinal, ends, .. } => {
                let Some(scope) = self.scope_at(&event.place) else { return };
                scope.jobs = scope.jobs.max(*ordinal);
                scope.job.take_if(|job| job.ordinal == *ordinal);
                let in_round = scope.aside.is_none();
                if let Some(mark) = self.marks.back_mut().filter(|_| in_round && ends.is_some()) {
                    mark.ends.clone_from(ends);
                }
            }
            RoundEvent::RoundClosed { outcome, ends, .. } => {
                let Some(id) = &event.place.round else { return };
                self.close_scope(id, *outcome, ends.as_ref());
            }
        }
    }

    fn close_scope(&mut self, id: &RoundId, outcome: RoundOutcome, ends: Option<&String>) {
        let Some(_) = self.round.take_if(|round| round.id == *id) else {
            self.close_aside(id, outcome);
            self.trim();
            return self.settle_rest();
        };
        self.settle_rest();
        if let Some(mark) = self.marks.back_mut() {
            mark.outcome = Some(outcome);
            mark.ends = ends.cloned().or(mark.ends.take());
        }
        self.trim();
        self.recount();
    }

    /// Nothing runs while nothing is open. What is still set aside then was settled by an event
    /// whose body has been erased.
    fn settle_rest(&mut self) {
        if self.scopes().next().is_none() {
            self.account.settle_rest();
        }
    }

    fn take_waiting(&mut self, message_id: &str) -> Option<crate::event::Seq> {
        let index =
            self.waiting.iter().position(|waiting| waiting.context.message_id() == message_id)?;
        self.waiting.remove(index).map(|waiting| waiting.seq)
    }

    /// Lets go of the rounds that no prompt will draw on any more, all takes of a number together:
    /// after a rewind they do not stand side by side.
    fn trim(&mut self) {
        let left = self.left_behind(self.last_number, None);
        let gone = self.marks.iter().filter(|mark| mark.number <= left);
        let counts = |mark: &&Mark| mark.active && mark.outcome == Some(RoundOutcome::Completed);
        self.completed_before += u32::try_from(gone.filter(counts).count()).unwrap_or(u32::MAX);
        self.marks.retain(|mark| mark.number > left);
    }

    fn evolve_turn(&mut self, body: &TurnEvent, event: &Event) {
        let Some(id) = event.place.turn.as_ref() else { return };
        match body {
            TurnEvent::TurnStarted { agent, task } => {
                let limits = self.find_agent(agent).map(|agent| agent.limits).unwrap_or_default();
                let Some(round) = self.scope_at(&event.place) else { return };
                let parent = task.tool_call().cloned();
                let depth = parent
                    .as_ref()
                    .and_then(|call| round.find_call(call))
                    .map_or(0, |(turn, _)| turn.depth)
                    + 1;
                adopt(round, id, task);
                round.turns.push(Turn {
                    id: id.clone(),
                    agent: agent.clone(),
                    parent,
                    depth,
                    tools: match task {
                        Task::Nested { prompt, .. } => Some(prompt.tools.clone()),
                        Task::Seat { stage, .. } => {
                            let stage = round.stages.get(*stage as usize);
                            stage.and_then(|stage| stage.tools.chosen()).map(<[String]>::to_vec)
                        }
                        Task::Delegated { .. } => None,
                    },
                    stage: match task {
                        Task::Seat { stage, .. } => Some(*stage),
                        Task::Nested { .. } | Task::Delegated { .. } => None,
                    },
                    started_at: event.at,
                    account: Account::new(limits),
                    iterations: 0,
                    iteration: None,
                    words: None,
                    ending: None,
                    state: None,
                });
            }
            TurnEvent::TurnEnded { outcome, said } => {
                self.last_message = self.last_message.max(said.map_or(0, |said| said.number));
                let Some(round) = self.scope_at(&event.place) else { return };
                let Some(index) = round.turns.iter().position(|turn| turn.id == *id) else {
                    return;
                };
                let turn = round.turns.remove(index);
                match &turn.parent {
                    None => {
                        let answered = *outcome == TurnOutcome::Answered || said.is_some();
                        let counts = round.stage_of(&turn).is_some_and(|stage| stage.counts);
                        round.seat_done(answered && counts);
                        round.skip_judges();
                    }
                    Some(call) => orphan(round, call, id, outcome),
                }
            }
        }
    }

    fn evolve_iteration(&mut self, body: &IterationEvent, event: &Event) {
        match body {
            IterationEvent::IterationOpened { number } => {
                let Some(id) = event.place.iteration.clone() else { return };
                let Some(turn) = self.turn_at(&event.place) else { return };
                turn.iterations = *number;
                turn.iteration = Some(Iteration::open(id, *number));
            }
            IterationEvent::ModelCallStarted { attempt, reserved, .. } => {
                let Some(iteration) = self.iteration_at(&event.place) else { return };
                iteration.attempts = *attempt;
                iteration.phase = Phase::AwaitingModel {
                    attempt: *attempt,
                    reserved: *reserved,
                    since: event.seq,
                };
                self.each_account(&event.place, |account| account.reserve(*reserved));
            }
            IterationEvent::ModelCallInterrupted { .. } => self.settle(event, Phase::Pending),
            IterationEvent::ModelCallRetried { .. } => self.settle_retried(event),
            IterationEvent::ModelCallFinished { calls, text, .. } => {
                self.note_words(event, text, *calls == 0);
                let phase = if *calls > 0 { Phase::AwaitingTools(Vec::new()) } else { Phase::Over };
                self.settle(event, phase);
                if *calls == 0 {
                    self.end_turn_at(&event.place, TurnOutcome::Answered);
                }
            }
            IterationEvent::ModelCallFailed { error, .. } => {
                self.settle(event, Phase::Over);
                self.end_turn_at(&event.place, TurnOutcome::Failed { error: error.clone() });
            }
            IterationEvent::ModelCallCancelled { partial, .. } => {
                self.note_words(event, partial, false);
                self.settle(event, Phase::Over);
            }
            IterationEvent::IterationClosed { outcome } => {
                self.close_iteration(&event.place, *outcome)
            }
        }
    }

    fn close_iteration(&mut self, place: &Place, outcome: IterationOutcome) {
        let Some(turn) = self.turn_at(place) else { return };
        let number = turn.iterations;
        turn.iteration = None;
        let ending = match outcome {
            IterationOutcome::LimitReached => {
                TurnOutcome::Failed { error: format!("Max iterations ({number}) exceeded") }
            }
            IterationOutcome::Exhausted { budget } => TurnOutcome::Exhausted { budget },
            IterationOutcome::Answered
            | IterationOutcome::ToolsDone
            | IterationOutcome::Failed
            | IterationOutcome::Cancelled => return,
        };
        turn.ending = Some(ending);
    }

    /// Gives a model call's reservation back and books what it cost.
    fn settle(&mut self, event: &Event, next: Phase) {
        let Some(charge) = self.charge(event) else { return };
        let Some(iteration) = self.iteration_at(&event.place) else { return };
        let Phase::AwaitingModel { reserved, .. } = iteration.phase else { return };
        iteration.phase = next;
        self.each_account(&event.place, |account| account.settle(reserved, charge));
    }

    /// Books a request that failed. Its reservation is the next request's.
    fn settle_retried(&mut self, event: &Event) {
        let Some(charge) = self.charge(event) else { return };
        self.each_account(&event.place, |account| account.settle(Spend::default(), charge));
    }

    fn evolve_tool_call(&mut self, body: &ToolCallEvent, event: &Event) {
        let Some(id) = event.place.tool_call.clone() else { return };
        if let ToolCallEvent::ToolCallRequested { name, arguments, effect, .. } = body {
            let agent = self.turn_at(&event.place).map(|turn| turn.agent.clone());
            let agent = agent.and_then(|agent| self.find_agent(&agent));
            let runs = agent
                .and_then(|agent| agent.find_tool(name))
                .map_or(Runs::Handler, |decl| decl.runs);
            let Some(iteration) = self.iteration_at(&event.place) else { return };
            let Phase::AwaitingTools(calls) = &mut iteration.phase else { return };
            calls.push(open_call(id, name, arguments, *effect, runs));
            return;
        }
        let Some(turn) = self.turn_at(&event.place) else { return };
        let Some(call) = turn.find_call_mut(&id) else { return };
        match body {
            ToolCallEvent::ToolCallRequested { .. } => {}
            ToolCallEvent::ToolCallStarted { attempt } => {
                call.attempts = *attempt;
                call.phase = CallPhase::Started { attempt: *attempt, since: event.seq };
            }
            ToolCallEvent::ToolCallPublished { ordinal, .. } => call.published = *ordinal,
            ToolCallEvent::ToolCallInterrupted { .. } => call.phase = CallPhase::Ready,
            ToolCallEvent::ToolCallFinished(_) => call.phase = CallPhase::Finished,
        }
    }

    fn evolve_context(&mut self, body: &ContextEvent, event: &Event) {
        match body {
            ContextEvent::ContextRequested(request) => {
                let id = request.id.clone();
                match &request.about {
                    About::Approval { tool_call, .. } => {
                        self.set_call_phase(tool_call, CallPhase::AwaitingApproval(id));
                    }
                    About::Question { tool_call } => {
                        self.set_call_phase(tool_call, CallPhase::AwaitingAnswer(id));
                    }
                    About::Information | About::Outcome { .. } => {}
                }
                self.requests.push(request.clone());
            }
            ContextEvent::ContextProvided(result) => {
                let Some(index) = self.requests.iter().position(|r| r.id == result.request) else {
                    return;
                };
                let request = self.requests.remove(index);
                self.remember(&request.id);
                self.answer_digests.insert(request.id.clone(), result.digest());
                if let About::Approval { tool_call, .. } = &request.about {
                    if result.success {
                        self.set_call_phase(tool_call, CallPhase::Ready);
                    }
                    return;
                }
                // The answer is the result of the call that waits for it, and nothing else.
                if matches!(request.about, About::Question { .. }) {
                    return;
                }
                self.carried_from = self.carried_from.or(Some(event.seq));
                let about = request.about.without_call();
                self.carried.push(ContextRequest { about, ..request });
            }
            ContextEvent::ContextWithdrawn { request } => {
                self.requests.retain(|pending| pending.id != *request);
                self.remember(request);
            }
        }
    }

    fn remember(&mut self, request: &crate::id::ContextRequestId) {
        self.answered.push_back(request.clone());
        if self.answered.len() > ANSWERED
            && let Some(forgotten) = self.answered.pop_front()
        {
            self.answer_digests.remove(&forgotten);
        }
    }

    fn set_call_phase(&mut self, id: &crate::id::ToolCallId, phase: CallPhase) {
        let scopes = self.round.iter_mut().chain(&mut self.asides);
        let turns = scopes.flat_map(|scope| &mut scope.turns);
        if let Some(call) = turns.filter_map(|turn| turn.find_call_mut(id)).next() {
            call.phase = phase;
        }
    }

    fn turn_at(&mut self, place: &Place) -> Option<&mut Turn> {
        self.scope_at(place)?.find_turn_mut(place.turn.as_ref()?)
    }

    fn iteration_at(&mut self, place: &Place) -> Option<&mut Iteration> {
        let id = place.iteration.as_ref()?;
        self.turn_at(place)?.iteration.as_mut().filter(|iteration| iteration.id == *id)
    }

    fn end_turn_at(&mut self, place: &Place, outcome: TurnOutcome) {
        if let Some(turn) = self.turn_at(place) {
            turn.ending = Some(outcome);
        }
    }

    /// Notes where a turn's last words are. An empty answer counts where nothing was said before.
    fn note_words(&mut self, event: &Event, text: &str, answers: bool) {
        let Some(turn) = self.turn_at(&event.place) else { return };
        if !text.is_empty() || (answers && turn.words.is_none()) {
            turn.words = Some(event.seq);
        }
    }

    /// The accounts that a call at this place draws on: its turn's, those of the turns that wait
    /// for it, the round's and the session's.
    fn each_account(&mut self, place: &Place, change: impl Fn(&mut Account)) {
        change(&mut self.account);
        let Some(turn) = &place.turn else { return };
        let Some(round) = self.scope_at(place) else { return };
        change(&mut round.account);
        for id in round.line_of(turn) {
            if let Some(turn) = round.find_turn_mut(&id) {
                change(&mut turn.account);
            }
        }
    }
}

fn merged(state: &Value, patch: &Value) -> Value {
    let mut state = state.clone();
    state::merge(&mut state, patch);
    state
}

/// A turn began: its seat is taken, or the tool call that waits for it knows it.
fn adopt(round: &mut Round, id: &TurnId, task: &Task) {
    let (tool_call, ordinal, digest) = match task {
        Task::Seat { .. } => {
            round.begun += 1;
            return;
        }
        Task::Delegated { tool_call, .. } => (tool_call, 0, None),
        Task::Nested { tool_call, ordinal, prompt } => (tool_call, *ordinal, Some(prompt.digest())),
    };
    let mut turns = round.turns.iter_mut();
    if let Some(call) = turns.find_map(|turn| turn.find_call_mut(tool_call)) {
        call.children.push(Child { ordinal, turn: id.clone(), digest, outcome: None });
    }
}

/// A child turn ended: the tool call that waits for it knows how.
fn orphan(round: &mut Round, call: &crate::id::ToolCallId, id: &TurnId, outcome: &TurnOutcome) {
    let mut turns = round.turns.iter_mut();
    let Some(call) = turns.find_map(|turn| turn.find_call_mut(call)) else { return };
    if let Some(child) = call.children.iter_mut().find(|child| child.turn == *id) {
        child.outcome = Some(outcome.clone());
    }
}

fn open_call(
    id: crate::id::ToolCallId,
    name: &str,
    arguments: &serde_json::Value,
    effect: Effect,
    runs: Runs,
) -> ToolCall {
    ToolCall {
        id,
        name: name.to_owned(),
        action: action_digest(name, arguments),
        arguments: (effect == Effect::Effectful).then(|| arguments.clone()),
        effect,
        runs,
        phase: CallPhase::Ready,
        attempts: 0,
        published: 0,
        children: Vec::new(),
    }
}
