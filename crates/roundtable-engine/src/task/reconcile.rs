//! What is wanted and not running is started; what is running and not wanted is ended.

use std::collections::HashMap;
use std::sync::Arc;

use roundtable_core::id::{AgentId, IterationId, RoundId, ToolCallId, TurnId};
use roundtable_core::input::Report;
use roundtable_core::prompt::{Prompt, RenderedPrompt};
use roundtable_core::want::Want;
use roundtable_ports::Adapter;
use tokio::task::AbortHandle;
use tokio_util::sync::CancellationToken;

use super::envelope::Envelope;
use super::{Halt, SessionTask};
use crate::adapter::{EngineAdapter, ViewReader};
use crate::cut::{CutCall, CutTarget};
use crate::speech::Speech;

/// What an effect is: its scope, and which attempt.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Key {
    Model(IterationId, u32),
    Tool(ToolCallId, u32),
    Job(RoundId, u32),
}

/// An effect that is under way.
pub(super) struct Effect {
    pub cancellation: CancellationToken,
    pub abort: AbortHandle,
}

/// The objects of an open turn that its tool calls share.
#[derive(Clone, Default)]
pub(super) struct Run {
    pub prompt: Option<Arc<Prompt>>,
    pub rendered: Option<Arc<RenderedPrompt>>,
    pub session: Option<Arc<ViewReader>>,
}

/// What is under way for a session.
pub(super) struct Running {
    effects: HashMap<Key, Effect>,
    pub runs: HashMap<TurnId, Run>,
    pub adapters: HashMap<AgentId, Arc<dyn Adapter>>,
}

impl Running {
    pub fn new(effects: HashMap<Key, Effect>) -> Self {
        Self { effects, runs: HashMap::new(), adapters: HashMap::new() }
    }

    pub fn is_empty(&self) -> bool {
        self.effects.is_empty()
    }

    pub fn adapter(&mut self, agent: &AgentId) -> Arc<dyn Adapter> {
        self.adapters.entry(agent.clone()).or_insert_with(|| Arc::new(EngineAdapter)).clone()
    }

    pub fn abort_all(&mut self, speech: &Speech) {
        self.effects.drain().for_each(|(key, _)| hush(&key, speech));
    }
}

impl Drop for Effect {
    /// However a session's task ends, nothing goes on for it.
    fn drop(&mut self) {
        self.cancellation.cancel();
        self.abort.abort();
    }
}

/// What an effect was saying is over.
fn hush(key: &Key, speech: &Speech) {
    if let Key::Model(iteration, _) = key {
        speech.end(iteration);
    }
}

fn key(want: &Want) -> Option<Key> {
    match want {
        Want::CallModel { iteration, attempt, .. } => Some(Key::Model(iteration.clone(), *attempt)),
        Want::RunTool { tool_call, attempt, .. } => Some(Key::Tool(tool_call.clone(), *attempt)),
        Want::RunJob { round, ordinal, .. } => Some(Key::Job(round.clone(), *ordinal)),
        Want::BeginEffect { .. } | Want::WakeAt(_) => None,
    }
}

impl SessionTask<'_> {
    /// Called only when the state is what the log says.
    pub(super) async fn reconcile(&mut self) -> Result<(), Halt> {
        loop {
            let wants = self.live.session.wants();
            self.end_unwanted(&wants);
            let mut begin = None;
            for want in &wants {
                match (want, key(want)) {
                    (_, Some(key)) if !self.running.effects.contains_key(&key) => {
                        let effect = self.start(want);
                        self.running.effects.extend(effect.map(|effect| (key, effect)));
                    }
                    (Want::BeginEffect { tool_call }, _)
                        if !self.is_draining() || self.live.session.is_awaited(tool_call) =>
                    {
                        begin = begin.or(Some(tool_call.clone()));
                    }
                    (_, _) => {}
                }
            }
            self.set_timer().await;
            // The start of an effectful call is a commit of its own, immediately before the call.
            let Some(tool_call) = begin else { return Ok(()) };
            let report = Report::EffectBegins { tool_call };
            self.process(vec![Envelope::Report { report: report.into(), partials: None }]).await?;
        }
    }

    async fn set_timer(&mut self) {
        let wake_at = self.live.session.wake_at();
        if wake_at == self.wake_at {
            return;
        }
        self.wake_at = wake_at;
        if let Some(at) = wake_at {
            // A scheduler that is gone has stopped with the engine.
            let _ = self.engine.wakes().send((at, self.session.clone())).await;
        }
    }

    /// The calls that are under way.
    pub(super) fn cut_calls(&self) -> Vec<CutCall> {
        self.running.effects.keys().map(|key| self.cut_call(key)).collect()
    }

    fn cut_call(&self, key: &Key) -> CutCall {
        let session = &self.live.session;
        let (turn, target) = match key {
            Key::Model(iteration, _) => (
                session.turn_of_iteration(iteration).map(|(_, turn)| turn),
                CutTarget::Model(String::new()),
            ),
            Key::Tool(id, _) => match session.find_call(id) {
                Some((_, turn, call)) => (Some(turn), CutTarget::Tool(call.name.clone())),
                None => (None, CutTarget::Tool(id.to_string())),
            },
            Key::Job(round, _) => {
                let job = session.find_scope(round).and_then(|scope| scope.job.as_ref());
                (None, CutTarget::Job(job.map_or_else(String::new, |job| job.name.to_string())))
            }
        };
        let agent = turn.and_then(|turn| session.find_agent(&turn.agent));
        let target = match (target, agent) {
            (CutTarget::Model(_), Some(agent)) => CutTarget::Model(agent.model.clone()),
            (target, _) => target,
        };
        let agent = agent.map(|agent| agent.name.clone());
        CutCall { session: self.session.clone(), agent, target }
    }

    fn end_unwanted(&mut self, wants: &[Want]) {
        let wanted: Vec<Key> = wants.iter().filter_map(key).collect();
        let speech = &self.speech;
        self.running.effects.retain(|key, _| {
            let keep = wanted.contains(key);
            if !keep {
                hush(key, speech);
            }
            keep
        });
        let open = |turn: &TurnId| self.live.session.find_turn(turn).is_some();
        self.running.runs.retain(|turn, _| open(turn));
    }
}
