//! A debate, round by round: what happens is shown, what is asked is put to the person.

use std::collections::VecDeque;

use anyhow::Context as _;
use roundtable::Reader;
use roundtable::core::budget::Limits;
use roundtable::core::context_request::Priority;
use roundtable::core::event::{Body, ContextEvent, Event, RoundEvent, Seq, SessionEvent};
use roundtable::core::id::ContextRequestId;
use roundtable::core::required_context;
use roundtable::core::session::Status;
use roundtable::debate::{Findings, RoundStatus};
use roundtable::driver::Update;
use roundtable::prelude::*;

use super::show::Show;
use crate::approval;
use crate::prompt::Prompt;

/// How it ended.
pub(super) enum End {
    /// With what the debate came to.
    Over,
    /// Somebody has to answer first.
    Waits,
    /// Nobody could answer in a round.
    Failed { error: String },
}

/// A debate that is held.
pub(super) struct Hold {
    pub debate: Debate,
    pub show: Show,
    prompt: Prompt,
    /// Calls that a person has to agree to, oldest first.
    approvals: VecDeque<ContextRequest>,
    /// What the command line says: an answer, if one is asked for, else what the next round is about.
    text: Option<String>,
    /// What the whole debate may spend from the next round on, if that changes.
    budget: Option<Limits>,
    /// What happened up to here is told, not asked.
    past: Seq,
}

impl Hold {
    pub fn new(debate: Debate, show: Show, text: Option<String>) -> Self {
        let prompt = Prompt::default();
        let (approvals, past) = (VecDeque::new(), Seq(0));
        Self { debate, show, prompt, approvals, text, budget: None, past }
    }

    /// The same with another budget for the whole debate.
    pub fn with_budget(self, budget: Option<Limits>) -> Self {
        Self { budget, ..self }
    }

    /// Goes on with a debate: joins the round that is running, or begins the next.
    pub async fn resume(&mut self) -> anyhow::Result<End> {
        let state = self.debate.session().state().await?;
        let running = state.round.as_ref().map(|round| round.number);
        let first = running.unwrap_or_else(|| state.next_number());
        self.show.going_on(first, state.head);
        self.past = state.head;
        let mut reader = Reader::replay(self.debate.session()).await?;
        // Who takes part is known before anything is asked.
        while reader.now().session.head < state.head {
            self.next(&mut reader, first).await?;
        }
        if let Some(request) = self.approvals.front() {
            self.show.approval(request);
        }
        if running.is_some() {
            return self.run(reader, first).await;
        }
        if state.last_number == 0 {
            let focus = self.text.take().or(Some(state.topic));
            let wish = ContinueRequest {
                focus,
                after_round: Some(0),
                budget: self.budget,
                ..ContinueRequest::default()
            };
            let begun = self.debate.continue_round(wish).await?;
            return self.run(reader, begun.number).await;
        }
        let findings = self.debate.findings(Some(state.last_number)).await?;
        match self.next_round(&findings, &reader).await? {
            Some(number) => self.run(reader, number).await,
            None => Ok(End::Waits),
        }
    }

    /// Shows what happens next; true when the round is over, or the session before it.
    async fn next(&mut self, reader: &mut Reader, number: u32) -> anyhow::Result<bool> {
        let update = reader.next().await?;
        self.show.update(&update, reader.now());
        let Update::Event(event) = update else { return Ok(false) };
        Ok(self.note_event(&event, number, reader))
    }

    /// Shows a debate from its first round on.
    pub async fn watch(&mut self) -> anyhow::Result<End> {
        let reader = Reader::replay(self.debate.session()).await?;
        self.run(reader, 1).await
    }

    /// Shows a round, and lets the next one follow, until the debate is over or waits for someone.
    async fn run(&mut self, mut reader: Reader, first: u32) -> anyhow::Result<End> {
        let mut number = first;
        loop {
            if !self.until_closed(&mut reader, number).await? {
                self.show.note("No decision; the tool was not called and the request stays open.");
                return Ok(End::Waits);
            }
            let record = self.debate.record().await?;
            let Some(findings) = record.findings(number) else { return Ok(End::Over) };
            match findings.status {
                RoundStatus::Failed => return Ok(End::Failed { error: failure(&findings) }),
                RoundStatus::Completed => {
                    self.show.round(&record, &findings);
                    self.until_completed(&mut reader).await?;
                    return Ok(End::Over);
                }
                _ => self.show.round(&record, &findings),
            }
            match self.next_round(&findings, &reader).await? {
                Some(next) => number = next,
                None => return Ok(End::Waits),
            }
        }
    }

    /// Begins the round after this one with what was asked for; nothing when nobody answers.
    async fn next_round(
        &mut self,
        findings: &Findings,
        reader: &Reader,
    ) -> anyhow::Result<Option<u32>> {
        let mut results = Vec::new();
        if !self.answer_all(&findings.requests, &mut results, reader).await? && !results.is_empty()
        {
            // What was answered is not asked again.
            self.debate.provide(std::mem::take(&mut results)).await?;
        }
        let wish = ContinueRequest {
            focus: self.text.take(),
            results,
            after_round: Some(findings.number),
            budget: self.budget.take(),
            ..ContinueRequest::default()
        };
        // Whether it may go on is not decided here: someone else may have answered meanwhile.
        let begun = match self.debate.continue_round(wish).await {
            Err(refused) if !refused.missing_context().is_empty() => {
                let what = required_context(refused.missing_context(), approval::HOW_TO_ANSWER);
                self.show.note(&format!("\n{what}"));
                return Ok(None);
            }
            begun => begun?,
        };
        begun.warnings.iter().for_each(|warning| self.show.note(warning));
        Ok(Some(begun.number))
    }

    /// Whether everything is answered that has to be.
    async fn answer_all(
        &mut self,
        requests: &[ContextRequest],
        results: &mut Vec<ContextResult>,
        reader: &Reader,
    ) -> anyhow::Result<bool> {
        let questions = requests.iter().any(|request| !approval::is_decision(request));
        let said = if questions { self.text.take() } else { None };
        for (index, request) in requests.iter().enumerate() {
            let id = request.id.clone();
            if approval::is_decision(request) {
                self.show.approval(request);
                match self.decision(request).await? {
                    Some(decided) => results.push(decided),
                    None => return Ok(false),
                }
                continue;
            }
            if let Some(text) = &said {
                results.push(ContextResult::found(id, text));
                continue;
            }
            self.show.question(request, reader.now());
            let line =
                self.prompt.line().await.context("cannot read the answer from standard input")?;
            match line {
                Some(line) if line.is_empty() => {
                    results.push(ContextResult::not_found(id, "not available"));
                }
                Some(line) => results.push(ContextResult::found(id, line)),
                None => return Ok(!requests[index..].iter().any(is_required)),
            }
        }
        Ok(true)
    }

    /// Asks until someone decides; nothing when nobody is there.
    async fn decision(
        &mut self,
        request: &ContextRequest,
    ) -> anyhow::Result<Option<ContextResult>> {
        loop {
            let line =
                self.prompt.line().await.context("cannot read the answer from standard input")?;
            let Some(line) = line else { return Ok(None) };
            if let Some(decided) = approval::decided(request, &line) {
                return Ok(Some(decided));
            }
            self.show.undecided(request);
        }
    }

    /// Shows a round until it is over; false when it waits for a decision and nobody is there.
    async fn until_closed(&mut self, reader: &mut Reader, number: u32) -> anyhow::Result<bool> {
        loop {
            tokio::select! {
                biased;
                update = reader.next() => {
                    let update = update?;
                    self.show.update(&update, reader.now());
                    let Update::Event(event) = update else { continue };
                    if self.note_event(&event, number, reader) {
                        return Ok(true);
                    }
                }
                line = self.prompt.line(), if !self.approvals.is_empty() => {
                    let line = line.context("cannot read the answer from standard input")?;
                    let Some(line) = line else { return Ok(false) };
                    let Some(request) = self.approvals.front().cloned() else { continue };
                    let Some(decided) = approval::decided(&request, &line) else {
                        self.show.undecided(&request);
                        continue;
                    };
                    self.approvals.pop_front();
                    let receipt = self.debate.provide(vec![decided]).await?;
                    match self.approvals.front() {
                        Some(next) => self.show.approval(next),
                        None => self.show.answered(),
                    }
                    receipt.warnings.iter().for_each(|warning| self.show.note(warning));
                }
            }
        }
    }

    async fn until_completed(&mut self, reader: &mut Reader) -> anyhow::Result<()> {
        while reader.now().session.status != Status::Completed {
            let update = reader.next().await?;
            self.show.update(&update, reader.now());
        }
        Ok(())
    }

    /// Forgets a request that is over, and asks the next one if it was its turn.
    fn forget(&mut self, id: &ContextRequestId, seq: Seq) {
        let front = self.approvals.front().map(|request| request.id.clone());
        self.approvals.retain(|request| request.id != *id);
        if front.as_ref() != Some(id) || seq <= self.past {
            return;
        }
        match self.approvals.front() {
            Some(next) => self.show.approval(next),
            None => self.show.answered(),
        }
    }

    /// Takes an event in; true when the round is over, or the session before it.
    fn note_event(&mut self, event: &Event, number: u32, reader: &Reader) -> bool {
        match &event.body {
            Body::Round(RoundEvent::RoundClosed { .. }) => {
                let last = reader.now().window.rounds().next_back();
                let last = last.filter(|last| last.number == number).map(|last| &last.id);
                return last.is_some() && event.place.round.as_ref() == last;
            }
            Body::Context(ContextEvent::ContextRequested(request))
                if approval::is_approval(request) =>
            {
                // One at a time: whoever answers has to know what is answered.
                if event.seq > self.past && self.approvals.is_empty() {
                    self.show.approval(request);
                }
                self.approvals.push_back(request.clone());
            }
            Body::Context(ContextEvent::ContextProvided(result)) => {
                let id = result.request.clone();
                self.forget(&id, event.seq);
            }
            Body::Context(ContextEvent::ContextWithdrawn { request: withdrawn }) => {
                self.forget(withdrawn, event.seq);
            }
            Body::Session(SessionEvent::SessionCompleted { .. }) => return true,
            _ => {}
        }
        false
    }
}

fn is_required(request: &ContextRequest) -> bool {
    request.priority == Priority::Required
}

/// Why nobody could answer: what the first one says.
fn failure(findings: &Findings) -> String {
    let mut failures = findings
        .responses
        .iter()
        .filter_map(|response| Some(format!("{}: {}", response.name, response.error.as_ref()?)));
    failures.next().unwrap_or_else(|| "nobody answered".to_owned())
}
