//! The part of the transcript that prompts draw on: a fold of the log, bounded, never stored.
//!
//! The session's state says what is going on; the window knows what was said. It can be rebuilt
//! from [`Session::window_from`] at any time.

mod render;

use std::collections::{BTreeMap, VecDeque};

use jiff::Timestamp;

use crate::context_request::ContextResult;
use crate::debate::Measure;
use crate::event::{
    Accepted, Body, ContextEvent, Event, IterationEvent, IterationOutcome, RoundEvent, Seq,
    SessionEvent, Task, ToolCallEvent, TurnEvent, TurnOutcome, legacy,
};
use crate::id::{AgentId, ToolCallId, TurnId};
use crate::message::{Reasoning, ToolAnswer, ToolRequest};
use crate::session::Session;
use crate::stage::{ANSWER, Name, Stage};
use crate::tool::ToolOutcome;
use crate::turn::Context;

/// An answer that people gave to an agent's question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Provided {
    /// What was asked.
    pub query: String,
    /// What was answered.
    pub result: ContextResult,
}

/// Something an agent said in a round.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spoken {
    /// Who.
    pub agent: AgentId,
    /// In which stage.
    pub stage: u32,
    /// What the stage is for.
    pub purpose: Name,
    /// What.
    pub text: String,
    /// Whether it was cut off.
    pub partial: bool,
}

/// A round of the window.
#[derive(Debug, Clone, PartialEq)]
pub struct RoundRecord {
    /// Its number.
    pub number: u32,
    /// Which take of that number.
    pub take: u32,
    /// Its first event.
    pub from: Seq,
    /// The input, if it said something.
    pub input: Option<Accepted>,
    /// The answers that it was given.
    pub provided: Vec<Provided>,
    /// What the agents said, in order.
    pub spoken: Vec<Spoken>,
    /// Its stages, as far as they are decided.
    pub stages: Vec<Stage>,
    /// How far the panel of a debate agreed in it.
    pub measure: Option<Measure>,
}

/// An open turn's record, and what of it is still being put together.
#[derive(Debug, Clone, PartialEq)]
pub struct TurnRecord {
    /// Whose turn it is.
    pub agent: AgentId,
    /// Why it takes place.
    pub task: Task,
    /// What was said in it.
    pub context: Context,
    /// A reply whose tool calls are still to come.
    reply: Option<Awaited>,
    calls: Vec<ToolRequest>,
    answers: BTreeMap<ToolCallId, ToolAnswer>,
    partial: Option<String>,
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
    children: BTreeMap<TurnId, (ToolCallId, ChildRecord)>,
    /// The stages of what is done between rounds.
    aside: Option<Vec<Stage>>,
}

impl Window {
    /// The record of an open turn.
    pub fn find_turn(&self, id: &TurnId) -> Option<&TurnRecord> {
        self.turns.get(id)
    }

    /// What an ended child turn came to, while its tool call is open.
    pub fn find_child(&self, id: &TurnId) -> Option<&ChildRecord> {
        self.children.get(id).map(|(_, child)| child)
    }

    /// The arguments of an open tool call.
    pub fn find_call(&self, turn: &TurnId, id: &ToolCallId) -> Option<&ToolRequest> {
        let calls = self.turns.get(turn)?.context.iterations().last()?.tool_calls.iter();
        calls.map(|call| &call.request).find(|request| request.id == *id)
    }

    /// The round under way, and the last one before it that counts.
    pub(crate) fn last_two(
        &self,
        session: &Session,
    ) -> Option<(&RoundRecord, Option<&RoundRecord>)> {
        let current = self.rounds.back()?;
        let counts = |round: &&RoundRecord| {
            let mut marks = session.marks.iter();
            let own = marks.find(|mark| mark.number == round.number && mark.take == round.take);
            round.number < current.number && own.is_some_and(|mark| mark.active)
        };
        Some((current, self.rounds.iter().filter(counts).max_by_key(|round| round.number)))
    }

    /// Applies an event, before the session does.
    pub fn evolve(&mut self, event: &Event, session: &Session) {
        match &event.body {
            Body::Session(body) => self.evolve_session(body),
            Body::Unknown { .. } | Body::Redacted => {}
            Body::Round(body) => self.evolve_round(body, event, session),
            Body::Turn(body) => self.evolve_turn(body, event, session),
            Body::Iteration(body) => self.evolve_iteration(body, event),
            Body::ToolCall(body) => self.evolve_tool_call(body, event),
            Body::Context(body) => self.evolve_context(body, session),
        }
    }

    fn evolve_session(&mut self, body: &SessionEvent) {
        match body {
            SessionEvent::SessionInputAccepted(accepted) => {
                self.waiting.insert(accepted.context.message_id().to_owned(), accepted.clone());
            }
            SessionEvent::SessionInputDropped { message_id } => {
                self.waiting.remove(message_id);
            }
            SessionEvent::SessionForked { .. } => self.waiting.clear(),
            SessionEvent::SessionRoundSuperseded { number, take, redo } => {
                self.redo = redo.then_some((*number, *take));
            }
            SessionEvent::SessionOpened(_)
            | SessionEvent::SessionPaused
            | SessionEvent::SessionResumed
            | SessionEvent::SessionCompleted { .. }
            | SessionEvent::SessionTakeSelected { .. }
            | SessionEvent::SessionImported(_) => {}
        }
    }

    fn evolve_round(&mut self, body: &RoundEvent, event: &Event, session: &Session) {
        match body {
            RoundEvent::RoundOpened { number, take, input, stages, .. } => {
                let again = self.redo.take().and_then(|redo| {
                    self.rounds.iter().find(|round| (round.number, round.take) == redo)
                });
                let waited = self.waiting.remove(input.message_id());
                let (input, mut provided) = match again {
                    Some(round) => {
                        let asked = waited.filter(|waited| waited.text.is_some());
                        (asked.or_else(|| round.input.clone()), round.provided.clone())
                    }
                    None => (waited, Vec::new()),
                };
                provided.append(&mut self.provided);
                self.rounds.push_back(RoundRecord {
                    number: *number,
                    take: *take,
                    from: event.seq,
                    input,
                    provided,
                    spoken: Vec::new(),
                    stages: legacy::stages(stages, &session.settings).into_owned(),
                    measure: None,
                });
            }
            RoundEvent::RoundAsideOpened { stages, .. } => self.aside = Some(stages.clone()),
            RoundEvent::StagesAdded { stages } => {
                let open = self.rounds.back_mut().map(|round| &mut round.stages);
                if let Some(known) = self.aside.as_mut().or(open) {
                    known.extend(stages.iter().cloned());
                }
            }
            RoundEvent::RoundMeasured(measure) => {
                if let Some(round) = self.rounds.back_mut() {
                    round.measure = Some(measure.clone());
                }
            }
            RoundEvent::RoundClosed { .. } => {
                self.aside = None;
                self.turns.clear();
                self.children.clear();
                let last = self.rounds.back().map_or(0, |round| round.number);
                let left = session.settings.left_behind(last);
                self.rounds.retain(|round| round.number > left);
            }
        }
    }

    fn evolve_turn(&mut self, body: &TurnEvent, event: &Event, session: &Session) {
        let Some(id) = event.place.turn.as_ref() else { return };
        match body {
            TurnEvent::TurnStarted { agent, task } => {
                let Some(context) = self.begin(agent, task, session, event.at) else { return };
                let record = TurnRecord {
                    agent: agent.clone(),
                    task: task.clone(),
                    context,
                    reply: None,
                    calls: Vec::new(),
                    answers: BTreeMap::new(),
                    partial: None,
                };
                self.turns.insert(id.clone(), record);
            }
            TurnEvent::TurnEnded { outcome, said } => {
                let Some(record) = self.turns.remove(id) else { return };
                let text = record.last_words();
                let (public, purpose) = self
                    .stage_of(&record.task)
                    .map_or((true, ANSWER), |stage| (stage.public, stage.purpose.clone()));
                let judged = !public && *outcome == TurnOutcome::Answered;
                match (&record.task, said) {
                    (Task::Seat { .. }, _) if self.aside.is_some() => {}
                    (Task::Seat { stage, .. }, said) if said.is_some() || judged => {
                        let partial = *outcome != TurnOutcome::Answered;
                        let agent = record.agent.clone();
                        let spoken = Spoken { agent, stage: *stage, purpose, text, partial };
                        if let Some(round) = self.rounds.back_mut() {
                            round.spoken.push(spoken);
                        }
                    }
                    (Task::Seat { .. }, _) => {}
                    (Task::Delegated { tool_call, .. } | Task::Nested { tool_call, .. }, _) => {
                        let child = ChildRecord { outcome: outcome.clone(), text };
                        self.children.insert(id.clone(), (tool_call.clone(), child));
                    }
                }
            }
        }
    }

    /// The stage that a turn is a seat of, while it is open.
    fn stage_of(&self, task: &Task) -> Option<&Stage> {
        let Task::Seat { stage, .. } = task else { return None };
        let round = || self.rounds.back().map(|round| &round.stages);
        self.aside.as_ref().or_else(round)?.get(*stage as usize)
    }

    fn evolve_iteration(&mut self, body: &IterationEvent, event: &Event) {
        let Some(record) = event.place.turn.as_ref().and_then(|turn| self.turns.get_mut(turn))
        else {
            return;
        };
        match body {
            IterationEvent::ModelCallFinished { text, calls, thoughts, record: call, .. } => {
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
                let content = match outcome {
                    ToolOutcome::Answered { turn } => {
                        self.find_child(turn).map(|child| child.text.clone())
                    }
                    _ => None,
                };
                let content = content.unwrap_or_else(|| outcome.message().to_owned());
                self.children.retain(|_, (call, _)| call != id);
                let Some(record) = self.turns.get_mut(turn) else { return };
                let (value, success) = (outcome.value().cloned(), outcome.succeeded());
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
        if matches!(request.about, crate::context_request::About::Approval { .. }) {
            return;
        }
        self.provided.push(Provided { query: request.query.clone(), result: result.clone() });
    }
}

impl TurnRecord {
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
