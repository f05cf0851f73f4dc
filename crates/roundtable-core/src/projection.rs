//! Events as rows that people and programs query. Backends only write them down.

use jiff::Timestamp;

use crate::event::{Body, ContextEvent, Event, RoundEvent, RoundOutcome, Seq, TurnEvent};
use crate::id::{AgentId, ContextRequestId, RoundId, TurnId};
use crate::message_context::MessageContext;
use crate::session::{Session, Status};
use crate::settings::Kind;

/// A session, as a list shows it, and as a scheduler finds what is due.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Summary {
    /// What kind of session it is.
    pub kind: Kind,
    /// The topic or title.
    pub topic: String,
    /// For which tenant.
    pub tenant: Option<String>,
    /// Whether it opens rounds.
    pub status: Status,
    /// How many rounds are finished.
    pub rounds_completed: u32,
    /// The round in progress, or the next one to open.
    pub current_round: u32,
    /// Whether someone has to drive it now.
    pub has_work: bool,
    /// When something is due.
    pub wake_at: Option<Timestamp>,
}

impl Summary {
    /// The summary of a state.
    pub fn of(session: &Session) -> Self {
        Self {
            kind: session.kind,
            topic: session.topic.clone(),
            tenant: session.tenant.clone(),
            status: session.status,
            rounds_completed: session.rounds_completed,
            current_round: session.current_round(),
            has_work: session.has_work(),
            wake_at: session.wake_at(),
        }
    }
}

/// A row to insert or to overwrite, by its key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Row {
    /// A round: key is its id.
    Round {
        /// Its id.
        round: RoundId,
        /// Its number.
        number: u32,
        /// Which take of that number.
        take: u32,
        /// The input that opened it.
        input: MessageContext,
        /// Who speaks.
        agents: Vec<AgentId>,
        /// When it opened.
        at: Timestamp,
    },
    /// A round ended.
    RoundEnd {
        /// Its id.
        round: RoundId,
        /// How.
        outcome: RoundOutcome,
        /// When.
        at: Timestamp,
    },
    /// A message: key is its number. Its text is the body of the event at `body`.
    Message {
        /// Its number in the session.
        number: u64,
        /// The round that it belongs to.
        round: RoundId,
        /// The agent who said it; none for an input.
        agent: Option<(AgentId, TurnId)>,
        /// The event that recorded it.
        body: Seq,
        /// When.
        at: Timestamp,
    },
    /// A pending context request: key is its id.
    Request {
        /// Its id.
        request: ContextRequestId,
        /// Who asked.
        agent: AgentId,
        /// The event that holds it.
        body: Seq,
        /// When.
        at: Timestamp,
    },
    /// A context request is no longer pending.
    RequestGone {
        /// Its id.
        request: ContextRequestId,
    },
}

/// The rows that an event makes. `session` is the state before the event.
pub fn rows(event: &Event, session: &Session) -> Vec<Row> {
    let at = event.at;
    let round = event.place.round.clone();
    match (&event.body, round) {
        (
            Body::Round(RoundEvent::RoundOpened { number, take, stages, input, message_number }),
            Some(round),
        ) => {
            let waiting = session.waiting.iter().find(|waiting| waiting.context == *input);
            let said = message_number.zip(waiting).map(|(number, waiting)| Row::Message {
                number,
                round: round.clone(),
                agent: None,
                body: waiting.seq,
                at,
            });
            let agents = stages.concat();
            let opened = Row::Round {
                round,
                number: *number,
                take: *take,
                input: input.clone(),
                agents,
                at,
            };
            [opened].into_iter().chain(said).collect()
        }
        (Body::Round(RoundEvent::RoundClosed { outcome }), Some(round)) => {
            vec![Row::RoundEnd { round, outcome: *outcome, at }]
        }
        (Body::Turn(TurnEvent::TurnEnded { message_number: Some(number), .. }), Some(round)) => {
            let Some(id) = &event.place.turn else { return Vec::new() };
            let turn = session.round.as_ref().and_then(|open| open.find_turn(id));
            let agent = turn.map(|turn| (turn.agent.clone(), id.clone()));
            vec![Row::Message { number: *number, round, agent, body: event.seq, at }]
        }
        (Body::Context(ContextEvent::ContextRequested(request)), _) => {
            let (request, agent) = (request.id.clone(), request.agent.clone());
            vec![Row::Request { request, agent, body: event.seq, at }]
        }
        (Body::Context(ContextEvent::ContextProvided(result)), _) => {
            vec![Row::RequestGone { request: result.request.clone() }]
        }
        (Body::Context(ContextEvent::ContextWithdrawn { request }), _) => {
            vec![Row::RequestGone { request: request.clone() }]
        }
        _ => Vec::new(),
    }
}
