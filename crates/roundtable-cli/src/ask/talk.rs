//! One message and the round that it opens.

use std::collections::VecDeque;

use anyhow::Context as _;
use roundtable::core::MessageContext;
use roundtable::core::event::{Body, ContextEvent, Event, RoundEvent, SessionEvent, TurnOutcome};
use roundtable::core::event::{Task, TurnEvent};
use roundtable::core::id::RoundId;
use roundtable::core::input::{Command, Say};
use roundtable::core::message::Image;
use roundtable::driver::Update;
use roundtable::prelude::*;

use super::show::Show;
use crate::approval::{self, is_approval, is_decision};
use crate::prompt::Prompt;

/// How it ended.
pub(super) enum End {
    /// With an answer, and perhaps with questions of the agent.
    Answered { questions: Vec<ContextRequest> },
    /// Without one.
    Failed { error: String },
    /// It was stopped; the session goes on when it is continued.
    Stopped,
    /// A tool call waits for a decision, and nobody is there.
    Waits,
}

/// A session that is talked to.
pub(super) struct Talk {
    pub session: Session,
    pub show: Show,
    prompt: Prompt,
    /// The round that our message opened.
    round: Option<RoundId>,
    /// Calls that a person has to agree to, oldest first.
    approvals: VecDeque<ContextRequest>,
    questions: Vec<ContextRequest>,
    failed: Option<String>,
}

/// What is said to the agents.
pub(super) struct Said<'a> {
    /// Nothing decides what is pending, and lets the open round go on.
    pub text: Option<&'a str>,
    pub images: Vec<Image>,
}

impl Talk {
    pub fn new(session: Session, show: Show) -> Self {
        Self {
            session,
            show,
            prompt: Prompt::default(),
            round: None,
            approvals: VecDeque::new(),
            questions: Vec::new(),
            failed: None,
        }
    }

    /// Says something, and shows what comes of it.
    pub async fn say(&mut self, engine: &Engine, said: Said<'_>) -> anyhow::Result<End> {
        let Said { text, images } = said;
        let state = self.session.state().await?;
        let (decisions, asked): (Vec<_>, Vec<_>) =
            state.requests.into_iter().partition(is_decision);
        let mut updates = self.session.updates(Since::After(state.head)).await?;
        // Tool calls that wait are decided first: a text decides nothing.
        for request in &decisions {
            if !self.decide(request).await? {
                return Ok(End::Waits);
            }
        }
        let message_id = match (text, &state.round) {
            (Some(text), _) => {
                let message_id = format!("msg_{}", engine.driver().parts().ids.fresh());
                // What the agents ask comes first: the text is the answer.
                let results: Vec<ContextResult> =
                    asked.into_iter().map(|asked| ContextResult::found(asked.id, text)).collect();
                let context = MessageContext::new(&message_id, self.session.id(), None)?;
                let text = results.is_empty().then(|| text.to_owned());
                let say = Say { text, images, results, ..Say::new(context) };
                self.session.command(Command::Say(say)).await?;
                message_id
            }
            (None, Some(round)) => {
                self.round = Some(round.id.clone());
                let seat = round.turns.iter().find(|turn| turn.parent.is_none());
                seat.into_iter().for_each(|turn| self.show.joins(&turn.id));
                round.input.message_id().to_owned()
            }
            (None, None) => return Ok(self.end()),
        };
        loop {
            tokio::select! {
                biased;
                update = updates.next() => {
                    let update = update?;
                    self.show.update(&update);
                    let Update::Event(event) = update else { continue };
                    if self.is_over(&event, &message_id) {
                        return Ok(self.end());
                    }
                }
                line = self.prompt.line(), if !self.approvals.is_empty() => {
                    let line = line.context("reading the answer from standard input")?;
                    let Some(line) = line else { return Ok(End::Waits) };
                    self.answer(&line).await?;
                }
            }
        }
    }

    /// Takes an event in; true when there is nothing more to wait for.
    fn is_over(&mut self, event: &Event, message_id: &str) -> bool {
        match &event.body {
            Body::Round(RoundEvent::RoundOpened { input, .. })
                if input.message_id() == message_id =>
            {
                self.round.clone_from(&event.place.round);
            }
            Body::Context(ContextEvent::ContextRequested(request)) if is_approval(request) => {
                self.ask_approval(request.clone());
            }
            Body::Context(ContextEvent::ContextRequested(request)) => {
                self.questions.push(request.clone());
            }
            Body::Context(ContextEvent::ContextProvided(result)) => {
                self.approvals.retain(|request| request.id != result.request);
            }
            Body::Context(ContextEvent::ContextWithdrawn { request: withdrawn }) => {
                self.approvals.retain(|request| request.id != *withdrawn);
            }
            Body::Turn(event_body) if self.is_ours(event) => self.note_turn(event_body),
            Body::Round(RoundEvent::RoundClosed { .. }) => return self.is_ours(event),
            Body::Session(SessionEvent::SessionInputDropped { message_id: dropped }) => {
                let is_ours = dropped == message_id;
                if is_ours {
                    self.failed = Some("the session ended before it was its turn".to_owned());
                }
                return is_ours;
            }
            Body::Session(SessionEvent::SessionCompleted { .. }) => return true,
            _ => {}
        }
        false
    }

    fn is_ours(&self, event: &Event) -> bool {
        self.round.is_some() && event.place.round == self.round
    }

    fn note_turn(&mut self, event: &TurnEvent) {
        match event {
            TurnEvent::TurnStarted { task: Task::Seat { .. }, .. } => self.failed = None,
            TurnEvent::TurnStarted { .. } => {}
            // The seat's turn is the last one to end, whatever ended inside it.
            TurnEvent::TurnEnded { outcome, .. } => {
                self.failed = match outcome {
                    TurnOutcome::Answered => None,
                    TurnOutcome::Failed { error } => Some(error.clone()),
                    TurnOutcome::Cancelled => Some("it was stopped".to_owned()),
                    TurnOutcome::Exhausted { budget } => {
                        Some(format!("its budget of {} is spent", budget.word()))
                    }
                };
            }
        }
    }

    fn end(&mut self) -> End {
        match self.failed.take() {
            Some(error) => End::Failed { error },
            None => End::Answered { questions: std::mem::take(&mut self.questions) },
        }
    }

    fn ask_approval(&mut self, request: ContextRequest) {
        if !self.approvals.contains(&request) {
            self.show.approval(&request);
            self.approvals.push_back(request);
        }
    }

    async fn answer(&mut self, line: &str) -> anyhow::Result<()> {
        let Some(request) = self.approvals.front() else { return Ok(()) };
        let Some(decided) = approval::decided(request, line) else {
            self.show.undecided(request);
            return Ok(());
        };
        self.approvals.pop_front();
        self.session.provide(vec![decided]).await?;
        Ok(())
    }

    /// Asks until someone decides; false when nobody is there.
    async fn decide(&mut self, request: &ContextRequest) -> anyhow::Result<bool> {
        self.show.approval(request);
        loop {
            let line =
                self.prompt.line().await.context("reading the answer from standard input")?;
            let Some(line) = line else { return Ok(false) };
            if let Some(decided) = approval::decided(request, &line) {
                self.session.provide(vec![decided]).await?;
                return Ok(true);
            }
            self.show.undecided(request);
        }
    }
}
