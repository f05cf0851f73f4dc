//! Which message an event belongs to, and whose turn it is: a fold over the open scopes of a session.
//!
//! An event names its round, and the round's opening names the message. A reader that begins in the
//! middle of a round has not seen the opening: then the log is read backwards until it is found, and
//! forwards again from there. Nothing is guessed, and nothing is read that is not needed.

use std::collections::HashMap;
use std::sync::Arc;

use roundtable::Session;
use roundtable::core::MessageContext;
use roundtable::core::event::{
    Body, ContextEvent, Event, IterationEvent, RoundEvent, Seq, SessionEvent, Task, ToolCallEvent,
    TurnEvent,
};
use roundtable::core::id::{AgentId, ContextRequestId, IterationId, RoundId, ToolCallId, TurnId};

use crate::problem::Problem;

/// How many events are read at once while looking for an opening.
const PAGE: u64 = 256;

/// A round or an aside that is open.
#[derive(Debug, Clone)]
pub(crate) struct RoundScope {
    pub context: MessageContext,
    /// Its number; none for an aside.
    pub number: Option<u32>,
    pub take: u32,
    /// For each stage, whether its answers are messages.
    public: Vec<bool>,
}

/// A turn of an open round.
#[derive(Debug, Clone)]
pub(crate) struct TurnScope {
    round: RoundId,
    pub agent: AgentId,
    /// Who delegated it.
    pub parent: Option<AgentId>,
    /// Whether readers are shown what is said in it.
    pub is_shown: bool,
    /// The last words, and the event that has them.
    pub words: Option<(Seq, String)>,
}

/// What is known of the open scopes.
#[derive(Debug, Default)]
pub(crate) struct Scopes {
    rounds: HashMap<RoundId, RoundScope>,
    turns: HashMap<TurnId, TurnScope>,
    iterations: HashMap<IterationId, TurnId>,
    /// Tool calls, and the turns that asked for them.
    calls: HashMap<ToolCallId, TurnId>,
    /// Messages that wait for their rounds.
    inputs: HashMap<String, MessageContext>,
    /// Requests to the person. They can outlive their rounds.
    requests: HashMap<ContextRequestId, MessageContext>,
}

/// What an event needs that may lie before the place where a reader began.
enum Sought<'a> {
    Round(&'a RoundId),
    Request(&'a ContextRequestId),
    Input(&'a str),
}

impl Scopes {
    pub fn turn(&self, turn: Option<&TurnId>) -> Option<&TurnScope> {
        self.turns.get(turn?)
    }

    pub fn turn_of(&self, iteration: &IterationId) -> Option<(&TurnId, &TurnScope)> {
        let turn = self.iterations.get(iteration)?;
        Some((turn, self.turns.get(turn)?))
    }

    pub fn context_of(&self, turn: &TurnScope) -> Option<&MessageContext> {
        self.rounds.get(&turn.round).map(|round| &round.context)
    }

    pub fn round(&self, round: Option<&RoundId>) -> Option<&RoundScope> {
        self.rounds.get(round?)
    }

    /// The message that caused an event, if one did. Afterwards the scopes around the event are known.
    pub async fn enter(
        &mut self,
        session: &Session,
        event: &Event,
    ) -> Result<Option<MessageContext>, Problem> {
        let context = match self.find(event) {
            Ok(context) => context,
            Err(sought) => recall(self, session, event.seq, sought).await?,
        };
        self.note(event);
        Ok(context)
    }

    /// Makes an open round known to a reader who has all events before a place.
    pub async fn recall_round(
        &mut self,
        session: &Session,
        round: &RoundId,
        before: Seq,
    ) -> Result<(), Problem> {
        recall(self, session, before, Sought::Round(round)).await.map(|_| ())
    }

    /// The context of an event, or what has to be known for it.
    fn find<'a>(&self, event: &'a Event) -> Result<Option<MessageContext>, Sought<'a>> {
        match &event.body {
            Body::Session(
                SessionEvent::SessionInputAccepted(input) | SessionEvent::SessionInputEdited(input),
            ) => return Ok(Some(input.context.clone())),
            Body::Session(SessionEvent::SessionInputDropped { message_id, .. }) => {
                let known = self.inputs.get(message_id).cloned();
                return known.map(Some).ok_or(Sought::Input(message_id));
            }
            Body::Round(
                RoundEvent::RoundOpened { input, .. } | RoundEvent::RoundAsideOpened { input, .. },
            ) => return Ok(Some(input.clone())),
            Body::Context(ContextEvent::ContextProvided(result)) => {
                let known = self.requests.get(&result.request).cloned();
                return known.map(Some).ok_or(Sought::Request(&result.request));
            }
            Body::Context(ContextEvent::ContextWithdrawn { request }) => {
                let known = self.requests.get(request).cloned();
                return known.map(Some).ok_or(Sought::Request(request));
            }
            _ => {}
        }
        let Some(round) = &event.place.round else { return Ok(None) };
        let known = self.rounds.get(round).map(|scope| scope.context.clone());
        known.map(Some).ok_or(Sought::Round(round))
    }

    fn note(&mut self, event: &Event) {
        match &event.body {
            Body::Session(SessionEvent::SessionInputAccepted(input)) => {
                let id = input.context.message_id().to_owned();
                self.inputs.insert(id, input.context.clone());
            }
            Body::Round(body) => self.note_round(event, body),
            Body::Turn(TurnEvent::TurnStarted { agent, task }) => {
                self.note_turn(event, agent, task);
            }
            Body::Iteration(body) => self.note_iteration(event, body),
            Body::ToolCall(ToolCallEvent::ToolCallRequested { .. }) => {
                if let (Some(call), Some(turn)) = (&event.place.tool_call, &event.place.turn) {
                    self.calls.insert(call.clone(), turn.clone());
                }
            }
            Body::Context(ContextEvent::ContextRequested(request)) => {
                if let Some(scope) = self.round(event.place.round.as_ref()) {
                    self.requests.insert(request.id.clone(), scope.context.clone());
                }
            }
            _ => {}
        }
    }

    fn note_round(&mut self, event: &Event, body: &RoundEvent) {
        let Some(round) = &event.place.round else { return };
        let (context, number, take, stages) = match body {
            RoundEvent::RoundOpened { number, take, stages, input, .. } => {
                (input, Some(*number), *take, stages)
            }
            RoundEvent::RoundAsideOpened { take, stages, input, .. } => {
                (input, None, *take, stages)
            }
            RoundEvent::StagesAdded { stages, .. } => {
                if let Some(scope) = self.rounds.get_mut(round) {
                    scope.public.extend(stages.iter().map(|stage| stage.public));
                }
                return;
            }
            _ => return,
        };
        self.inputs.remove(context.message_id());
        let public = stages.iter().map(|stage| stage.public).collect();
        let scope = RoundScope { context: context.clone(), number, take, public };
        self.rounds.insert(round.clone(), scope);
    }

    fn note_turn(&mut self, event: &Event, agent: &AgentId, task: &Task) {
        let (Some(round), Some(turn)) = (&event.place.round, &event.place.turn) else { return };
        let asker = task.tool_call().and_then(|call| self.calls.get(call));
        let asker = asker.and_then(|turn| self.turns.get(turn));
        let (parent, is_shown) = match task {
            Task::Seat { stage, .. } => {
                let public = self.rounds.get(round).map(|scope| &scope.public);
                let shown = public.and_then(|public| public.get(*stage as usize).copied());
                (None, shown.unwrap_or(false))
            }
            Task::Delegated { .. } => {
                (asker.map(|turn| turn.agent.clone()), asker.is_some_and(|turn| turn.is_shown))
            }
            // What a tool asks for itself is no answer to anybody.
            Task::Nested { .. } => (asker.map(|turn| turn.agent.clone()), false),
        };
        let (round, agent) = (round.clone(), agent.clone());
        let scope = TurnScope { round, agent, parent, is_shown, words: None };
        self.turns.insert(turn.clone(), scope);
    }

    fn note_iteration(&mut self, event: &Event, body: &IterationEvent) {
        let (Some(turn), Some(iteration)) = (&event.place.turn, &event.place.iteration) else {
            return;
        };
        self.iterations.insert(iteration.clone(), turn.clone());
        let text = match body {
            IterationEvent::ModelCallFinished { text, .. } => text,
            IterationEvent::ModelCallCancelled { partial, .. } => partial,
            _ => return,
        };
        if let Some(scope) = self.turns.get_mut(turn) {
            scope.words = Some((event.seq, text.clone()));
        }
    }

    /// Forgets what an event closed.
    pub fn leave(&mut self, event: &Event) {
        match &event.body {
            Body::Session(SessionEvent::SessionInputDropped { message_id, .. }) => {
                self.inputs.remove(message_id);
            }
            Body::Iteration(IterationEvent::IterationClosed { .. }) => {
                if let Some(iteration) = &event.place.iteration {
                    self.iterations.remove(iteration);
                }
            }
            Body::Context(ContextEvent::ContextProvided(result)) => {
                self.requests.remove(&result.request);
            }
            Body::Context(ContextEvent::ContextWithdrawn { request }) => {
                self.requests.remove(request);
            }
            Body::Round(RoundEvent::RoundClosed { .. }) => {
                if let Some(round) = &event.place.round {
                    self.close(round);
                }
            }
            _ => {}
        }
    }

    fn close(&mut self, round: &RoundId) {
        self.rounds.remove(round);
        self.turns.retain(|_, turn| turn.round != *round);
        self.iterations.retain(|_, turn| self.turns.contains_key(turn));
        self.calls.retain(|_, turn| self.turns.contains_key(turn));
    }

    /// Folds the events from one place up to another, which is not folded.
    async fn replay(&mut self, session: &Session, from: Seq, end: Seq) -> Result<(), Problem> {
        let mut next = from;
        while next < end {
            let count = (end.0 - next.0).min(PAGE);
            let page = read(session, next, count).await?;
            let Some(last) = page.last() else { return Ok(()) };
            next = last.seq.next();
            for event in page.iter().filter(|event| event.seq < end) {
                self.note(event);
                self.leave(event);
            }
        }
        Ok(())
    }
}

/// Looks for what opened a scope, and for the message behind it.
async fn recall(
    scopes: &mut Scopes,
    session: &Session,
    before: Seq,
    sought: Sought<'_>,
) -> Result<Option<MessageContext>, Problem> {
    let Some(found) = find_before(session, before, |event| sought.is(event)).await? else {
        return Ok(None);
    };
    match (&found.body, &found.place.round) {
        (
            Body::Round(
                RoundEvent::RoundOpened { input, .. } | RoundEvent::RoundAsideOpened { input, .. },
            ),
            _,
        ) => {
            scopes.replay(session, found.seq, before).await?;
            Ok(Some(input.clone()))
        }
        (Body::Session(SessionEvent::SessionInputAccepted(input)), _) => {
            Ok(Some(input.context.clone()))
        }
        // A request, whose round may be over by now.
        (_, Some(round)) => {
            let is_opening = |event: &Event| Sought::Round(round).is(event);
            let opening = find_before(session, found.seq, is_opening).await?;
            Ok(opening.and_then(|opening| match &opening.body {
                Body::Round(
                    RoundEvent::RoundOpened { input, .. }
                    | RoundEvent::RoundAsideOpened { input, .. },
                ) => Some(input.clone()),
                _ => None,
            }))
        }
        _ => Ok(None),
    }
}

impl Sought<'_> {
    /// Whether an event opened what is sought.
    fn is(&self, event: &Event) -> bool {
        match (self, &event.body) {
            (
                Self::Round(round),
                Body::Round(RoundEvent::RoundOpened { .. } | RoundEvent::RoundAsideOpened { .. }),
            ) => event.place.round.as_ref() == Some(*round),
            (Self::Request(id), Body::Context(ContextEvent::ContextRequested(request))) => {
                request.id == **id
            }
            (Self::Input(id), Body::Session(SessionEvent::SessionInputAccepted(input))) => {
                input.context.message_id() == *id
            }
            _ => false,
        }
    }
}

/// The last event before a place that is what is sought, read backwards a page at a time.
async fn find_before(
    session: &Session,
    before: Seq,
    is_sought: impl Fn(&Event) -> bool,
) -> Result<Option<Arc<Event>>, Problem> {
    let mut end = before.0;
    while end > 1 {
        let from = end.saturating_sub(PAGE).max(1);
        let page = read(session, Seq(from), end - from).await?;
        if let Some(found) = page.iter().rev().find(|event| event.seq.0 < end && is_sought(event)) {
            return Ok(Some(found.clone()));
        }
        end = from;
    }
    Ok(None)
}

async fn read(session: &Session, from: Seq, count: u64) -> Result<Vec<Arc<Event>>, Problem> {
    let count = usize::try_from(count).unwrap_or(usize::MAX);
    Ok(session.read(from, count).await?)
}
