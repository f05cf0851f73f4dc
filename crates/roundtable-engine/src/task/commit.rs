//! Decide and commit: envelopes in, one append, answers out. Nobody hears of anything before it is
//! in the log.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use roundtable_core::budget::Spend;
use roundtable_core::digest::Digest;
use roundtable_core::event::{Event, NestedPrompt, Origin, Seq};
use roundtable_core::id::{CommandId, IterationId};
use roundtable_core::input::{Command, Env, Input, OnBusy, Report};
use roundtable_core::projection::{Row, Summary, rows};
use roundtable_core::{Live, Reject};
use roundtable_ports::{
    Batch, CommandKey, CommandRecord, EvaluateError, Evaluation, LogError, Receipt,
};

use super::envelope::{Asker, Envelope, Reply, Waiter};
use super::{SessionTask, load};
use crate::error::EngineError;

/// How often a commit that failed is decided anew.
const TRIES: u32 = 5;

/// What a batch of envelopes comes to, before it is committed.
#[derive(Default)]
struct StagedBatch {
    events: Vec<Arc<Event>>,
    rows: Vec<Row>,
    commands: Vec<CommandRecord>,
    origin: Option<Origin>,
    /// How much the account went up.
    spent: Spend,
    answers: Vec<Answer>,
}

/// What a envelope will be answered, once the batch is committed.
enum Answer {
    Nothing,
    Command(Result<Receipt, EngineError>),
    Report(Result<(), Reject>),
}

/// Envelopes that were not committed, and why.
pub(super) struct Failed {
    pub envelopes: Vec<Envelope>,
    pub error: EngineError,
    /// Whether the state in memory is what the log says, so that trying again makes sense.
    pub fresh: bool,
}

impl SessionTask<'_> {
    /// Decides on envelopes one after another and commits them together. If the commit fails, the
    /// decisions are dropped and taken again on what the log says now.
    pub(super) async fn try_commit(&mut self, envelopes: Vec<Envelope>) -> Result<(), Failed> {
        let mut failure = EngineError::Stopping;
        let mut unsure = Vec::new();
        for attempt in 0..TRIES {
            let expect = self.live.session.head;
            let mut staged = StagedBatch::default();
            for envelope in &envelopes {
                let answer = self.decide(envelope, &mut staged).await;
                staged.answers.push(answer);
            }
            let expect = staged.origin.as_ref().map_or(expect, |origin| origin.seq);
            match self.commit(expect, &staged).await {
                Ok(()) => {
                    self.deliver(envelopes, staged).await;
                    return Ok(());
                }
                Err(error) if error.is_transient() => {
                    failure = error.into();
                    unsure.push(staged);
                    tokio::time::sleep(Duration::from_millis(10 << attempt)).await;
                    match self.reload(&mut unsure).await {
                        Ok(None) => {}
                        Ok(Some(committed)) => {
                            self.deliver(envelopes, committed).await;
                            return Ok(());
                        }
                        Err(error) => return Err(Failed { envelopes, error, fresh: false }),
                    }
                }
                Err(error) => return Err(Failed { envelopes, error: error.into(), fresh: false }),
            }
        }
        Err(Failed { envelopes, error: failure, fresh: true })
    }

    /// Reads the session again after a commit that failed, and finds out whether one of those that
    /// failed is in the log after all: the answer of the store may have been lost, and what is
    /// done is not done again.
    async fn reload(
        &mut self,
        unsure: &mut Vec<StagedBatch>,
    ) -> Result<Option<StagedBatch>, EngineError> {
        let parts = self.engine.parts();
        let store = &parts.store;
        self.live = load::read(parts, &self.session, &self.session, Seq(u64::MAX)).await?;
        for (index, staged) in unsure.iter().enumerate() {
            let Some(first) = staged.events.first() else { continue };
            let found = store.log.read(&self.session, first.seq, staged.events.len()).await?;
            if found == staged.events {
                store.bell.ring(&self.session).await;
                return Ok(Some(unsure.swap_remove(index)));
            }
        }
        Ok(None)
    }

    async fn decide(&mut self, envelope: &Envelope, staged: &mut StagedBatch) -> Answer {
        match envelope {
            Envelope::Command { command, key, .. } => {
                Answer::Command(self.decide_command(command, key.as_ref(), staged).await)
            }
            Envelope::Report { report, partials } => {
                let partials = partials.clone();
                let partials = partials.unwrap_or_else(|| self.speech.all_but(whole(report)));
                let env = self.env(Some(partials));
                Answer::Report(self.step(report, &env, staged))
            }
            Envelope::Commit { report, .. } => {
                let env = self.env(Some(BTreeMap::new()));
                Answer::Report(self.step(report, &env, staged))
            }
            Envelope::Evaluate { tool_call, ordinal, prompt, .. } => {
                let report = Report::Evaluate {
                    tool_call: tool_call.clone(),
                    ordinal: *ordinal,
                    prompt: NestedPrompt::clone(prompt),
                };
                let env = self.env(None);
                Answer::Report(self.step(&report.into(), &env, staged))
            }
            Envelope::Wake if self.live.session.opened => {
                let env = self.env(None);
                Answer::Report(self.step(&Report::Woke.into(), &env, staged))
            }
            Envelope::Wake | Envelope::Idle | Envelope::Discard | Envelope::Look(_) => {
                Answer::Nothing
            }
        }
    }

    async fn decide_command(
        &mut self,
        command: &Arc<Command>,
        key: Option<&CommandKey>,
        staged: &mut StagedBatch,
    ) -> Result<Receipt, EngineError> {
        if self.is_draining() {
            return Err(EngineError::Stopping);
        }
        let id = key.map(|key| &key.id);
        let digest = key.map(|key| digest_of(key, command));
        if let Some(recorded) = self.find_command(id, staged).await? {
            if Some(&recorded.digest) != digest.as_ref() {
                return Err(EngineError::CommandReused { id: recorded.id });
            }
            return Ok(recorded.receipt);
        }
        if let Command::Fork { origin, .. } = &**command {
            self.inherit(origin).await?;
            staged.origin = Some(origin.clone());
        }
        let after = self.live.session.head;
        let warnings = self.warnings(command);
        let env = self.env(None);
        if let Err(reject) = self.step(&Input::Command(command.clone()), &env, staged) {
            if staged.origin.take().is_some() {
                self.live = Live::new(self.session.clone(), &self.engine.parts().programs);
            }
            return Err(reject.into());
        }
        let receipt = Receipt { after, seq: self.live.session.head, warnings };
        if let (Some(id), Some(digest)) = (id, digest) {
            staged.commands.push(CommandRecord {
                id: id.clone(),
                digest,
                receipt: receipt.clone(),
            });
        }
        Ok(receipt)
    }

    async fn find_command(
        &self,
        id: Option<&CommandId>,
        staged: &StagedBatch,
    ) -> Result<Option<CommandRecord>, LogError> {
        let Some(id) = id else { return Ok(None) };
        if let Some(record) = staged.commands.iter().find(|record| record.id == *id) {
            return Ok(Some(record.clone()));
        }
        self.engine.parts().store.log.find_command(&self.session, id).await
    }

    fn warnings(&self, command: &Command) -> Vec<String> {
        let (results, interrupts) = match command {
            Command::Say(say) => (&say.results, say.on_busy == OnBusy::Interrupt),
            Command::Provide(results) => (results, false),
            _ => return Vec::new(),
        };
        self.live.session.result_warnings(results, interrupts)
    }

    fn step(&mut self, input: &Input, env: &Env, staged: &mut StagedBatch) -> Result<(), Reject> {
        let before = self.live.session.account.spent;
        let events = self.live.step(input, env, self.starts())?;
        staged.rows.extend(events.iter().flat_map(|event| rows(event, &self.live)));
        staged.events.extend(events.into_iter().map(Arc::new));
        let amount = self.live.session.account.spent.minus(before);
        staged.spent = staged.spent.plus(amount);
        Ok(())
    }

    fn env(&self, partials: Option<BTreeMap<IterationId, String>>) -> Env {
        let partials = partials.unwrap_or_else(|| self.speech.all_but(None));
        Env { now: self.engine.parts().clock.now(), partials }
    }

    async fn commit(&mut self, expect: Seq, staged: &StagedBatch) -> Result<(), LogError> {
        if staged.events.is_empty() && staged.commands.is_empty() {
            return Ok(());
        }
        let batch = Batch {
            expect,
            origin: staged.origin.as_ref(),
            events: &staged.events,
            rows: &staged.rows,
            commands: &staged.commands,
            summary: &Summary::of(&self.live.session),
            spent: staged.spent,
        };
        let store = &self.engine.parts().store;
        store.log.append(&self.own, batch).await?;
        store.bell.ring(&self.session).await;
        Ok(())
    }

    /// Answers everyone, now that it is true.
    async fn deliver(&mut self, envelopes: Vec<Envelope>, staged: StagedBatch) {
        for (envelope, answer) in envelopes.into_iter().zip(staged.answers) {
            match (envelope, answer) {
                (Envelope::Command { reply, .. }, Answer::Command(result)) => {
                    self.acknowledge(reply, result);
                }
                (Envelope::Look(look), _) => look(self.opened()),
                (Envelope::Commit { reply, .. }, Answer::Report(result)) => {
                    drop(
                        reply.send(
                            result.map_err(|reject| EvaluateError::Refused(reject.to_string())),
                        ),
                    );
                }
                (Envelope::Evaluate { tool_call, ordinal, reply, .. }, Answer::Report(result)) => {
                    let child = self.child_of(&tool_call, ordinal);
                    match (result, child) {
                        (Ok(()), Some(turn)) => self.waiters.push(Waiter { turn, reply }),
                        (Ok(()), None) => {
                            let why = "the tool call has ended".to_owned();
                            drop(reply.send(Err(EvaluateError::Refused(why))));
                        }
                        (Err(reject), _) => {
                            drop(reply.send(Err(EvaluateError::Refused(reject.to_string()))))
                        }
                    }
                }
                (Envelope::Idle, _) => self.idle = true,
                // A result that came too late is nobody's: what it was for has ended.
                (_, _) => {}
            }
        }
        self.answer_waiters();
        self.answer_askers();
        if self.live.session.scopes().next().is_none() && self.noted.swap(false, Ordering::Relaxed)
        {
            let _ = self.engine.parts().store.drafts.clear_drafts(&self.own).await;
        }
        let since = self.live.session.head.0.saturating_sub(self.snapshot.0);
        if since >= self.engine.parts().config.snapshot_every {
            self.put_snapshot().await;
        }
    }

    /// Answers a command that is committed; one who asked for more than that has to wait.
    fn acknowledge(&mut self, reply: Reply, result: Result<Receipt, EngineError>) {
        match (reply, result) {
            (Reply::Committed(reply), result) => drop(reply.send(result)),
            (reply, Err(error)) => reply.refuse(error),
            (Reply::RoundOver { message_id, committed, reply }, Ok(receipt)) => {
                // Set once: the envelope is answered once.
                let _ = committed.set(receipt.clone());
                self.askers.push(Asker { message_id, receipt, reply });
            }
        }
    }

    /// Tells callers that the rounds of their messages are over.
    fn answer_askers(&mut self) {
        let session = &self.live.session;
        let over = |asker: &mut Asker| session.is_over(&asker.message_id);
        for asker in self.askers.extract_if(.., over) {
            drop(asker.reply.send(Ok(asker.receipt)));
        }
    }

    fn opened(&self) -> Result<&Live, EngineError> {
        if self.live.session.opened {
            return Ok(&self.live);
        }
        Err(Reject::NotFound { session: self.session.clone() }.into())
    }

    fn child_of(
        &self,
        call: &roundtable_core::id::ToolCallId,
        ordinal: u32,
    ) -> Option<roundtable_core::id::TurnId> {
        let (.., call) = self.live.session.find_call(call)?;
        call.children.iter().find(|child| child.ordinal == ordinal).map(|child| child.turn.clone())
    }

    /// Tells handlers what their child turns came to.
    fn answer_waiters(&mut self) {
        let window = &self.live.window;
        let waiting = std::mem::take(&mut self.waiters);
        for waiter in waiting {
            let Some(child) = window.find_child(&waiter.turn) else {
                if window.find_turn(&waiter.turn).is_some() {
                    self.waiters.push(waiter);
                }
                continue;
            };
            let evaluation = Evaluation {
                turn: waiter.turn.clone(),
                outcome: child.outcome.clone(),
                output: child.text.clone(),
            };
            drop(waiter.reply.send(Ok(evaluation)));
        }
    }
}

/// What a command stands for under its id.
pub(crate) fn digest_of(key: &CommandKey, command: &Command) -> Digest {
    key.digest.clone().unwrap_or_else(|| Digest::of_json(command))
}

/// The model call whose whole answer a report brings: what it had said before is of no use.
fn whole(input: &Input) -> Option<&IterationId> {
    let Input::Report(report) = input else { return None };
    match &**report {
        Report::ModelReplied { iteration, .. } => Some(iteration),
        _ => None,
    }
}
