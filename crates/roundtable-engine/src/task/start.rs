//! Starting an effect: everything that it needs is put together here, as values.

use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use roundtable_core::budget::Spend;
use roundtable_core::event::Seq;
use roundtable_core::id::{IterationId, RoundId, ToolCallId, TurnId};
use roundtable_core::iteration::Phase;
use roundtable_core::prompt::Prompt;
use roundtable_core::round::Round;
use roundtable_core::scope::{Place, Scope};
use roundtable_core::stage::Name;
use roundtable_core::turn::Turn;
use roundtable_core::want::Want;
use roundtable_ports::{
    Attempts, Budget, JobRequest, Listener, ModelRequest, Owner, RunScope, ToolChoice,
};
use tokio_util::sync::CancellationToken;

use super::SessionTask;
use super::envelope::Envelope;
use super::reconcile::Effect;
use crate::adapter::ViewReader;
use crate::effect::{self, ModelCall, ToolRun};
use crate::quota::Admission;

impl SessionTask<'_> {
    pub(super) fn start(&mut self, want: &Want) -> Option<Effect> {
        match want {
            Want::CallModel { turn, iteration, attempt, since } => {
                self.start_model(turn, iteration, *attempt, *since)
            }
            Want::RunTool { turn, tool_call, attempt } => {
                self.start_tool(turn, tool_call, *attempt)
            }
            Want::RunJob { round, name, ordinal } => self.start_job(round, name, *ordinal),
            Want::BeginEffect { .. } | Want::WakeAt(_) => None,
        }
    }

    fn start_model(
        &mut self,
        id: &TurnId,
        iteration: &IterationId,
        attempt: u32,
        since: Seq,
    ) -> Option<Effect> {
        let rendered = Arc::new(self.live.take_prompt(id)?);
        self.running.runs.entry(id.clone()).or_default().rendered = Some(rendered.clone());
        let prompt = self.live.window.prompt_name(id)?.to_owned();
        let (round, turn) = self.live.session.find_turn(id)?;
        let agent = self.live.session.find_agent(&turn.agent)?;
        let reserved = match turn.iteration.as_ref().map(|iteration| &iteration.phase) {
            Some(Phase::AwaitingModel { reserved, .. }) => *reserved,
            _ => Spend::default(),
        };
        let parts = self.engine.parts();
        let offered = rendered.tools.iter().filter_map(|name| agent.find_tool(name));
        let request = ModelRequest {
            key: iteration.clone(),
            attempt,
            scope: self.scope_of(round, turn, None)?,
            prompt,
            agent_name: agent.name.clone(),
            messages: rendered.messages.clone(),
            stable: rendered.stable,
            tools: offered.filter_map(|tool| parts.tools.spec_of(tool)).collect(),
            tool_choice: ToolChoice::Auto,
            output: rendered.output.clone(),
            max_tokens: agent.max_tokens,
            listener: Listener::default(),
            attempts: Attempts::default(),
        };
        self.speech.begin(iteration, attempt, since);
        let call = ModelCall {
            engine: self.engine.clone(),
            model: parts.models.get(&agent.model).cloned(),
            iteration: iteration.clone(),
            attempt,
            speech: self.speech.clone(),
            bus: self.bus.clone(),
            own: self.own.clone(),
            admission: Admission {
                engine: self.engine.clone(),
                owner: Owner {
                    tenant: self.live.session.tenant.clone(),
                    actor: self.live.session.actor.clone(),
                },
                iteration: iteration.clone(),
                reserved,
                priced: agent.price.is_some(),
            },
            noted: self.noted.clone(),
        };
        Some(self.spawn(CancellationToken::new(), call.make(request)))
    }

    fn start_tool(&mut self, id: &TurnId, tool_call: &ToolCallId, attempt: u32) -> Option<Effect> {
        let prompt = self.prompt_of(id)?;
        let session = self.reader_of(id)?;
        let rendered = self.running.runs.get(id).and_then(|run| run.rendered.clone());
        let (round, turn) = self.live.session.find_turn(id)?;
        let adapter = self.running.adapter(&turn.agent);
        let asked = self.live.window.find_call(id, tool_call)?;
        let cancellation = CancellationToken::new();
        let scope = RunScope {
            ids: self.scope_of(round, turn, Some(tool_call))?,
            cancellation: cancellation.clone(),
            deadline: deadline_of(round, turn),
            budget: Budget { limits: turn.account.limits, spent: turn.account.spent },
        };
        let run = ToolRun {
            engine: self.engine.clone(),
            tool_call: tool_call.clone(),
            attempt,
            name: asked.name.clone(),
            arguments: asked.arguments.clone(),
            bus: self.bus.clone(),
            prompt,
            rendered,
            adapter,
            session,
            scope,
        };
        Some(self.spawn(cancellation, run.run()))
    }

    fn start_job(&self, round: &RoundId, name: &Name, ordinal: u32) -> Option<Effect> {
        let request = JobRequest {
            name: name.clone(),
            session: self.session.clone(),
            round: round.clone(),
            ordinal,
            actor: self.live.session.actor.clone(),
            tenant: self.live.session.tenant.clone(),
            input: self.live.job_input(round)?,
        };
        let effect = effect::job::run(self.engine.clone(), request);
        Some(self.spawn(CancellationToken::new(), effect))
    }

    /// The prompt of an open turn, made when a tool call asks for it first: one object for all of
    /// them.
    fn prompt_of(&mut self, id: &TurnId) -> Option<Arc<Prompt>> {
        let run = self.running.runs.entry(id.clone()).or_default();
        if run.prompt.is_none() {
            run.prompt = Some(Arc::new(self.live.window.prompt(&self.live.session, id)?));
        }
        run.prompt.clone()
    }

    /// The session as the agent of an open turn received it: one object for all of its calls.
    fn reader_of(&mut self, id: &TurnId) -> Option<Arc<ViewReader>> {
        let run = self.running.runs.entry(id.clone()).or_default();
        if run.session.is_none() {
            let parts = self.engine.parts();
            run.session = Some(Arc::new(ViewReader {
                session: self.session.clone(),
                log: parts.store.log.clone(),
                programs: parts.programs.clone(),
                viewer: self.live.window.viewer(id)?,
            }));
        }
        run.session.clone()
    }

    fn scope_of(
        &self,
        round: &Round,
        turn: &Turn,
        tool_call: Option<&ToolCallId>,
    ) -> Option<Scope> {
        let session = &self.live.session;
        let iteration = turn.iteration.as_ref()?;
        let place = Place {
            round: Some(round.id.clone()),
            turn: Some(turn.id.clone()),
            iteration: Some(iteration.id.clone()),
            tool_call: tool_call.cloned(),
        };
        Some(Scope {
            session: session.id.clone(),
            place,
            round_number: round.number,
            iteration_number: iteration.number,
            agent: turn.agent.clone(),
            domain: session.find_agent(&turn.agent)?.domain.clone(),
            actor: session.actor.clone(),
            tenant: session.tenant.clone(),
            message: Some(round.input.clone()),
        })
    }

    fn spawn(
        &self,
        cancellation: CancellationToken,
        effect: impl Future<Output = roundtable_core::input::Report> + Send + 'static,
    ) -> Effect {
        let reporter = self.reporter.clone();
        // Boxed, because it is large and would be moved several times on its way into a task.
        let handle = self.engine.effects().spawn(Box::pin(async move {
            let report = effect.await;
            // The task is gone when the session was lost or stopped: then this is nobody's result.
            let envelope = Envelope::Report { report: report.into(), partials: None };
            let _ = reporter.send(envelope).await;
        }));
        Effect { cancellation, abort: handle.abort_handle() }
    }
}

/// When a turn has to be over: by its own limit, by those of the turns that wait for it, or by the
/// round's. What other turns of the round may take is not its concern.
fn deadline_of(round: &Round, turn: &Turn) -> Option<Timestamp> {
    let waiting_for = |turn: &&Turn| {
        let (parent, _) = round.find_call(turn.parent.as_ref()?)?;
        Some(parent)
    };
    let line = std::iter::successors(Some(turn), waiting_for);
    let limits = line.map(|turn| (turn.started_at, turn.account.limits));
    let limits = limits.chain([(round.opened_at, round.account.limits)]);
    let ends = limits.filter_map(|(start, limits)| {
        let limit = SignedDuration::from_millis(i64::try_from(limits.time_ms?).ok()?);
        start.checked_add(limit).ok()
    });
    ends.min()
}
