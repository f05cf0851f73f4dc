//! What a round came to.

use std::collections::BTreeMap;

use roundtable_core::Reject;
use roundtable_core::context_request::{ContextRequest, Priority};
use roundtable_core::event::{
    Body, ContextEvent, Event, IterationEvent, RoundEvent, RoundOutcome, Seq, SessionEvent, Task,
    TurnEvent, TurnOutcome,
};
use roundtable_core::id::{AgentId, RoundId, TurnId};
use roundtable_engine::{EngineError, SessionHandle};

use crate::error::Result;

/// What an agent came to in a round.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// Who.
    pub agent: AgentId,
    /// How its turn ended.
    pub outcome: TurnOutcome,
    /// What it said; as far as it got, if it was cut off.
    pub text: String,
}

/// What a round came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RoundReport {
    /// The round's number.
    pub number: u32,
    /// How it ended; nothing while it waits for someone to approve a tool call, or to answer an agent.
    pub outcome: Option<RoundOutcome>,
    /// What the agents said, in the order in which they were done.
    pub answers: Vec<Answer>,
    /// What it asked for. The next round waits for the required ones.
    pub requests: Vec<ContextRequest>,
}

/// Reads the log until the round that a message opened is over, or waits for a person: what is
/// there already at once, and the rest as it happens.
pub(crate) async fn collect(
    handle: &SessionHandle,
    after: Seq,
    message_id: &str,
) -> Result<RoundReport> {
    let mut reading = Reading::new(message_id);
    let mut from = after.next();
    let log = &handle.engine().parts().store.log;
    for event in log.read(handle.id(), from, PAGE).await.map_err(EngineError::from)? {
        from = event.seq.next();
        if reading.take(&event)? {
            return Ok(reading.report);
        }
    }
    let mut subscription = handle.subscribe(from).await?;
    loop {
        let event = subscription.next_event().await?;
        if reading.take(&event)? {
            return Ok(reading.report);
        }
    }
}

/// How much of the log is read before it is waited for.
const PAGE: usize = 256;

/// Why a message will open no round, if it will not.
fn dropped(event: &Event, message_id: &str) -> Option<Reject> {
    let Body::Session(SessionEvent::SessionInputDropped { message_id: dropped, withdrawn }) =
        &event.body
    else {
        return None;
    };
    let hint = "the message opened no round; open another session, or fork this one";
    let ended = || Reject::NotActive { status: "completed".into(), hint: hint.into() };
    let taken_back = || Reject::Invalid { what: format!("message {message_id} was withdrawn") };
    (dropped == message_id).then(|| if *withdrawn { taken_back() } else { ended() })
}

struct Reading<'a> {
    message_id: &'a str,
    round: Option<RoundId>,
    seats: BTreeMap<TurnId, AgentId>,
    words: BTreeMap<TurnId, String>,
    report: RoundReport,
}

impl<'a> Reading<'a> {
    fn new(message_id: &'a str) -> Self {
        let report =
            RoundReport { number: 0, outcome: None, answers: Vec::new(), requests: Vec::new() };
        Self { message_id, round: None, seats: BTreeMap::new(), words: BTreeMap::new(), report }
    }

    /// Takes an event in; true when there is nothing more to wait for.
    fn take(&mut self, event: &Event) -> Result<bool> {
        if let Some(why) = dropped(event, self.message_id) {
            return Err(why.into());
        }
        Ok(self.read(event))
    }

    fn read(&mut self, event: &Event) -> bool {
        if let Body::Round(RoundEvent::RoundOpened { number, input, .. }) = &event.body
            && input.message_id() == self.message_id
        {
            self.round.clone_from(&event.place.round);
            self.report.number = *number;
        }
        if self.round.is_none() || event.place.round != self.round {
            return false;
        }
        match (&event.body, &event.place.turn) {
            (Body::Turn(TurnEvent::TurnStarted { agent, task: Task::Seat { .. } }), Some(turn)) => {
                self.seats.insert(turn.clone(), agent.clone());
            }
            (Body::Iteration(body), Some(turn)) => self.note_words(turn, body),
            (Body::Turn(TurnEvent::TurnEnded { outcome, .. }), Some(turn)) => {
                let text = self.words.remove(turn).unwrap_or_default();
                let agent = self.seats.remove(turn);
                let answer = agent.map(|agent| Answer { agent, outcome: outcome.clone(), text });
                self.report.answers.extend(answer);
            }
            (Body::Context(ContextEvent::ContextRequested(request)), _) => {
                self.report.requests.push(request.clone())
            }
            (Body::Round(RoundEvent::RoundClosed { outcome, .. }), _) => {
                self.report.outcome = Some(*outcome);
                return true;
            }
            _ => {}
        }
        waits_for_person(event)
    }

    fn note_words(&mut self, turn: &TurnId, body: &IterationEvent) {
        let text = match body {
            IterationEvent::ModelCallFinished { text, .. } => text,
            IterationEvent::ModelCallCancelled { partial, .. } => partial,
            _ => return,
        };
        if !text.is_empty() {
            self.words.insert(turn.clone(), text.clone());
        }
    }
}

/// Whether a call of the round waits for a person from here on.
fn waits_for_person(event: &Event) -> bool {
    let Body::Context(ContextEvent::ContextRequested(request)) = &event.body else {
        return false;
    };
    request.priority == Priority::Required && request.about.waiting_call().is_some()
}
