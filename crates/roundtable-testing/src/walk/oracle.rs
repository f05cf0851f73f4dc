//! A judge that knows only events: every scope closes once, children first; every call, input and
//! request has one fate; nothing effectful is begun while an equal action is in doubt.

use std::collections::{BTreeMap, BTreeSet};

use roundtable_core::context_request::{About, ContextRequest};
use roundtable_core::digest::Digest;
use roundtable_core::event::{
    Body, ContextEvent, Event, IterationEvent, RoundEvent, RoundOutcome, SessionEvent, Task,
    ToolCallEvent, TurnEvent,
};
use roundtable_core::id::{ContextRequestId, IterationId, ToolCallId, TurnId};
use roundtable_core::tool::{Effect, ToolOutcome};
use roundtable_core::want::Want;
use serde_json::Value;

/// A scope that was opened: what is open in it, and whether it is open itself.
#[derive(Debug, Default)]
struct Scope {
    closed: bool,
    parent: Option<String>,
    open_inside: BTreeSet<String>,
}

#[derive(Debug, Default)]
struct ModelCall {
    attempts: u32,
    running: Option<u32>,
    finished: bool,
    asked: u32,
    requested: u32,
}

#[derive(Debug)]
struct ToolCall {
    name: String,
    arguments: Value,
    effect: Effect,
    attempts: u32,
    running: Option<u32>,
    published: u32,
    approved: bool,
}

#[derive(Debug, Default)]
pub struct Oracle {
    scopes: BTreeMap<String, Scope>,
    open_round: Option<String>,
    open_asides: BTreeSet<String>,
    /// The job that is under way in a round or an aside, and the last one of each.
    open_jobs: BTreeMap<String, u32>,
    last_jobs: BTreeMap<String, u32>,
    models: BTreeMap<IterationId, ModelCall>,
    tools: BTreeMap<ToolCallId, ToolCall>,
    iterations: BTreeMap<TurnId, u32>,
    pending: BTreeMap<ContextRequestId, ContextRequest>,
    resolved: BTreeSet<ContextRequestId>,
    waiting: Vec<String>,
    accepted: BTreeSet<String>,
    redo: Option<(u32, u32)>,
    inputs: BTreeMap<(u32, u32), String>,
    /// The take that was opened last, and those in which nobody could answer.
    latest: (u32, u32),
    failed: BTreeSet<(u32, u32)>,
    last_message: u64,
    completed: bool,
}

impl Oracle {
    pub fn see(&mut self, event: &Event) {
        let aside = matches!(event.body, Body::Round(RoundEvent::RoundAsideOpened { .. }));
        let going_on = !self.completed || !self.open_asides.is_empty() || aside;
        assert!(going_on, "nothing happens after the end: {event:?}");
        self.check_place(event);
        match &event.body {
            Body::Session(body) => self.session(body),
            Body::Round(body) => self.round(body, event),
            Body::Turn(body) => self.turn(body, event),
            Body::Iteration(body) => self.iteration(body, event),
            Body::ToolCall(body) => self.tool_call(body, event),
            Body::Context(body) => self.context(body),
            Body::Unknown { .. } | Body::Redacted => panic!("the core makes no such event"),
        }
    }

    /// Everything around an event is open, besides the scope that it opens.
    fn check_place(&self, event: &Event) {
        let ids = place(event);
        let opens = matches!(
            event.body,
            Body::Round(RoundEvent::RoundOpened { .. } | RoundEvent::RoundAsideOpened { .. })
                | Body::Turn(TurnEvent::TurnStarted { .. })
                | Body::Iteration(IterationEvent::IterationOpened { .. })
                | Body::ToolCall(ToolCallEvent::ToolCallRequested { .. })
        );
        let around = if opens { &ids[..ids.len() - 1] } else { &ids[..] };
        for id in around {
            let scope = self.scopes.get(id);
            assert!(scope.is_some_and(|scope| !scope.closed), "{id} is not open: {event:?}");
        }
    }

    fn open(&mut self, id: &str, parent: Option<&str>) {
        if let Some(parent) = parent {
            let around = self.scopes.get_mut(parent).expect("a parent is opened first");
            assert!(!around.closed, "{parent} is closed and cannot open {id}");
            around.open_inside.insert(id.to_owned());
        }
        let scope = Scope { parent: parent.map(str::to_owned), ..Scope::default() };
        let earlier = self.scopes.insert(id.to_owned(), scope);
        assert!(earlier.is_none(), "{id} is opened twice");
    }

    fn close(&mut self, id: &str) {
        let scope = self.scopes.get_mut(id).expect("what closes was opened");
        assert!(!scope.closed, "{id} is closed twice");
        assert!(scope.open_inside.is_empty(), "{:?} are still open in {id}", scope.open_inside);
        scope.closed = true;
        let parent = scope.parent.clone();
        if let Some(parent) = parent {
            self.scopes.get_mut(&parent).expect("known").open_inside.remove(id);
        }
    }

    fn session(&mut self, body: &SessionEvent) {
        match body {
            SessionEvent::SessionInputAccepted(accepted) => {
                let id = accepted.context.message_id().to_owned();
                assert!(self.accepted.insert(id.clone()), "{id} is accepted twice");
                self.waiting.push(id);
            }
            SessionEvent::SessionInputEdited(accepted) => {
                let id = accepted.context.message_id();
                assert!(
                    self.waiting.iter().any(|waiting| waiting == id),
                    "only what waits is edited"
                );
            }
            SessionEvent::SessionInputDropped { message_id, .. } => {
                let index = self.waiting.iter().position(|id| id == message_id);
                self.waiting.remove(index.expect("only what waits is dropped, once"));
            }
            SessionEvent::SessionRoundSuperseded { number, take, redo } => {
                assert!(self.open_round.is_none());
                self.redo = redo.then_some((*number, *take));
            }
            SessionEvent::SessionCompleted { reason } => {
                let done = reason == "all rounds are done";
                assert!(!done || !self.failed.contains(&self.latest), "a failed round is not done");
                assert!(self.open_round.is_none() && self.waiting.is_empty());
                self.completed = true;
            }
            SessionEvent::SessionOpened(_)
            | SessionEvent::SessionForked { .. }
            | SessionEvent::SessionPaused
            | SessionEvent::SessionResumed
            | SessionEvent::SessionTakeSelected { .. }
            | SessionEvent::SessionImported(_)
            | SessionEvent::SessionChanged(_)
            | SessionEvent::StateChanged { .. } => {}
        }
    }

    fn round(&mut self, body: &RoundEvent, event: &Event) {
        let id = event.place.round.as_ref().expect("a round").to_string();
        match body {
            RoundEvent::RoundOpened { number, take, input, said, .. } => {
                assert_eq!(self.open_round, None, "one round at a time");
                self.open(&id, None);
                self.open_round = Some(id);
                let message = input.message_id().to_owned();
                if let Some(redo) = self.redo.take() {
                    assert_eq!(*number, redo.0);
                    if self.waiting.is_empty() {
                        assert_eq!(
                            self.inputs[&redo], message,
                            "it answers the same message again"
                        );
                    } else {
                        assert!(self.failed.contains(&redo), "only a failed round has a new input");
                        assert_eq!(self.waiting.remove(0), message, "the oldest that waits");
                        let new = said.filter(|said| said.number > self.last_message);
                        new.iter().for_each(|said| self.count_message(said.number));
                    }
                } else {
                    assert_eq!(self.waiting.remove(0), message, "the oldest that waits");
                    said.iter().for_each(|said| self.count_message(said.number));
                }
                self.latest = (*number, *take);
                let earlier = self.inputs.insert((*number, *take), message);
                assert_eq!(earlier, None, "a take has one round");
                let required = self.pending.values().find(|request| {
                    request.priority == roundtable_core::context_request::Priority::Required
                });
                assert!(required.is_none(), "no round opens over {required:?}");
            }
            RoundEvent::RoundAsideOpened { .. } => {
                self.open(&id, None);
                self.open_asides.insert(id);
            }
            RoundEvent::StagesAdded { stages, .. } => {
                assert!(self.is_open(&id), "it is open");
                assert!(!stages.is_empty(), "there is something to add");
                assert!(!self.open_jobs.contains_key(&id), "its job is over");
            }
            RoundEvent::JobStarted { ordinal, .. } => {
                assert!(self.is_open(&id), "it is open");
                let last = self.last_jobs.entry(id.clone()).or_insert(0);
                *last += 1;
                assert_eq!(ordinal, last, "jobs are numbered without a gap");
                assert_eq!(self.open_jobs.insert(id, *ordinal), None, "one job at a time");
            }
            RoundEvent::JobFinished { ordinal, ends, .. } => {
                assert_eq!(self.open_jobs.remove(&id), Some(*ordinal), "a job ends once");
                assert_eq!(*ends, None, "only the first log format says it there");
            }
            RoundEvent::RoundClosed { outcome, .. } => {
                assert!(!self.open_jobs.contains_key(&id), "its job is over");
                self.close(&id);
                if self.open_asides.remove(&id) {
                    return;
                }
                if *outcome == RoundOutcome::Failed {
                    self.failed.insert(self.latest);
                }
                self.open_round = None;
                // A call of an aside may still wait.
                let ended = |r: &&ContextRequest| {
                    let call = r.about.waiting_call();
                    call.is_some_and(|call| self.scopes[call.as_str()].closed)
                };
                let left = self.pending.values().find(ended);
                assert!(left.is_none(), "its call is over, and it is still asked: {left:?}");
            }
        }
    }

    fn is_open(&self, id: &String) -> bool {
        self.open_round.as_ref() == Some(id) || self.open_asides.contains(id)
    }

    fn count_message(&mut self, number: u64) {
        assert_eq!(number, self.last_message + 1, "messages are numbered without a gap");
        self.last_message = number;
    }

    fn turn(&mut self, body: &TurnEvent, event: &Event) {
        let id = event.place.turn.as_ref().expect("a turn");
        match body {
            TurnEvent::TurnStarted { task, .. } => {
                let parent = match task {
                    Task::Seat { .. } => event.place.round.as_ref().map(ToString::to_string),
                    Task::Delegated { tool_call, .. } => Some(tool_call.to_string()),
                    Task::Nested { tool_call, .. } => {
                        assert!(self.tools[tool_call].running.is_some(), "a handler asks");
                        Some(tool_call.to_string())
                    }
                };
                self.open(id.as_str(), parent.as_deref());
                self.iterations.insert(id.clone(), 0);
            }
            TurnEvent::TurnEnded { said, .. } => {
                self.close(id.as_str());
                said.iter().for_each(|said| self.count_message(said.number));
            }
        }
    }

    fn iteration(&mut self, body: &IterationEvent, event: &Event) {
        let id = event.place.iteration.as_ref().expect("an iteration");
        if let IterationEvent::IterationOpened { number } = body {
            let turn = event.place.turn.as_ref().expect("a turn");
            assert!(self.scopes[turn.as_str()].open_inside.is_empty(), "one iteration at a time");
            let last = self.iterations.get_mut(turn).expect("known");
            *last += 1;
            assert_eq!(number, last, "iterations are numbered without a gap");
            self.open(id.as_str(), Some(turn.as_str()));
            self.models.insert(id.clone(), ModelCall::default());
            return;
        }
        let model = self.models.get_mut(id).expect("an iteration is opened first");
        match body {
            IterationEvent::IterationOpened { .. } => {}
            IterationEvent::ModelCallStarted { attempt, .. } => {
                assert!(!model.finished && model.running.is_none(), "one attempt at a time");
                assert_eq!(*attempt, model.attempts + 1);
                (model.attempts, model.running) = (*attempt, Some(*attempt));
            }
            IterationEvent::ModelCallFinished { attempt, calls, .. } => {
                assert_eq!(model.running.take(), Some(*attempt), "I3: a finish has a start");
                (model.finished, model.asked) = (true, *calls);
            }
            IterationEvent::ModelCallFailed { attempt, .. }
            | IterationEvent::ModelCallCancelled { attempt, .. } => {
                assert_eq!(model.running.take(), Some(*attempt), "I3: an end has a start");
                model.finished = true;
            }
            IterationEvent::ModelCallRetried { attempt, .. } => {
                assert_eq!(model.running, Some(*attempt), "only a running call is retried");
            }
            IterationEvent::ModelCallInterrupted { attempt, possible_duplicate, .. } => {
                assert_eq!(model.running.take(), Some(*attempt));
                assert!(possible_duplicate, "never hidden");
            }
            IterationEvent::IterationClosed { .. } => {
                assert!(model.running.is_none(), "its model call is over");
                assert_eq!(model.asked, model.requested, "every call that was asked for is there");
                self.close(id.as_str());
            }
        }
    }

    fn tool_call(&mut self, body: &ToolCallEvent, event: &Event) {
        let id = event.place.tool_call.as_ref().expect("a tool call");
        if let ToolCallEvent::ToolCallRequested { name, arguments, effect, .. } = body {
            let iteration = event.place.iteration.as_ref().expect("an iteration");
            self.models.get_mut(iteration).expect("known").requested += 1;
            self.open(id.as_str(), Some(iteration.as_str()));
            let call = ToolCall {
                name: name.clone(),
                arguments: arguments.clone(),
                effect: *effect,
                attempts: 0,
                running: None,
                published: 0,
                approved: false,
            };
            self.tools.insert(id.clone(), call);
            return;
        }
        let in_doubt = self.in_doubt(id);
        let call = self.tools.get_mut(id).expect("a call is requested first");
        match body {
            ToolCallEvent::ToolCallRequested { .. } => {}
            ToolCallEvent::ToolCallStarted { attempt } => {
                assert_eq!(call.running, None);
                assert_eq!(*attempt, call.attempts + 1);
                assert!(call.effect != Effect::Effectful || *attempt == 1, "never repeated");
                assert!(call.name != "sign" || call.approved, "not without approval");
                assert!(!in_doubt, "an equal action is in doubt");
                (call.attempts, call.running) = (*attempt, Some(*attempt));
            }
            ToolCallEvent::ToolCallPublished { ordinal, .. } => {
                assert!(call.running.is_some() && *ordinal > call.published, "once");
                call.published = *ordinal;
            }
            ToolCallEvent::ToolCallInterrupted { attempt } => {
                assert_eq!(call.running.take(), Some(*attempt));
                assert_ne!(call.effect, Effect::Effectful);
            }
            ToolCallEvent::ToolCallFinished(outcome) => {
                finish(call, outcome);
                self.close(id.as_str());
            }
        }
    }

    /// Whether an action equal to this call's may have happened, and nobody knows.
    fn in_doubt(&self, id: &ToolCallId) -> bool {
        let call = &self.tools[id];
        let action = Digest::of_json(&(&call.name, &call.arguments));
        self.pending.values().any(|request| {
            matches!(&request.about, About::Outcome { action: asked, .. } if *asked == action)
        })
    }

    fn context(&mut self, body: &ContextEvent) {
        match body {
            ContextEvent::ContextRequested(request) => {
                assert!(!self.resolved.contains(&request.id));
                let earlier = self.pending.insert(request.id.clone(), request.clone());
                assert_eq!(earlier, None, "a request is raised once");
            }
            ContextEvent::ContextProvided(result) => {
                let request = self.resolve(&result.request);
                if let (About::Approval { tool_call, .. }, true) = (&request.about, result.success)
                {
                    self.tools.get_mut(tool_call).expect("known").approved = true;
                }
            }
            ContextEvent::ContextWithdrawn { request } => {
                self.resolve(request);
            }
        }
    }

    fn resolve(&mut self, id: &ContextRequestId) -> ContextRequest {
        let request = self.pending.remove(id).expect("only what is pending is resolved");
        assert!(self.resolved.insert(id.clone()), "a request is resolved once");
        request
    }

    /// What is wanted is what has started and not ended, and nothing else; what waits for the caller's
    /// own model has started, too, and nothing is wanted for it.
    pub fn check_wants(&self, wants: &[Want], hosted: BTreeMap<IterationId, u32>) {
        let running = self.models.iter().filter_map(|(id, call)| Some((id.clone(), call.running?)));
        let wanted = wants.iter().filter_map(|want| match want {
            Want::CallModel { iteration, attempt, .. } => Some((iteration.clone(), *attempt)),
            _ => None,
        });
        let wanted = wanted.chain(hosted);
        assert_eq!(wanted.collect::<BTreeMap<_, _>>(), running.collect::<BTreeMap<_, _>>());
        let running = self.tools.iter().filter_map(|(id, call)| Some((id.clone(), call.running?)));
        let wanted = wants.iter().filter_map(|want| match want {
            Want::RunTool { tool_call, attempt, .. } => Some((tool_call.clone(), *attempt)),
            _ => None,
        });
        assert_eq!(wanted.collect::<BTreeMap<_, _>>(), running.collect::<BTreeMap<_, _>>());
        for want in wants {
            let Want::BeginEffect { tool_call } = want else { continue };
            let call = &self.tools[tool_call];
            assert!(call.effect == Effect::Effectful && call.attempts == 0);
        }
    }

    pub fn check_all_closed(&self) {
        let open: Vec<_> = self.scopes.iter().filter(|(_, scope)| !scope.closed).collect();
        assert!(open.is_empty(), "left open: {open:?}");
        assert!(self.waiting.is_empty(), "every input had its round or was dropped");
    }
}

/// A finish fits what came before it: a handler's word needs a start, doubt needs an effect.
fn finish(call: &mut ToolCall, outcome: &ToolOutcome) {
    let started = call.running.take().is_some();
    match outcome {
        ToolOutcome::Returned(result) => {
            let core_does_it = ["request_context", "ask"].contains(&call.name.as_str());
            assert!(started || core_does_it || !result.success, "I3: success without a start");
        }
        ToolOutcome::Answered { .. } => assert_eq!(call.name, "delegate"),
        ToolOutcome::Cancelled => {
            assert!(!started || call.effect != Effect::Effectful, "it may have happened");
        }
        ToolOutcome::Unknown { .. } => assert!(started && call.effect == Effect::Effectful),
        ToolOutcome::NotRun { .. } => assert!(!started),
    }
}

fn place(event: &Event) -> Vec<String> {
    let place = &event.place;
    let ids = [
        place.round.as_ref().map(ToString::to_string),
        place.turn.as_ref().map(ToString::to_string),
        place.iteration.as_ref().map(ToString::to_string),
        place.tool_call.as_ref().map(ToString::to_string),
    ];
    ids.into_iter().flatten().collect()
}
