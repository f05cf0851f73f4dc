//! Events as rows that people and programs query. Backends only write them down.

use jiff::Timestamp;

use crate::event::{Body, ContextEvent, Event, RoundEvent, RoundOutcome, Seq, TurnEvent};
use crate::id::{AgentId, ContextRequestId, RoundId, ToolCallId, TurnId};
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
    /// A turn: key is its id.
    Turn {
        /// Its id.
        turn: TurnId,
        /// The round that it belongs to.
        round: RoundId,
        /// Whose turn it is.
        agent: AgentId,
        /// The tool call that waits for it.
        parent: Option<ToolCallId>,
        /// When it began.
        at: Timestamp,
    },
    /// A message: key is its number.
    Message {
        /// Its number in the session.
        number: u64,
        /// The round that it belongs to.
        round: RoundId,
        /// Whose words they are.
        words: Words,
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

/// Where a message's text is. It is stored once, in an event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Words {
    /// In the event that accepted an input.
    Input(Seq),
    /// In the last reply of this turn.
    Answer(TurnId),
}

/// The rows that an event makes.
pub fn rows(event: &Event) -> Vec<Row> {
    let at = event.at;
    let Some(round) = event.place.round.clone() else { return request_rows(event) };
    match &event.body {
        Body::Round(RoundEvent::RoundOpened { number, take, stages, input, said }) => {
            let message = said.map(|said| Row::Message {
                number: said.number,
                round: round.clone(),
                words: Words::Input(said.seq),
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
            [opened].into_iter().chain(message).collect()
        }
        Body::Round(RoundEvent::RoundClosed { outcome }) => {
            vec![Row::RoundEnd { round, outcome: *outcome, at }]
        }
        Body::Turn(TurnEvent::TurnStarted { agent, task }) => {
            let Some(turn) = event.place.turn.clone() else { return Vec::new() };
            vec![Row::Turn {
                turn,
                round,
                agent: agent.clone(),
                parent: task.tool_call().cloned(),
                at,
            }]
        }
        Body::Turn(TurnEvent::TurnEnded { message_number: Some(number), .. }) => {
            let Some(turn) = event.place.turn.clone() else { return Vec::new() };
            vec![Row::Message { number: *number, round, words: Words::Answer(turn), at }]
        }
        _ => request_rows(event),
    }
}

fn request_rows(event: &Event) -> Vec<Row> {
    let Body::Context(body) = &event.body else { return Vec::new() };
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
