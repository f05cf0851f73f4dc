//! The part of the transcript that prompts draw on: a fold of the log, bounded, never stored.
//!
//! The session's state says what is going on; the window knows what was said. It can be rebuilt
//! from [`Session::window_from`] at any time.

mod missions;
mod render;

use std::collections::{BTreeMap, VecDeque};

use jiff::Timestamp;

use crate::context_request::ContextResult;
use crate::event::{
    Accepted, Body, ContextEvent, Event, IterationEvent, IterationOutcome, RoundEvent, Seq,
    SessionEvent, Task, ToolCallEvent, TurnEvent, TurnOutcome, legacy,
};
use crate::id::{AgentId, RoundId, ToolCallId, TurnId};
use crate::job::JobOutcome;
use crate::message::{Citation, Reasoning, ToolAnswer, ToolRequest};
use crate::message_context::MessageContext;
use crate::program::AnyProgram;
use crate::prompt::OutputSchema;
use crate::session::Session;
use crate::stage::{ANSWER, Name, Seat, Stage};
use crate::tool::ToolOutcome;
use crate::turn::Context;
use render::{Begins, Prompting};

/// An answer that people gave to an agent's question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Provided {
    /// What was asked.
    pub query: String,
    /// What was answered.
    pub result: ContextResult,
}

/// A seat's turn that ended, and what was said in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Utterance {
    /// Who.
    pub agent: AgentId,
    /// In which stage.
    pub stage: u32,
    /// What the stage is for.
    pub purpose: Name,
    /// What.
    pub text: String,
    /// How the turn ended.
    pub outcome: TurnOutcome,
    /// Whether it is a message of the session.
    pub public: bool,
    /// Whether programs may show it to others: it is a message, or a whole answer of a private stage.
    pub visible: bool,
}

impl Utterance {
    /// Whether it was cut off.
    pub fn is_partial(&self) -> bool {
        self.outcome != TurnOutcome::Answered
    }
}

/// A job that ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobRecord {
    /// What was computed.
    pub name: Name,
    /// Which job of its round or aside.
    pub ordinal: u32,
    /// How it ended.
    pub outcome: JobOutcome,
    /// How many stages had been decided before it.
    pub after: usize,
}

/// A round of the window, or an aside.
#[derive(Debug, Clone, PartialEq)]
pub struct RoundRecord {
    /// Its id.
    pub id: RoundId,
    /// Its number.
    pub number: u32,
    /// Which take of that number.
    pub take: u32,
    /// The last round that was over when it was opened.
    pub covers: u32,
    /// Whether it is over.
    pub closed: bool,
    /// Its first event.
    pub from: Seq,
    /// The input, if it said something.
    pub input: Option<Accepted>,
    /// The answers that it was given.
    pub provided: Vec<Provided>,
    /// The turns of its seats that ended, in that order.
    pub turns: Vec<Utterance>,
    /// Its stages, as far as they are decided.
    pub stages: Vec<Stage>,
    /// Its jobs that ended, in their order.
    pub jobs: Vec<JobRecord>,
    /// The missions that were answered in it, in that order.
    pub missions: Vec<MissionRecord>,
}

/// What an agent was asked by another one, and answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MissionRecord {
    /// Who was asked.
    pub agent: AgentId,
    /// What.
    pub mission: String,
    /// What it answered.
    pub answer: String,
}

impl RoundRecord {
    /// What was said that others are told of.
    pub fn spoken(&self) -> impl Iterator<Item = &Utterance> {
        self.turns.iter().filter(|spoken| spoken.visible)
    }

    fn opened(id: RoundId, (number, take): (u32, u32), stages: Vec<Stage>, from: Seq) -> Self {
        Self {
            id,
            number,
            take,
            covers: number.saturating_sub(1),
            closed: false,
            from,
            input: None,
            provided: Vec::new(),
            turns: Vec::new(),
            stages,
            jobs: Vec::new(),
            missions: Vec::new(),
        }
    }
}

/// An open turn's record, and what of it is still being put together.
#[derive(Debug, Clone, PartialEq)]
pub struct TurnRecord {
    /// Whose turn it is.
    pub agent: AgentId,
    /// Why it takes place.
    pub task: Task,
    /// In which round or aside.
    pub round: RoundId,
    /// What its prompt is called.
    pub name: String,
    /// What its answer has to look like.
    pub output: Option<OutputSchema>,
    /// Whether it is told of earlier rounds.
    pub history: bool,
    /// What was said in it.
    pub context: Context,
    /// A reply whose tool calls are still to come.
    reply: Option<Awaited>,
    calls: Vec<ToolRequest>,
    answers: BTreeMap<ToolCallId, ToolAnswer>,
    partial: Option<String>,
    /// The sources that it named so far.
    citations: Vec<Citation>,
}

/// A reply, and how many tool calls belong to it.
#[derive(Debug, Clone, PartialEq)]
struct Awaited {
    text: String,
    thoughts: Vec<Reasoning>,
    calls: usize,
}

/// What a child turn came to, kept for the tool call that asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChildRecord {
    /// How it ended.
    pub outcome: TurnOutcome,
    /// What it said.
    pub text: String,
    /// The sources that it named.
    pub citations: Vec<Citation>,
}

/// The window.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Window {
    rounds: VecDeque<RoundRecord>,
    waiting: BTreeMap<String, Accepted>,
    /// The round and take whose message the next round answers again.
    redo: Option<(u32, u32)>,
    provided: Vec<Provided>,
    turns: BTreeMap<TurnId, TurnRecord>,
    children: BTreeMap<TurnId, (RoundId, ToolCallId, ChildRecord)>,
    /// The open asides.
    asides: BTreeMap<RoundId, RoundRecord>,
}

impl Window {
    /// The record of an open turn.
    pub fn find_turn(&self, id: &TurnId) -> Option<&TurnRecord> {
        self.turns.get(id)
    }

    /// What an ended child turn came to, while its tool call is open.
    pub fn find_child(&self, id: &TurnId) -> Option<&ChildRecord> {
        self.children.get(id).map(|(.., child)| child)
    }

    /// An input that waits for its round.
    pub(crate) fn find_waiting(&self, message_id: &str) -> Option<&Accepted> {
        self.waiting.get(message_id)
    }

    /// The arguments of an open tool call.
    pub fn find_call(&self, turn: &TurnId, id: &ToolCallId) -> Option<&ToolRequest> {
        let calls = self.turns.get(turn)?.context.iterations().last()?.tool_calls.iter();
        calls.map(|call| &call.request).find(|request| request.id == *id)
    }

    /// The open round or aside with this id, or a round that a prompt can draw on.
    pub(crate) fn find_round(&self, id: &RoundId) -> Option<&RoundRecord> {
        self.asides.get(id).or_else(|| self.rounds.iter().rev().find(|round| round.id == *id))
    }

    /// The round that a turn in this round or aside is about: the round itself, or the one that the
    /// aside names.
    pub(crate) fn about(&self, id: &RoundId) -> Option<&RoundRecord> {
        let Some(aside) = self.asides.get(id) else { return self.find_round(id) };
        let own = |round: &&RoundRecord| (round.number, round.take) == (aside.number, aside.take);
        self.rounds.iter().rev().find(own)
    }

    /// The rounds that count and were over when this round or aside was opened; without either, all
    /// that are over. Oldest first: a take that was chosen again may
    /// have been run after the rounds that follow it.
    pub(crate) fn earlier(&self, session: &Session, id: Option<&RoundId>) -> Vec<&RoundRecord> {
        let covers = id.and_then(|id| self.find_round(id)).map_or(u32::MAX, |round| round.covers);
        let open = session.round.as_ref().map(|round| &round.id);
        let counts = |round: &&RoundRecord| {
            let mut marks = session.marks.iter();
            round.number <= covers
                && Some(&round.id) != open
                && marks.any(|mark| mark.active && mark.is(round.number, round.take))
        };
        let mut earlier: Vec<&RoundRecord> = self.rounds.iter().filter(counts).collect();
        earlier.sort_by_key(|round| round.number);
        earlier
    }

    /// The input that a round which is about to open answers.
    pub(crate) fn input_of(
        &self,
        input: &MessageContext,
        again: Option<(u32, u32)>,
    ) -> Option<&Accepted> {
        let waited = self.waiting.get(input.message_id());
        let Some(redone) = self.find_take(again) else { return waited };
        waited.filter(|waited| waited.text.is_some()).or(redone.input.as_ref())
    }

    fn find_take(&self, wanted: Option<(u32, u32)>) -> Option<&RoundRecord> {
        self.rounds.iter().find(|round| Some((round.number, round.take)) == wanted)
    }

    fn record_at(&mut self, id: Option<&RoundId>) -> Option<&mut RoundRecord> {
        let id = id?;
        let asides = &mut self.asides;
        let rounds = self.rounds.iter_mut().rev();
        asides.get_mut(id).or_else(|| rounds.into_iter().find(|round| round.id == *id))
    }

    /// Applies an event, before the session does.
    pub(crate) fn evolve(&mut self, event: &Event, session: &Session, program: &dyn AnyProgram) {
        match &event.body {
            Body::Session(body) => self.evolve_session(body),
            Body::Unknown { .. } | Body::Redacted => {}
            Body::Round(body) => self.evolve_round(body, event, session),
            Body::Turn(body) => self.evolve_turn(body, event, session, program),
            Body::Iteration(body) => self.evolve_iteration(body, event),
            Body::ToolCall(body) => self.evolve_tool_call(body, event),
            Body::Context(body) => self.evolve_context(body, session),
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
            }
            SessionEvent::SessionRoundSuperseded { number, take, redo } => {
                self.redo = redo.then_some((*number, *take));
            }
            SessionEvent::SessionOpened(_)
            | SessionEvent::SessionPaused
            | SessionEvent::SessionResumed
            | SessionEvent::SessionCompleted { .. }
            | SessionEvent::SessionTakeSelected { .. }
            | SessionEvent::SessionImported(_)
            | SessionEvent::SessionChanged(_)
            | SessionEvent::StateChanged { .. } => {}
        }
    }

    fn evolve_round(&mut self, body: &RoundEvent, event: &Event, session: &Session) {
        let Some(id) = event.place.round.as_ref() else { return };
        match body {
            RoundEvent::RoundOpened { number, take, input, stages, .. } => {
                let again = self.redo.take();
                let asked = self.input_of(input, again).cloned();
                let redone = self.find_take(again);
                let mut provided = redone.map(|round| round.provided.clone()).unwrap_or_default();
                provided.append(&mut self.provided);
                self.waiting.remove(input.message_id());
                let stages = legacy::stages(stages, &session.settings).into_owned();
                let opened = RoundRecord::opened(id.clone(), (*number, *take), stages, event.seq);
                self.rounds.push_back(RoundRecord { input: asked, provided, ..opened });
            }
            RoundEvent::RoundAsideOpened { number, take, stages, .. } => {
                let stages = stages.clone();
                let opened = RoundRecord::opened(id.clone(), (*number, *take), stages, event.seq);
                let last = self.rounds.back();
                let covers = last.map_or(0, |last| last.number - u32::from(!last.closed));
                self.asides.insert(id.clone(), RoundRecord { covers, ..opened });
            }
            RoundEvent::StagesAdded { stages } => {
                if let Some(record) = self.record_at(Some(id)) {
                    record.stages.extend(stages.iter().cloned());
                }
            }
            RoundEvent::JobStarted { .. } => {}
            RoundEvent::JobFinished { name, ordinal, outcome, .. } => {
                let Some(record) = self.record_at(Some(id)) else { return };
                let (name, outcome) = (name.clone(), outcome.clone());
                let after = record.stages.len();
                record.jobs.push(JobRecord { name, ordinal: *ordinal, outcome, after });
            }
            RoundEvent::RoundClosed { .. } => {
                if self.asides.remove(id).is_none()
                    && let Some(round) = self.record_at(Some(id))
                {
                    round.closed = true;
                }
                self.turns.retain(|_, turn| turn.round != *id);
                self.children.retain(|_, (round, ..)| round != id);
                let last = self.rounds.back().map_or(0, |round| round.number);
                let left = session.left_behind(last, Some(id));
                self.rounds.retain(|round| round.number > left);
            }
        }
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
                let begins = Begins { round, turn: id, agent, task, at: event.at };
                if let Some(record) = self.begin(&begins, session, program) {
                    self.turns.insert(id.clone(), record);
                }
            }
            TurnEvent::TurnEnded { outcome, said } => {
                let Some(record) = self.turns.remove(id) else { return };
                let text = record.last_words();
                match &record.task {
                    Task::Seat { stage, .. } => {
                        let (public, purpose) = self
                            .seat_of(&record)
                            .map_or((true, ANSWER), |(s, _)| (s.public, s.purpose.clone()));
                        let judged = !public && *outcome == TurnOutcome::Answered;
                        let spoken = Utterance {
                            agent: record.agent.clone(),
                            stage: *stage,
                            purpose,
                            text,
                            outcome: outcome.clone(),
                            public: said.is_some(),
                            visible: said.is_some() || judged,
                        };
                        if let Some(round) = self.record_at(Some(round)) {
                            round.turns.push(spoken);
                        }
                    }
                    Task::Delegated { tool_call, .. } | Task::Nested { tool_call, .. } => {
                        self.note_mission(round, &record, outcome, &text);
                        let (outcome, citations) = (outcome.clone(), record.citations);
                        let child = ChildRecord { outcome, text, citations };
                        self.children.insert(id.clone(), (round.clone(), tool_call.clone(), child));
                    }
                }
            }
        }
    }

    /// The stage and the seat of an open turn; none for the child of another turn.
    fn seat_of(&self, record: &TurnRecord) -> Option<(&Stage, &Seat)> {
        let Task::Seat { stage, seat } = record.task else { return None };
        let stage = self.find_round(&record.round)?.stages.get(stage as usize)?;
        Some((stage, stage.seats.get(seat as usize)?))
    }

    fn evolve_iteration(&mut self, body: &IterationEvent, event: &Event) {
        let Some(record) = event.place.turn.as_ref().and_then(|turn| self.turns.get_mut(turn))
        else {
            return;
        };
        match body {
            IterationEvent::ModelCallFinished {
                text,
                calls,
                thoughts,
                citations,
                record: call,
                ..
            } => {
                let new = citations.iter().filter(|it| !record.citations.contains(it));
                let new: Vec<Citation> = new.cloned().collect();
                record.citations.extend(new);
                record.context.replace(|context| context.with_call(call.clone(), event.at));
                record.reply = Some(Awaited {
                    text: text.clone(),
                    thoughts: thoughts.clone(),
                    calls: *calls as usize,
                });
                record.complete_reply(event.at);
            }
            IterationEvent::ModelCallCancelled { partial, .. } => {
                record.partial = Some(partial.clone()).filter(|partial| !partial.is_empty());
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
            }
            ToolCallEvent::ToolCallStarted { .. }
            | ToolCallEvent::ToolCallPublished { .. }
            | ToolCallEvent::ToolCallInterrupted { .. } => {}
        }
    }

    fn evolve_context(&mut self, body: &ContextEvent, session: &Session) {
        let ContextEvent::ContextProvided(result) = body else { return };
        let Some(request) = session.find_request(&result.request) else { return };
        if request.about.waiting_call().is_some() {
            return;
        }
        self.provided.push(Provided { query: request.query.clone(), result: result.clone() });
    }
}

impl TurnRecord {
    fn new(
        agent: AgentId,
        task: Task,
        round: RoundId,
        context: Context,
        Prompting { name, output, history }: Prompting,
    ) -> Self {
        Self {
            agent,
            task,
            round,
            name,
            output,
            history,
            context,
            reply: None,
            calls: Vec::new(),
            answers: BTreeMap::new(),
            partial: None,
            citations: Vec::new(),
        }
    }

    /// Adds the reply once all of its tool calls are known.
    fn complete_reply(&mut self, at: Timestamp) {
        let whole = |reply: &mut Awaited| self.calls.len() >= reply.calls;
        let Some(reply) = self.reply.take_if(whole) else { return };
        let Awaited { text, thoughts, .. } = reply;
        let calls = self.calls.clone();
        self.context.replace(|context| context.reply(&text, thoughts, calls, at));
    }

    /// What the turn says in the end: its last reply, or as far as it got.
    fn last_words(&self) -> String {
        if let Some(partial) = &self.partial {
            return partial.clone();
        }
        let said = self.context.to_messages().into_iter().rev();
        let mut said = said.filter(|message| message.role == crate::message::Role::Assistant);
        said.find_map(|message| Some(message.text()).filter(|text| !text.is_empty()))
            .unwrap_or_default()
    }
}
