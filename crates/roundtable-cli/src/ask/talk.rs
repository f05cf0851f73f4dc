//! One message and the round that it opens.

use std::collections::VecDeque;

use anyhow::Context as _;
use roundtable::core::event::{Body, ContextEvent, Event, TurnOutcome};
use roundtable::core::id::ContextRequestId;
use roundtable::core::input::{Command, Say};
use roundtable::core::message::Image;
use roundtable::core::session::Status;
use roundtable::core::window::RoundRecord;
use roundtable::core::{Live, MessageContext};
use roundtable::debate::Spent;
use roundtable::driver::Update;
use roundtable::prelude::*;
use roundtable::{Keep, Reader};

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
    /// Calls that a person has to agree to, oldest first.
    approvals: VecDeque<ContextRequest>,
    /// What the session had spent before.
    pub before: Spent,
}

/// What is said to the agents.
pub(super) struct Input<'a> {
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
            approvals: VecDeque::new(),
            before: Spent::default(),
        }
    }

    /// Says something, and shows what comes of it.
    pub async fn say(&mut self, engine: &Engine, said: Input<'_>) -> anyhow::Result<End> {
        let Input { text, images } = said;
        let mut reader = Reader::open(&self.session, Keep::Window).await?;
        let state = reader.now().session.clone();
        self.before = Spent::of(&state.account);
        let (decisions, asked): (Vec<_>, Vec<_>) =
            state.requests.into_iter().partition(is_decision);
        // Tool calls that wait are decided first: a text decides nothing.
        for request in &decisions {
            if !self.decide(request).await? {
                return Ok(End::Waits);
            }
        }
        let (message_id, since) = match (text, &state.round) {
            (Some(text), _) => {
                let message_id = format!("msg_{}", engine.driver().parts().ids.fresh());
                // What the agents ask comes first: the text is the answer.
                let results: Vec<ContextResult> =
                    asked.into_iter().map(|asked| ContextResult::found(asked.id, text)).collect();
                let context = MessageContext::new(&message_id, self.session.id(), None)?;
                let text = results.is_empty().then(|| text.to_owned());
                let say = Say { text, images, results, ..Say::new(context) };
                (message_id, self.session.command(Command::Say(say)).await?.seq)
            }
            (None, Some(round)) => {
                let seat = round.turns.iter().find(|turn| turn.parent.is_none());
                seat.into_iter().for_each(|turn| self.show.joins(&turn.id));
                (round.input.message_id().to_owned(), state.head)
            }
            (None, None) => return Ok(End::Answered { questions: Vec::new() }),
        };
        loop {
            tokio::select! {
                biased;
                update = reader.next() => {
                    let update = update?;
                    self.show.update(&update);
                    let Update::Event(event) = update else { continue };
                    self.note_approvals(&event);
                    let is_known = reader.now().session.head >= since;
                    if let Some(end) = find_end(reader.now(), &message_id).filter(|_| is_known) {
                        return Ok(end);
                    }
                }
                line = self.prompt.line(), if !self.approvals.is_empty() => {
                    let line = line.context("cannot read the answer from standard input")?;
                    let Some(line) = line else { return Ok(End::Waits) };
                    self.answer(&line).await?;
                }
            }
        }
    }

    fn note_approvals(&mut self, event: &Event) {
        match &event.body {
            Body::Context(ContextEvent::ContextRequested(request)) if is_approval(request) => {
                self.ask_approval(request.clone());
            }
            Body::Context(ContextEvent::ContextProvided(result)) => {
                let id = result.request.clone();
                self.forget(&id);
            }
            Body::Context(ContextEvent::ContextWithdrawn { request: withdrawn }) => {
                self.forget(withdrawn);
            }
            _ => {}
        }
    }

    fn ask_approval(&mut self, request: ContextRequest) {
        if !self.approvals.contains(&request) {
            // One at a time: whoever answers has to know what is answered.
            if self.approvals.is_empty() {
                self.show.approval(&request);
            }
            self.approvals.push_back(request);
        }
    }

    /// Forgets a request that is over, and shows the next one if it was its turn.
    fn forget(&mut self, id: &ContextRequestId) {
        let front = self.approvals.front().map(|request| request.id.clone());
        self.approvals.retain(|request| request.id != *id);
        if let (true, Some(next)) = (front.as_ref() == Some(id), self.approvals.front()) {
            self.show.approval(next);
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
        if let Some(next) = self.approvals.front() {
            self.show.approval(next);
        }
        Ok(())
    }

    /// Asks until someone decides; false when nobody is there.
    async fn decide(&mut self, request: &ContextRequest) -> anyhow::Result<bool> {
        self.show.approval(request);
        loop {
            let line =
                self.prompt.line().await.context("cannot read the answer from standard input")?;
            let Some(line) = line else { return Ok(false) };
            if let Some(decided) = approval::decided(request, &line) {
                self.session.provide(vec![decided]).await?;
                return Ok(true);
            }
            self.show.undecided(request);
        }
    }
}

/// How it ended for a message, once there is nothing more to wait for.
fn find_end(live: &Live, message_id: &str) -> Option<End> {
    let session = &live.session;
    let waits = session.waiting.iter().any(|one| one.context.message_id() == message_id);
    if waits && session.status != Status::Completed {
        return None;
    }
    let own = |round: &&RoundRecord| round.context.message_id() == message_id;
    let Some(round) = live.window.rounds().rev().find(own) else {
        return Some(End::Failed {
            error: "the session ended before the message was answered".to_owned(),
        });
    };
    round.outcome?;
    Some(match round.turns.last().and_then(|turn| failure(turn.outcome.as_ref()?)) {
        Some(error) => End::Failed { error },
        None => {
            let questions = round.requests.iter().filter(|request| !is_approval(request));
            End::Answered { questions: questions.cloned().collect() }
        }
    })
}

fn failure(outcome: &TurnOutcome) -> Option<String> {
    match outcome {
        TurnOutcome::Answered => None,
        TurnOutcome::Failed { error } => Some(error.clone()),
        TurnOutcome::Cancelled => Some("it was stopped".to_owned()),
        TurnOutcome::Exhausted { budget } => {
            Some(format!("its budget of {} is exhausted", budget.word()))
        }
    }
}
