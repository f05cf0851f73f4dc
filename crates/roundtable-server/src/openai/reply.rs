//! The answer to a request, as a fold of its session's log: pieces of text, calls of the caller's
//! tools, and an end. The same log gives the same pieces, so a repeated request is answered alike.

use std::collections::BTreeSet;
use std::sync::Arc;

use roundtable::core::context_request::About;
use roundtable::core::event::{
    Body, ContextEvent, Event, IterationEvent, Opening, RoundEvent, RoundOutcome, Seq,
    SessionEvent, StopReason, Task, ToolCallEvent, TurnEvent, TurnOutcome,
};
use roundtable::core::id::{IterationId, SessionId, ToolCallId, TurnId};
use roundtable::core::tool::Runs;
use roundtable::debate::Record;
use roundtable::driver::Delta;
use serde_json::Value;

use super::completion::Begun;
use super::tool;

/// Why an answer ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Finish {
    Stop,
    Length,
    ToolCalls,
    Refused,
}

impl Finish {
    /// The word for it in OpenAI's format.
    pub fn word(self) -> &'static str {
        match self {
            Self::Stop => "stop",
            Self::Length => "length",
            Self::ToolCalls => "tool_calls",
            Self::Refused => "content_filter",
        }
    }
}

/// What the model calls of an answer took.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Tokens {
    pub input: u64,
    pub output: u64,
}

/// A call of a tool that the caller runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct CallPiece {
    pub id: String,
    pub name: String,
    pub arguments: String,
}

/// A piece of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Piece {
    Text(String),
    Calls(Vec<CallPiece>),
    End(Finish, Tokens),
    /// Nobody could answer, and why.
    Failed(String),
}

/// A tool call of the turn that answers, while it is open.
struct OpenCall {
    id: ToolCallId,
    name: String,
    arguments: Value,
    /// Whether it waits for the caller.
    waits: bool,
}

/// The text of one attempt of a model call, as far as it was passed on.
struct Passed {
    iteration: IterationId,
    attempt: u32,
    bytes: usize,
}

/// An answer that is being read.
pub(super) struct Reply {
    session: SessionId,
    take: u32,
    after: Seq,
    /// The names of the caller's tools.
    tools: BTreeSet<String>,
    /// The events so far, of a panel: its answer is a report on all of them.
    panel: Option<Vec<Arc<Event>>>,
    /// Whether the round has begun that is answered with.
    is_open: bool,
    /// The turns of those who answer; what they delegate is not part of the answer.
    turns: BTreeSet<TurnId>,
    speaking: BTreeSet<IterationId>,
    passed: Option<Passed>,
    has_text: bool,
    calls: Vec<OpenCall>,
    /// How many calls the last model call asked for whose events are still to come; nothing before a
    /// model call of this answer.
    to_come: Option<u32>,
    stop: StopReason,
    failure: Option<String>,
    tokens: Tokens,
}

impl Reply {
    pub fn new(begun: &Begun) -> Self {
        Self {
            session: begun.session.id().clone(),
            take: begun.take,
            after: begun.after,
            tools: BTreeSet::new(),
            panel: begun.is_panel.then(Vec::new),
            is_open: false,
            turns: BTreeSet::new(),
            speaking: BTreeSet::new(),
            passed: None,
            has_text: false,
            calls: Vec::new(),
            to_come: None,
            stop: StopReason::End,
            failure: None,
            tokens: Tokens::default(),
        }
    }

    /// What an event adds to the answer.
    pub fn event(&mut self, event: &Arc<Event>) -> Vec<Piece> {
        if let Some(events) = &mut self.panel {
            events.push(event.clone());
        }
        let is_new = event.seq > self.after;
        let mut pieces = match &event.body {
            Body::Session(it) => self.session_event(it),
            Body::Round(it) => self.round_event(it),
            Body::Turn(it) => self.turn_event(event, it),
            Body::Iteration(it) => self.iteration_event(event, it, is_new),
            Body::ToolCall(it) => self.tool_event(event, it),
            Body::Context(it) => self.context_event(it),
            Body::Unknown { .. } | Body::Redacted => Vec::new(),
        };
        pieces.extend(self.waits_for_caller());
        if is_new { pieces } else { Vec::new() }
    }

    /// What is being said meanwhile. The event that ends a model call has all of its text.
    pub fn delta(&mut self, delta: &Delta) -> Option<Piece> {
        let is_answer = delta.since > self.after && self.speaking.contains(&delta.iteration);
        if !is_answer || self.panel.is_some() {
            return None;
        }
        let sent = self.sent(&delta.iteration, delta.attempt);
        let text = delta.text.get(sent.checked_sub(delta.offset)?..)?;
        self.pass(&delta.iteration, delta.attempt, text)
    }

    fn session_event(&mut self, event: &SessionEvent) -> Vec<Piece> {
        match event {
            SessionEvent::SessionOpened(opening) => self.tools = caller_tools(opening),
            SessionEvent::SessionCompleted { .. } => return self.report().into_iter().collect(),
            _ => {}
        }
        Vec::new()
    }

    fn round_event(&mut self, event: &RoundEvent) -> Vec<Piece> {
        match event {
            RoundEvent::RoundOpened { take, .. } => {
                self.is_open = *take == self.take;
                self.calls.clear();
                (self.to_come, self.failure) = (None, None);
                Vec::new()
            }
            RoundEvent::RoundClosed { outcome, .. } if self.is_open => {
                self.is_open = false;
                self.closed(*outcome).into_iter().collect()
            }
            _ => Vec::new(),
        }
    }

    fn closed(&mut self, outcome: RoundOutcome) -> Option<Piece> {
        let finish = match (outcome, self.stop) {
            (RoundOutcome::Failed, _) => {
                let why = self.failure.take();
                return Some(Piece::Failed(why.unwrap_or_else(|| "no reason given".to_owned())));
            }
            // The session of a panel ends with its round, and then all of it is known.
            (RoundOutcome::Completed | RoundOutcome::Incomplete, _) if self.panel.is_some() => {
                return None;
            }
            (_, StopReason::MaxTokens) => Finish::Length,
            (_, StopReason::Refused) => Finish::Refused,
            (_, StopReason::End | StopReason::ToolCalls) => Finish::Stop,
        };
        Some(Piece::End(finish, self.tokens))
    }

    /// The report of a panel.
    fn report(&mut self) -> Vec<Piece> {
        let Some(events) = &self.panel else { return Vec::new() };
        let record = Record::fold(&self.session, events.iter().map(AsRef::as_ref));
        let text = record.map(|record| Piece::Text(record.minutes()));
        text.into_iter().chain([Piece::End(Finish::Stop, self.tokens)]).collect()
    }

    fn turn_event(&mut self, event: &Event, it: &TurnEvent) -> Vec<Piece> {
        let Some(turn) = &event.place.turn else { return Vec::new() };
        match it {
            TurnEvent::TurnStarted { task: Task::Seat { .. }, .. } if self.is_open => {
                self.turns.insert(turn.clone());
            }
            TurnEvent::TurnEnded { outcome, .. } if self.turns.contains(turn) => match outcome {
                TurnOutcome::Failed { error } => self.failure = Some(error.clone()),
                TurnOutcome::Exhausted { budget } => {
                    self.stop = StopReason::MaxTokens;
                    self.failure = Some(format!("the budget of {} is exhausted", budget.word()));
                }
                TurnOutcome::Answered | TurnOutcome::Cancelled => {}
            },
            _ => {}
        }
        Vec::new()
    }

    fn iteration_event(&mut self, event: &Event, it: &IterationEvent, is_new: bool) -> Vec<Piece> {
        if let IterationEvent::ModelCallFinished { record, .. } = it
            && let Some(usage) = record.usage.filter(|_| is_new && self.is_open)
        {
            self.tokens.input += usage.input;
            self.tokens.output += usage.output;
        }
        let place = (&event.place.turn, &event.place.iteration);
        let (Some(turn), Some(iteration)) = place else { return Vec::new() };
        if !self.turns.contains(turn) {
            return Vec::new();
        }
        match it {
            IterationEvent::IterationOpened { .. } => {
                self.speaking.insert(iteration.clone());
                self.calls.clear();
                self.to_come = None;
                Vec::new()
            }
            IterationEvent::ModelCallFinished { attempt, text, calls, record, .. } => {
                self.stop = record.stop;
                self.to_come = Some(*calls).filter(|_| is_new);
                self.rest(iteration, *attempt, text, is_new).into_iter().collect()
            }
            IterationEvent::ModelCallCancelled { attempt, partial, .. } => {
                self.rest(iteration, *attempt, partial, is_new).into_iter().collect()
            }
            _ => Vec::new(),
        }
    }

    fn tool_event(&mut self, event: &Event, it: &ToolCallEvent) -> Vec<Piece> {
        let place = (&event.place.turn, &event.place.tool_call);
        let (Some(turn), Some(id)) = place else { return Vec::new() };
        if !self.turns.contains(turn) {
            return Vec::new();
        }
        match it {
            ToolCallEvent::ToolCallRequested { name, arguments, .. } => {
                let (name, arguments) = (name.clone(), arguments.clone());
                self.calls.push(OpenCall { id: id.clone(), name, arguments, waits: false });
                self.to_come = self.to_come.map(|left| left.saturating_sub(1));
            }
            ToolCallEvent::ToolCallFinished(_) => self.calls.retain(|call| call.id != *id),
            _ => {}
        }
        Vec::new()
    }

    fn context_event(&mut self, event: &ContextEvent) -> Vec<Piece> {
        if let ContextEvent::ContextRequested(request) = event
            && let About::Question { tool_call } = &request.about
            && let Some(call) = self.calls.iter_mut().find(|call| call.id == *tool_call)
        {
            call.waits = self.tools.contains(&call.name);
        }
        Vec::new()
    }

    /// The calls that the caller has to run, once nothing else is left to do.
    fn waits_for_caller(&mut self) -> Vec<Piece> {
        let all_wait = self.calls.iter().all(|call| call.waits);
        if self.to_come != Some(0) || self.calls.is_empty() || !all_wait {
            return Vec::new();
        }
        let call = |call: OpenCall| CallPiece {
            id: tool::call_id(&self.session, &call.id),
            arguments: call.arguments.to_string(),
            name: call.name,
        };
        let calls = std::mem::take(&mut self.calls).into_iter().map(call).collect();
        vec![Piece::Calls(calls), Piece::End(Finish::ToolCalls, self.tokens)]
    }

    /// What is left to pass on of a model call that is over.
    fn rest(
        &mut self,
        iteration: &IterationId,
        attempt: u32,
        text: &str,
        is_new: bool,
    ) -> Option<Piece> {
        if !is_new || self.panel.is_some() {
            return None;
        }
        let rest = text.get(self.sent(iteration, attempt)..)?;
        self.pass(iteration, attempt, rest)
    }

    /// How many bytes of an attempt were passed on.
    fn sent(&self, iteration: &IterationId, attempt: u32) -> usize {
        let same = |it: &&Passed| it.iteration == *iteration && it.attempt == attempt;
        self.passed.as_ref().filter(same).map_or(0, |it| it.bytes)
    }

    /// Passes text on. Another model call, or another attempt, begins a new paragraph: what was sent
    /// cannot be taken back.
    fn pass(&mut self, iteration: &IterationId, attempt: u32, text: &str) -> Option<Piece> {
        if text.is_empty() {
            return None;
        }
        let sent = self.sent(iteration, attempt);
        let gap = if self.has_text && sent == 0 { "\n\n" } else { "" };
        self.passed =
            Some(Passed { iteration: iteration.clone(), attempt, bytes: sent + text.len() });
        self.has_text = true;
        Some(Piece::Text(format!("{gap}{text}")))
    }
}

fn caller_tools(opening: &Opening) -> BTreeSet<String> {
    let tools = opening.agents.iter().flat_map(|agent| &agent.tools);
    tools.filter(|tool| tool.runs == Runs::Caller).map(|tool| tool.name.clone()).collect()
}
