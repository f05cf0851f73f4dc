//! From a log to a record.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::Deserialize as _;

use super::{Member, Record, RecordedRound, RecordedSynthesis, RecordedTurn, Spent};
use crate::{Measure, Measuring, Purpose, Rules};
use roundtable_core::agent::Agent;
use roundtable_core::budget::Charge;
use roundtable_core::context_request::ContextResult;
use roundtable_core::event::{
    Body, ContextEvent, Event, IterationEvent, RoundEvent, RoundOutcome, SessionEvent, Task,
    ToolCallEvent, TurnEvent,
};
use roundtable_core::id::{AgentId, RoundId, SessionId, ToolCallId, TurnId};
use roundtable_core::session::{Session, Status};

/// A round, while the log is read.
struct Open {
    id: RoundId,
    round: RecordedRound,
    active: bool,
    aside: bool,
}

/// A record being folded, event by event, so that nobody has to hold a whole log.
pub struct Folding {
    state: Session,
    times: Option<(Timestamp, Timestamp)>,
    rounds: Vec<Open>,
    /// Which entry of its round's turns a turn is part of.
    turns: BTreeMap<TurnId, usize>,
    calls: BTreeMap<ToolCallId, TurnId>,
    inputs: BTreeMap<String, String>,
    provided: Vec<ContextResult>,
    completed_because: Option<String>,
    imported: Option<Record>,
}

impl Folding {
    /// Nothing yet of this session.
    pub fn new(session: &SessionId) -> Self {
        Self {
            state: Session::new(session.clone()),
            times: None,
            rounds: Vec::new(),
            turns: BTreeMap::new(),
            calls: BTreeMap::new(),
            inputs: BTreeMap::new(),
            provided: Vec::new(),
            completed_because: None,
            imported: None,
        }
    }

    /// Takes the next event of the log.
    pub fn take(&mut self, event: &Event) {
        let began = self.times.map_or(event.at, |(began, _)| began);
        self.times = Some((began, event.at));
        match &event.body {
            Body::Session(body) => self.take_session(body),
            Body::Round(body) => self.take_round(body, event),
            Body::Turn(body) => self.take_turn(body, event),
            Body::Iteration(body) => self.take_iteration(body, event),
            Body::ToolCall(ToolCallEvent::ToolCallRequested { name, .. }) => {
                if let (Some(call), Some(turn)) = (&event.place.tool_call, &event.place.turn) {
                    self.calls.insert(call.clone(), turn.clone());
                }
                let name = name.clone();
                self.change(event, |turn| turn.tools.push(name));
            }
            Body::Context(ContextEvent::ContextRequested(request)) => {
                let id = event.place.round.as_ref();
                let mut rounds = self.rounds.iter_mut().rev();
                if let Some(open) = rounds.find(|open| id.is_none_or(|id| open.id == *id)) {
                    open.round.requests.push(request.clone());
                }
            }
            Body::Context(ContextEvent::ContextProvided(result)) => {
                self.provided.push(result.clone())
            }
            Body::ToolCall(_) | Body::Context(_) | Body::Unknown { .. } | Body::Redacted => {}
        }
        self.state.evolve(event);
    }

    fn take_session(&mut self, body: &SessionEvent) {
        match body {
            SessionEvent::SessionInputAccepted(accepted)
            | SessionEvent::SessionInputEdited(accepted) => {
                let id = accepted.context.message_id().to_owned();
                self.inputs.extend(accepted.text.clone().map(|text| (id, text)));
            }
            SessionEvent::SessionRoundSuperseded { number, take, .. } => {
                for open in self.rounds.iter_mut().filter(|open| open.is(*number, *take)) {
                    open.active = false;
                }
            }
            SessionEvent::SessionTakeSelected { number, take } => {
                for open in self.rounds.iter_mut().filter(|open| open.round.number == *number) {
                    open.active = open.round.take == *take;
                }
            }
            SessionEvent::SessionCompleted { reason } => {
                self.completed_because = Some(reason.clone())
            }
            SessionEvent::SessionForked { .. } => self.completed_because = None,
            SessionEvent::SessionImported(imported) => {
                self.imported = Record::deserialize(&imported.data).ok();
            }
            SessionEvent::SessionOpened(_)
            | SessionEvent::SessionInputDropped { .. }
            | SessionEvent::SessionPaused
            | SessionEvent::SessionResumed
            | SessionEvent::SessionChanged(_)
            | SessionEvent::StateChanged { .. } => {}
        }
    }

    fn take_round(&mut self, body: &RoundEvent, event: &Event) {
        let Some(id) = event.place.round.clone() else { return };
        match body {
            RoundEvent::RoundOpened { number, take, input, .. } => {
                let focus = self.inputs.get(input.message_id()).cloned();
                let topic = &self.state.topic;
                let mut round = opened(*number, *take, event.at);
                round.focus = focus.filter(|text| text != topic);
                if let Some(failed) = self.failed_take() {
                    round.focus = round.focus.or_else(|| failed.focus.clone());
                    round.provided.clone_from(&failed.provided);
                }
                round.provided.append(&mut self.provided);
                self.rounds.push(Open { id, round, active: true, aside: false });
            }
            RoundEvent::RoundAsideOpened { number, take, .. } => {
                let round = opened(*number, *take, event.at);
                self.rounds.push(Open { id, round, active: true, aside: true });
            }
            RoundEvent::StagesAdded { .. } | RoundEvent::JobStarted { .. } => {}
            RoundEvent::JobFinished { name, outcome, .. } => {
                let measure = outcome.data().filter(|_| *name == Measuring::JOB);
                let measure = measure.and_then(|data| Measure::deserialize(data).ok());
                if let Some(open) = self.open(&id) {
                    open.round.measure = measure.or(open.round.measure.take());
                }
            }
            RoundEvent::RoundClosed { outcome, ends, .. } => {
                let mark = self.state.marks.back();
                let ends = ends.is_some() || mark.is_some_and(|mark| mark.ends.is_some());
                let Some(open) = self.open(&id) else { return };
                open.round.closed_at = Some(event.at);
                open.round.outcome = Some(*outcome);
                // What was measured would have ended the debate, and something was still open.
                if let Some(measure) = open.round.measure.as_mut().filter(|_| !ends) {
                    measure.exit = None;
                }
            }
        }
    }

    fn take_turn(&mut self, body: &TurnEvent, event: &Event) {
        let (Some(id), Some(round)) = (event.place.turn.clone(), &event.place.round) else {
            return;
        };
        match body {
            TurnEvent::TurnStarted { agent, task: Task::Seat { stage, .. } } => {
                let scope = self.state.find_scope(round);
                let stages = scope.into_iter().flat_map(|scope| &scope.stages);
                let purpose = stages.map(|stage| Purpose::of(&stage.purpose)).nth(*stage as usize);
                let purpose = purpose.unwrap_or_default();
                let Some(open) = self.open(round) else { return };
                open.round.turns.push(RecordedTurn {
                    agent: agent.clone(),
                    purpose,
                    outcome: None,
                    text: String::new(),
                    citations: Vec::new(),
                    tools: Vec::new(),
                    notice: None,
                    spent: Spent::default(),
                });
                let index = open.round.turns.len() - 1;
                self.turns.insert(id, index);
            }
            // What a child turn takes is its parent's.
            TurnEvent::TurnStarted { task, .. } => {
                let parent = task.tool_call().and_then(|call| self.calls.get(call));
                if let Some(index) = parent.and_then(|turn| self.turns.get(turn)).copied() {
                    self.turns.insert(id, index);
                }
            }
            TurnEvent::TurnEnded { outcome, .. } => {
                let own = self.state.find_turn(&id);
                if own.is_some_and(|(_, turn)| turn.parent.is_none()) {
                    let outcome = outcome.clone();
                    self.change(event, |turn| turn.outcome = Some(outcome));
                }
            }
        }
    }

    fn take_iteration(&mut self, body: &IterationEvent, event: &Event) {
        let turn = event.place.turn.as_ref();
        let turn = turn.and_then(|turn| self.state.find_turn(turn));
        let is_child = turn.is_some_and(|(_, turn)| turn.parent.is_some());
        if let Some(spent) = self.booked(body, event) {
            self.change(event, |turn| turn.spent = turn.spent.plus(spent));
        }
        self.change(event, |turn| match body {
            IterationEvent::ModelCallFinished { text, citations, record, .. } if !is_child => {
                turn.citations.extend(citations.iter().cloned());
                turn.said(text);
                turn.notice.clone_from(&record.notice);
            }
            IterationEvent::ModelCallCancelled { partial, .. } if !is_child => turn.said(partial),
            _ => {}
        });
    }

    /// What an event adds to its turn. Turns of earlier versions tell what they told: a call that
    /// failed took nothing, though the session's account has what was reserved for it.
    fn booked(&self, body: &IterationEvent, event: &Event) -> Option<Spent> {
        match body {
            IterationEvent::ModelCallInterrupted { charge: None, .. }
            | IterationEvent::ModelCallFailed { charge: None, .. }
            | IterationEvent::ModelCallCancelled { charge: None, .. } => {
                Some(Charge::REFUSED.into())
            }
            IterationEvent::ModelCallFinished { charge: None, record, .. } => {
                Some(Charge::counted(record.usage.unwrap_or_default(), record.cost).into())
            }
            _ => self.state.charge(event).map(Spent::from),
        }
    }

    /// The take that failed and is now run again: what it was told, the next one is told.
    fn failed_take(&self) -> Option<&RecordedRound> {
        let mark = self.state.redo.as_ref()?;
        let failed = mark.outcome == Some(RoundOutcome::Failed);
        let mut rounds = self.rounds.iter().filter(|_| failed);
        rounds.find(|open| open.is(mark.number, mark.take)).map(|open| &open.round)
    }

    fn open(&mut self, id: &RoundId) -> Option<&mut Open> {
        self.rounds.iter_mut().rev().find(|open| open.id == *id)
    }

    /// Changes the turn that an event belongs to.
    fn change(&mut self, event: &Event, change: impl FnOnce(&mut RecordedTurn)) {
        let (Some(id), Some(round)) = (&event.place.turn, &event.place.round) else { return };
        let Some(index) = self.turns.get(id).copied() else { return };
        if let Some(turn) = self.open(round).and_then(|open| open.round.turns.get_mut(index)) {
            change(turn);
        }
    }

    /// The debate that the events tell of; nothing when the session is not one.
    pub fn finish(self) -> Option<Record> {
        let state = self.state;
        let (created_at, updated_at) = self.times?;
        if let Some(mut imported) = self.imported {
            imported.imported_from = Some(imported.session);
            imported.session = state.id;
            imported.status = Status::Completed;
            return Some(imported);
        }
        let rules = Rules::of(&state.settings)?;
        let (asides, rounds): (Vec<Open>, Vec<Open>) =
            self.rounds.into_iter().partition(|open| open.aside);
        let mut rounds: Vec<RecordedRound> =
            rounds.into_iter().filter(|open| open.active).map(|open| open.round).collect();
        rounds.sort_by_key(|round| round.number);
        Some(Record {
            members: members(&state.agents, &state.seats()),
            session: state.id,
            topic: state.topic,
            rules,
            total_rounds: state.settings.total_rounds,
            status: state.status,
            completed_because: self.completed_because,
            created_at,
            updated_at,
            rounds,
            pending_context_requests: state.requests,
            syntheses: asides.into_iter().filter_map(synthesis).collect(),
            total: Some(Spent::of(&state.account)),
            imported_from: None,
        })
    }
}

impl Open {
    fn is(&self, number: u32, take: u32) -> bool {
        !self.aside && self.round.number == number && self.round.take == take
    }
}

impl RecordedTurn {
    fn said(&mut self, text: &str) {
        if !text.is_empty() {
            text.clone_into(&mut self.text);
        }
    }
}

fn opened(number: u32, take: u32, at: Timestamp) -> RecordedRound {
    RecordedRound {
        number,
        take,
        opened_at: at,
        closed_at: None,
        outcome: None,
        focus: None,
        provided: Vec::new(),
        turns: Vec::new(),
        requests: Vec::new(),
        measure: None,
    }
}

fn synthesis(open: Open) -> Option<RecordedSynthesis> {
    let RecordedRound { number, take, turns, .. } = open.round;
    let turn = turns.into_iter().next()?;
    Some(RecordedSynthesis { number, take, turn })
}

fn members(agents: &[Agent], seats: &[AgentId]) -> Vec<Member> {
    let member = |agent: &Agent| Member {
        id: agent.id.clone(),
        name: agent.name.clone(),
        model: agent.model.clone(),
        seat: seats
            .iter()
            .position(|seat| *seat == agent.id)
            .and_then(|seat| u32::try_from(seat).ok()),
    };
    let mut members: Vec<Member> = agents.iter().map(member).collect();
    members.sort_by_key(|member| member.seat.unwrap_or(u32::MAX));
    members
}
