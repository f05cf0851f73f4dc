//! Events as rows that people and programs query. Backends only write them down.

use jiff::Timestamp;

use crate::agent::Agent;
use crate::audience::Audience;
use crate::budget::Spend;
use crate::event::{
    Body, ContextEvent, Event, IterationEvent, MessageRef, RoundEvent, RoundOutcome, Seq,
    SessionEvent, TurnEvent,
};
use crate::id::{AgentId, ContextRequestId, IterationId, RoundId, TurnId};
use crate::live::Live;
use crate::message_context::MessageContext;
use crate::session::{Session, Status};
use crate::stage::Name;
use crate::stage::Stage;

/// The kind of sessions that keep one request of a program. Lists leave them out unless they are
/// asked for this kind.
pub const COMPLETION: Name = Name::constant("completion");

/// A session, as a list shows it, and as a scheduler finds what is due.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Summary {
    /// What kind of session it is.
    pub kind: Name,
    /// What lists call it: its title, or its topic where it has none.
    pub topic: String,
    /// Whether lists leave it out unless they are asked for archived sessions.
    pub archived: bool,
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
            kind: session.kind.clone(),
            topic: session.title().to_owned(),
            archived: session.archived,
            tenant: session.tenant.clone(),
            status: session.status,
            rounds_completed: session.rounds_completed,
            current_round: session.current_round(),
            has_work: session.has_work(),
            wake_at: session.wake_at(),
        }
    }
}

/// Who received a message.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Receivers {
    /// Which agents; everyone, where it says nothing.
    pub agents: Option<Audience>,
    /// Whether it was meant for certain agents: a whisper, or an answer that a seat narrows. Who is
    /// present does not make it one: people read what is said among those present.
    pub is_whisper: bool,
}

impl Receivers {
    /// Nobody, for a message of which it is not known.
    pub fn nobody() -> Self {
        Self { agents: Some(Audience::default()), is_whisper: true }
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
    /// More agents answer in a round.
    Seats {
        /// Its id.
        round: RoundId,
        /// Who.
        agents: Vec<AgentId>,
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
    /// A message: key is its number. Its text is stored once, in the event `body`.
    Message {
        /// Its number in the session.
        number: u64,
        /// The round that it belongs to.
        round: RoundId,
        /// The turn whose words it has; none for an input.
        turn: Option<TurnId>,
        /// The event that has the text.
        body: Seq,
        /// Who received it.
        receivers: Receivers,
        /// When.
        at: Timestamp,
    },
    /// An agent's name: key is its id.
    Agent {
        /// Its id.
        agent: AgentId,
        /// Its name.
        name: String,
    },
    /// Whether a take of a round counts.
    Take {
        /// The round's number.
        number: u32,
        /// The take.
        take: u32,
        /// Whether it counts; if it does, no other take of the round does.
        active: bool,
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
    /// Who opened the session. What it spends counts against this actor's limits.
    Opened {
        /// The actor.
        actor: Option<String>,
    },
    /// A model call may spend this much. Key is the iteration; a later one replaces an earlier one.
    Reservation {
        /// Whose call it is.
        iteration: IterationId,
        /// The most that it can cost.
        amount: Spend,
    },
    /// A model call is over, so its reservation is gone.
    ReservationGone {
        /// Whose call it was.
        iteration: IterationId,
    },
}

/// The rows that an event makes. `live` has applied it, and nothing after it but what was decided with
/// it: it knows who received a message.
pub fn rows(event: &Event, live: &Live) -> Vec<Row> {
    match &event.body {
        Body::Session(body) => session_rows(body),
        Body::Round(body) => round_rows(body, event, live),
        Body::Turn(body) => turn_rows(body, event, live),
        Body::Context(body) => request_rows(body, event),
        Body::Iteration(body) => reservation_rows(body, event),
        Body::ToolCall(_) | Body::Unknown { .. } | Body::Redacted => Vec::new(),
    }
}

fn session_rows(body: &SessionEvent) -> Vec<Row> {
    let named = |agents: &[Agent]| {
        agents
            .iter()
            .map(|agent| Row::Agent { agent: agent.id.clone(), name: agent.name.clone() })
            .collect()
    };
    match body {
        SessionEvent::SessionOpened(opening) => {
            let mut rows: Vec<Row> = named(&opening.agents);
            rows.push(Row::Opened { actor: opening.actor.clone() });
            rows
        }
        SessionEvent::SessionForked { agents, .. } => named(agents),
        SessionEvent::SessionRoundSuperseded { number, take, .. } => {
            vec![Row::Take { number: *number, take: *take, active: false }]
        }
        SessionEvent::SessionTakeSelected { number, take } => {
            vec![Row::Take { number: *number, take: *take, active: true }]
        }
        _ => Vec::new(),
    }
}

fn round_rows(body: &RoundEvent, event: &Event, live: &Live) -> Vec<Row> {
    let (Some(round), at) = (event.place.round.clone(), event.at) else { return Vec::new() };
    match body {
        RoundEvent::RoundOpened { number, take, stages, input, said, .. } => {
            let message = said.map(|MessageRef { number, seq }| Row::Message {
                number,
                round: round.clone(),
                turn: None,
                body: seq,
                receivers: live.window.receivers(&round, None),
                at,
            });
            let agents = stages.iter().flat_map(Stage::agents).cloned().collect();
            let opened = Row::Round {
                round,
                number: *number,
                take: *take,
                input: input.clone(),
                agents,
                at,
            };
            [opened].into_iter().chain(message).collect()
        }
        RoundEvent::StagesAdded { stages, .. } => {
            let agents = stages.iter().flat_map(Stage::agents).cloned().collect();
            vec![Row::Seats { round, agents }]
        }
        // What is done beside the rounds is no row of its own.
        RoundEvent::RoundAsideOpened { .. }
        | RoundEvent::JobStarted { .. }
        | RoundEvent::JobFinished { .. } => Vec::new(),
        RoundEvent::RoundClosed { outcome, .. } => {
            vec![Row::RoundEnd { round, outcome: *outcome, at }]
        }
    }
}

fn turn_rows(body: &TurnEvent, event: &Event, live: &Live) -> Vec<Row> {
    let (Some(round), Some(turn)) = (event.place.round.clone(), event.place.turn.clone()) else {
        return Vec::new();
    };
    match body {
        TurnEvent::TurnStarted { .. } => Vec::new(),
        TurnEvent::TurnEnded { said, .. } => {
            let receivers = live.window.receivers(&round, Some(&turn));
            let message = said.map(|MessageRef { number, seq }| Row::Message {
                number,
                round,
                turn: Some(turn),
                body: seq,
                receivers,
                at: event.at,
            });
            message.into_iter().collect()
        }
    }
}

fn reservation_rows(body: &IterationEvent, event: &Event) -> Vec<Row> {
    let Some(iteration) = event.place.iteration.clone() else { return Vec::new() };
    match body {
        IterationEvent::ModelCallStarted { reserved, .. } => {
            vec![Row::Reservation { iteration, amount: *reserved }]
        }
        IterationEvent::ModelCallFinished { .. }
        | IterationEvent::ModelCallFailed { .. }
        | IterationEvent::ModelCallCancelled { .. }
        | IterationEvent::ModelCallInterrupted { .. } => vec![Row::ReservationGone { iteration }],
        IterationEvent::IterationOpened { .. }
        | IterationEvent::ModelCallRetried { .. }
        | IterationEvent::IterationClosed { .. } => Vec::new(),
    }
}

fn request_rows(body: &ContextEvent, event: &Event) -> Vec<Row> {
    match body {
        ContextEvent::ContextRequested(request) => {
            let (id, agent) = (request.id.clone(), request.agent.clone());
            vec![Row::Request { request: id, agent, body: event.seq, at: event.at }]
        }
        ContextEvent::ContextProvided(result) => {
            vec![Row::RequestGone { request: result.request.clone() }]
        }
        ContextEvent::ContextWithdrawn { request } => {
            vec![Row::RequestGone { request: request.clone() }]
        }
    }
}
