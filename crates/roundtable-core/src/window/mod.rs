//! The part of the transcript that prompts draw on: a fold of the log, bounded, never stored.
//!
//! The session's state says what is going on; the window knows what was said. It can be rebuilt
//! from [`Session::window_from`] at any time.

mod missions;
mod received;
mod render;
mod round;
mod turn;

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use jiff::Timestamp;
use serde_json::Value;

use crate::audience::Viewer;
use crate::event::{
    AcceptedInput, Body, ContextEvent, Event, IterationEvent, IterationOutcome, RoundEvent,
    SessionEvent, Task, ToolCallEvent, TurnEvent, TurnOutcome, legacy,
};
use crate::id::{RoundId, ToolCallId, TurnId};
use crate::message::{ToolAnswer, ToolRequest};
use crate::message_context::MessageContext;
use crate::program::AnyProgram;
use crate::session::Session;
use crate::stage::{Seat, Stage};
use crate::tool::ToolOutcome;
pub use received::ReceivedMessage;
use render::Begins;
pub use round::{JobRecord, MissionRecord, ProvidedResult, RoundRecord, StageRecord, Utterance};
pub use turn::{ChildRecord, TurnRecord};
use turn::{PendingReply, booked};

/// How much of a log is kept.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Keep {
    /// What prompts can draw on.
    #[default]
    Window,
    /// Everything, and what only readers of a whole log know.
    All,
}

/// What only readers of a whole log know.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Chronicle {
    /// When the first and the last event happened.
    pub times: Option<(Timestamp, Timestamp)>,
    /// Why the session is over, if it is.
    pub ended_because: Option<String>,
    /// The record that the session was imported with.
    pub imported: Option<Value>,
    /// The asides that are over.
    asides: Vec<RoundRecord>,
}

/// The window.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Window {
    /// Shared with those who read: a copy of the window costs little.
    rounds: VecDeque<Arc<RoundRecord>>,
    waiting: BTreeMap<String, AcceptedInput>,
    /// The round and take whose message the next round answers again.
    redo: Option<(u32, u32)>,
    provided: Vec<ProvidedResult>,
    /// Boxed: an empty map keeps its first node, which has room for eleven values.
    turns: BTreeMap<TurnId, Box<TurnRecord>>,
    children: BTreeMap<TurnId, (RoundId, ToolCallId, ChildRecord)>,
    /// The open asides.
    asides: BTreeMap<RoundId, Box<RoundRecord>>,
    /// Where everything is kept.
    chronicle: Option<Chronicle>,
}

impl Window {
    pub(crate) fn new(keep: Keep) -> Self {
        let chronicle = (keep == Keep::All).then(Chronicle::default);
        Self { chronicle, ..Self::default() }
    }

    /// What only readers of a whole log know, where everything is kept.
    pub fn chronicle(&self) -> Option<&Chronicle> {
        self.chronicle.as_ref()
    }

    /// The rounds that are kept, all takes, in the order in which they opened.
    pub fn rounds(&self) -> impl DoubleEndedIterator<Item = &RoundRecord> {
        self.rounds.iter().map(Arc::as_ref)
    }

    /// The open asides, and those that are over where everything is kept, in the order in which
    /// they opened.
    pub fn asides(&self) -> Vec<&RoundRecord> {
        let over = self.chronicle.iter().flat_map(|chronicle| &chronicle.asides);
        let mut asides: Vec<_> = over.chain(self.asides.values().map(Box::as_ref)).collect();
        asides.sort_by_key(|aside| aside.from);
        asides
    }

    /// The turns of the seats of a round or an aside, open ones included, in the order in which they
    /// began.
    pub fn turns_of<'a>(&'a self, round: &'a RoundRecord) -> Vec<&'a Utterance> {
        let open = self.turns.values().filter(|turn| turn.round == round.id);
        let open = open.filter(|turn| turn.parent.is_none()).map(|turn| &turn.utterance);
        let mut turns: Vec<_> = round.turns.iter().chain(open).collect();
        turns.sort_by_key(|turn| turn.since);
        turns
    }

    /// The record of an open turn.
    pub fn find_turn(&self, id: &TurnId) -> Option<&TurnRecord> {
        self.turns.get(id).map(Box::as_ref)
    }

    /// What an ended child turn came to, while its tool call is open.
    pub fn find_child(&self, id: &TurnId) -> Option<&ChildRecord> {
        self.children.get(id).map(|(.., child)| child)
    }

    /// An input that waits for its round.
    pub(crate) fn find_waiting(&self, message_id: &str) -> Option<&AcceptedInput> {
        self.waiting.get(message_id)
    }

    /// The arguments of an open tool call.
    pub fn find_call(&self, turn: &TurnId, id: &ToolCallId) -> Option<&ToolRequest> {
        let calls = self.turns.get(turn)?.context.iterations().last()?.tool_calls.iter();
        calls.map(|call| &call.request).find(|request| request.id == *id)
    }

    /// The open round or aside with this id, or a round that a prompt can draw on.
    pub(crate) fn find_round(&self, id: &RoundId) -> Option<&RoundRecord> {
        self.asides
            .get(id)
            .map(Box::as_ref)
            .or_else(|| self.rounds().rev().find(|round| round.id == *id))
    }

    /// The round that a turn in this round or aside is about: the round itself, or the one that the
    /// aside names.
    pub(crate) fn about(&self, id: &RoundId) -> Option<&RoundRecord> {
        let Some(aside) = self.asides.get(id) else { return self.find_round(id) };
        let own = |round: &&RoundRecord| (round.number, round.take) == (aside.number, aside.take);
        self.rounds().rev().find(own)
    }

    /// The rounds that count and were over when this round or aside was opened; without either, all
    /// that are over. Oldest first: a take that was chosen again may
    /// have been run after the rounds that follow it.
    pub(crate) fn earlier(&self, session: &Session, id: Option<&RoundId>) -> Vec<&RoundRecord> {
        let covers = id.and_then(|id| self.find_round(id)).map_or(u32::MAX, |round| round.covers);
        let open = session.round.as_ref().map(|round| &round.id);
        // Rounds that have left the window have no mark, though readers of a whole log keep them.
        let Some(first) = session.marks.iter().map(|mark| mark.number).min() else {
            return Vec::new();
        };
        let counts = |round: &&RoundRecord| {
            let is_known = (first..=covers).contains(&round.number);
            round.active && is_known && Some(&round.id) != open
        };
        let mut earlier: Vec<&RoundRecord> = self.rounds().filter(counts).collect();
        earlier.sort_by_key(|round| round.number);
        earlier
    }

    /// The input that a round which is about to open answers.
    pub(crate) fn input_of(
        &self,
        input: &MessageContext,
        again: Option<(u32, u32)>,
    ) -> Option<&AcceptedInput> {
        let waited = self.waiting.get(input.message_id());
        let Some(redone) = self.find_take(again) else { return waited };
        waited.filter(|waited| waited.text.is_some()).or(redone.input.as_ref())
    }

    fn find_take(&self, wanted: Option<(u32, u32)>) -> Option<&RoundRecord> {
        self.rounds().find(|round| Some((round.number, round.take)) == wanted)
    }

    fn record_at(&mut self, id: Option<&RoundId>) -> Option<&mut RoundRecord> {
        let id = id?;
        let mut rounds = self.rounds.iter_mut().rev();
        let round = || rounds.find(|round| round.id == *id).map(Arc::make_mut);
        self.asides.get_mut(id).map(Box::as_mut).or_else(round)
    }

    /// Applies an event, before the session does.
    pub(crate) fn evolve(&mut self, event: &Event, session: &Session, program: &dyn AnyProgram) {
        if let Some(chronicle) = &mut self.chronicle {
            let began = chronicle.times.map_or(event.at, |(began, _)| began);
            chronicle.times = Some((began, event.at));
        }
        match &event.body {
            Body::Session(body) => self.evolve_session(body),
            Body::Unknown { .. } | Body::Redacted => {}
            Body::Round(body) => self.evolve_round(body, event, session),
            Body::Turn(body) => self.evolve_turn(body, event, session, program),
            Body::Iteration(body) => self.evolve_iteration(body, event),
            Body::ToolCall(body) => self.evolve_tool_call(body, event),
            Body::Context(body) => self.evolve_context(body, event, session),
        }
    }

    fn evolve_session(&mut self, body: &SessionEvent) {
        match body {
            SessionEvent::SessionInputAccepted(accepted)
            | SessionEvent::SessionInputEdited(accepted) => {
                self.waiting.insert(accepted.context.message_id().to_owned(), accepted.clone());
            }
            SessionEvent::SessionInputDropped { message_id, .. } => {
                self.waiting.remove(message_id);
            }
            SessionEvent::SessionForked { .. } => {
                self.waiting.clear();
                let asides = std::mem::take(&mut self.asides);
                self.turns.retain(|_, turn| !asides.contains_key(&turn.round));
                self.note(|chronicle| chronicle.ended_because = None);
            }
            SessionEvent::SessionRoundSuperseded { number, take, redo } => {
                self.redo = redo.then_some((*number, *take));
                for round in self.rounds.iter_mut().filter(|round| round.is(*number, *take)) {
                    Arc::make_mut(round).active = false;
                }
            }
            SessionEvent::SessionTakeSelected { number, take } => {
                for round in self.rounds.iter_mut().filter(|round| round.number == *number) {
                    Arc::make_mut(round).active = round.take == *take;
                }
            }
            SessionEvent::SessionCompleted { reason } => {
                self.note(|chronicle| chronicle.ended_because = Some(reason.clone()));
            }
            SessionEvent::SessionImported(imported) => {
                self.note(|chronicle| chronicle.imported = Some(imported.data.clone()));
            }
            SessionEvent::SessionOpened(_)
            | SessionEvent::SessionPaused
            | SessionEvent::SessionResumed
            | SessionEvent::SessionChanged(_)
            | SessionEvent::StateChanged { .. } => {}
        }
    }

    fn note(&mut self, change: impl FnOnce(&mut Chronicle)) {
        if let Some(chronicle) = &mut self.chronicle {
            change(chronicle);
        }
    }

    fn evolve_round(&mut self, body: &RoundEvent, event: &Event, session: &Session) {
        let Some(id) = event.place.round.as_ref() else { return };
        let when = (event.seq, event.at);
        match body {
            RoundEvent::RoundOpened { number, take, input, stages, said, audience } => {
                let again = self.redo.take();
                let asked = self.input_of(input, again).cloned();
                let redone = self.find_take(again);
                let mut provided = redone.map(|round| round.provided.clone()).unwrap_or_default();
                provided.append(&mut self.provided);
                self.waiting.remove(input.message_id());
                let stages = legacy::stages(stages, &session.settings).into_owned();
                let take = (*number, *take);
                let mut opened = RoundRecord {
                    input: asked,
                    said: *said,
                    provided,
                    present: audience.clone(),
                    ..RoundRecord::opened(id.clone(), take, input.clone(), when)
                };
                opened.add(stages, None);
                self.rounds.push_back(Arc::new(opened));
            }
            RoundEvent::RoundAsideOpened { number, take, stages, input, .. } => {
                let take = (*number, *take);
                let mut opened = RoundRecord::opened(id.clone(), take, input.clone(), when);
                opened.add(stages.iter().cloned(), None);
                let last = self.rounds.back();
                let covers = last.map_or(0, |last| last.number - u32::from(last.outcome.is_none()));
                self.asides.insert(id.clone(), Box::new(RoundRecord { covers, ..opened }));
            }
            RoundEvent::StagesAdded { stages, audience } => {
                if let Some(record) = self.record_at(Some(id)) {
                    record.add(stages.iter().cloned(), audience.as_ref());
                }
            }
            RoundEvent::JobStarted { .. } => {}
            RoundEvent::JobFinished { name, ordinal, outcome, ends } => {
                let Some(record) = self.record_at(Some(id)) else { return };
                record.ends = ends.clone().or(record.ends.take());
                let (name, outcome) = (name.clone(), outcome.clone());
                let after = record.stages.len();
                record.jobs.push(JobRecord { name, ordinal: *ordinal, outcome, after });
            }
            RoundEvent::RoundClosed { outcome, ends, .. } => {
                if let Some(record) = self.record_at(Some(id)) {
                    record.outcome = Some(*outcome);
                    record.closed_at = Some(event.at);
                    record.ends = ends.clone().or(record.ends.take());
                }
                self.turns.retain(|_, turn| turn.round != *id);
                self.children.retain(|_, (round, ..)| round != id);
                self.let_go(id, session);
            }
        }
    }

    /// Lets go of what no prompt will draw on any more when a round or an aside is over.
    fn let_go(&mut self, closed: &RoundId, session: &Session) {
        let aside = self.asides.remove(closed);
        if let Some(chronicle) = &mut self.chronicle {
            chronicle.asides.extend(aside.map(|aside| *aside));
            return;
        }
        let last = self.rounds.back().map_or(0, |round| round.number);
        let left = session.left_behind(last, Some(closed));
        self.rounds.retain(|round| round.number > left);
    }

    fn evolve_turn(
        &mut self,
        body: &TurnEvent,
        event: &Event,
        session: &Session,
        program: &dyn AnyProgram,
    ) {
        let (Some(id), Some(round)) = (event.place.turn.as_ref(), event.place.round.as_ref())
        else {
            return;
        };
        match body {
            TurnEvent::TurnStarted { agent, task } => {
                if let (Task::Seat { stage, .. }, Some(record)) =
                    (task, self.record_at(Some(round)))
                    && let Some(stage) = record.stages.get_mut(*stage as usize)
                {
                    stage.began.get_or_insert(event.seq);
                }
                let (since, at) = (event.seq, event.at);
                let begins = Begins { round, turn: id, agent, task, since, at };
                if let Some(record) = self.begin(&begins, session, program) {
                    let parent = task.tool_call().and_then(|call| self.caller_of(call));
                    self.turns.insert(id.clone(), Box::new(TurnRecord { parent, ..record }));
                }
            }
            TurnEvent::TurnEnded { outcome, said } => {
                let Some(record) = self.turns.remove(id).map(|record| *record) else { return };
                match &record.task {
                    Task::Seat { .. } => {
                        let public = self.seat_of(&record).is_none_or(|(stage, _)| stage.public);
                        let judged = !public && *outcome == TurnOutcome::Answered;
                        let spoken = Utterance {
                            outcome: Some(outcome.clone()),
                            ended: Some(event.seq),
                            said: *said,
                            audience: self.find_round(round).and_then(|round| {
                                let Utterance { stage, seat, .. } = record.utterance;
                                round.audience_of(stage, seat)
                            }),
                            visible: said.is_some() || judged,
                            ..record.utterance
                        };
                        if let Some(round) = self.record_at(Some(round)) {
                            round.turns.push(spoken);
                        }
                    }
                    Task::Delegated { tool_call, .. } | Task::Nested { tool_call, .. } => {
                        self.note_mission(round, &record, outcome);
                        let child = ChildRecord::new(outcome, record.utterance);
                        self.children.insert(id.clone(), (round.clone(), tool_call.clone(), child));
                    }
                }
            }
        }
    }

    /// The open turn that made a tool call.
    fn caller_of(&self, call: &ToolCallId) -> Option<TurnId> {
        let made = |turn: &TurnRecord| turn.calls.iter().any(|request| request.id == *call);
        self.turns.iter().find(|(_, turn)| made(turn)).map(|(id, _)| id.clone())
    }

    /// The seat's turn that an open turn is part of.
    fn seat_turn(&self, turn: &TurnId) -> Option<&TurnRecord> {
        let mut root = self.turns.get(turn)?;
        while let Some(parent) = &root.parent {
            root = self.turns.get(parent)?;
        }
        Some(root)
    }

    fn root_of(&mut self, turn: &TurnId) -> Option<&mut Utterance> {
        let root = self.seat_turn(turn)?.utterance.turn.clone();
        self.turns.get_mut(&root).map(|record| &mut record.utterance)
    }

    /// The view of the agent whose open turn this is. What happens inside a seat's turn does not
    /// receive more than the seat.
    pub fn viewer(&self, turn: &TurnId) -> Option<Viewer> {
        let agent = &self.turns.get(turn)?.utterance.agent;
        let seat = self.seat_turn(turn)?;
        self.find_round(&seat.round)?.viewer(seat.utterance.stage, agent)
    }

    /// The stage and the seat of an open turn; none for the child of another turn.
    fn seat_of(&self, record: &TurnRecord) -> Option<(&Stage, &Seat)> {
        let Task::Seat { stage, seat } = record.task else { return None };
        let stage = &self.find_round(&record.round)?.stages.get(stage as usize)?.stage;
        Some((stage, stage.seats.get(seat as usize)?))
    }

    fn evolve_iteration(&mut self, body: &IterationEvent, event: &Event) {
        let Some(turn) = event.place.turn.as_ref() else { return };
        if let (Some(charge), Some(root)) = (booked(body), self.root_of(turn)) {
            root.spent = root.spent.plus(charge);
        }
        let Some(record) = self.turns.get_mut(turn) else { return };
        match body {
            IterationEvent::ModelCallFinished {
                text,
                calls,
                thoughts,
                citations,
                record: call,
                ..
            } => {
                record.utterance.say(text);
                record.utterance.citations.extend(citations.iter().cloned());
                record.utterance.notice.clone_from(&call.notice);
                record.utterance.model = Some(call.model.clone()).filter(|name| !name.is_empty());
                record.context.replace(|context| context.with_call(call.clone(), event.at));
                record.reply = Some(PendingReply {
                    text: text.clone(),
                    thoughts: thoughts.clone(),
                    calls: *calls as usize,
                });
                record.complete_reply(event.at);
            }
            IterationEvent::ModelCallCancelled { partial, .. } => {
                record.utterance.say(partial);
            }
            IterationEvent::IterationClosed { outcome: IterationOutcome::ToolsDone } => {
                // In the order in which the model asked, not in which the tools were done.
                let calls = std::mem::take(&mut record.calls);
                let answers =
                    calls.iter().filter_map(|call| record.answers.remove(&call.id)).collect();
                record.context.replace(|context| context.answer_calls(answers, event.at));
            }
            IterationEvent::IterationClosed { .. } => {
                record.context.replace(|context| context.end(event.at));
            }
            IterationEvent::IterationOpened { .. }
            | IterationEvent::ModelCallStarted { .. }
            | IterationEvent::ModelCallInterrupted { .. }
            | IterationEvent::ModelCallRetried { .. }
            | IterationEvent::ModelCallFailed { .. } => {}
        }
    }

    fn evolve_tool_call(&mut self, body: &ToolCallEvent, event: &Event) {
        let (Some(turn), Some(id)) = (&event.place.turn, &event.place.tool_call) else { return };
        match body {
            ToolCallEvent::ToolCallRequested { name, arguments, .. } => {
                let Some(record) = self.turns.get_mut(turn) else { return };
                let request = ToolRequest {
                    id: id.clone(),
                    name: name.clone(),
                    arguments: arguments.clone(),
                };
                record.calls.push(request);
                record.complete_reply(event.at);
            }
            ToolCallEvent::ToolCallFinished(outcome) => {
                let answer = match outcome {
                    ToolOutcome::Answered { turn } => self.find_child(turn).map(missions::answer),
                    _ => None,
                };
                let own = || (outcome.message().to_owned(), outcome.value().cloned());
                let (content, value) = answer.unwrap_or_else(own);
                self.children.retain(|_, (_, call, _)| call != id);
                let Some(record) = self.turns.get_mut(turn) else { return };
                let success = outcome.succeeded();
                let answer = ToolAnswer { id: id.clone(), content, value, success };
                record.answers.insert(id.clone(), answer);
                // What the core carries out itself has no start.
                if success {
                    self.note_tool(turn, id);
                }
            }
            // A call that was refused never starts.
            ToolCallEvent::ToolCallStarted { .. } => self.note_tool(turn, id),
            ToolCallEvent::ToolCallPublished { .. } | ToolCallEvent::ToolCallInterrupted { .. } => {
            }
        }
    }

    /// Notes that a tool ran, once for each call.
    fn note_tool(&mut self, turn: &TurnId, call: &ToolCallId) {
        let Some(record) = self.turns.get_mut(turn) else { return };
        if !record.ran.insert(call.clone()) {
            return;
        }
        let asked = record.calls.iter().find(|asked| asked.id == *call);
        let name = asked.map(|asked| asked.name.clone());
        if let Some(root) = self.root_of(turn) {
            root.tools.extend(name);
        }
    }

    fn evolve_context(&mut self, body: &ContextEvent, event: &Event, session: &Session) {
        match body {
            ContextEvent::ContextRequested(request) => {
                let last = self.rounds.back().map(|round| round.id.clone());
                let id = event.place.round.clone().or(last);
                if let Some(record) = self.record_at(id.as_ref()) {
                    record.requests.push(request.clone());
                }
            }
            ContextEvent::ContextProvided(result) => {
                let request = session.find_request(&result.request);
                let shown = request.is_some_and(|request| request.about.waiting_call().is_none());
                if shown || self.chronicle.is_some() {
                    let query = request.map(|request| request.query.clone()).unwrap_or_default();
                    self.provided.push(ProvidedResult { query, result: result.clone(), shown });
                }
            }
            ContextEvent::ContextWithdrawn { .. } => {}
        }
    }
}
