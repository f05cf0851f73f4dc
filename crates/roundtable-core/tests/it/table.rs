//! A table to play sessions at: feeds inputs, keeps the log, and checks after every step that the
//! log alone gives the same state.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};
use roundtable_core::agent::Agent;
use roundtable_core::budget::Usage;
use roundtable_core::context_request::{ContextResult, Decision};
use roundtable_core::event::{CallRecord, Event, NestedPrompt, Opening};
use roundtable_core::id::{ContextRequestId, IterationId, SessionId, ToolCallId, TurnId};
use roundtable_core::input::{
    AskedCall, Command, Env, Input, OnBusy, Ran, Reply, Report, Say, Unanswered,
};
use roundtable_core::session::Session;
use roundtable_core::settings::Settings;
use roundtable_core::stage::Name;
use roundtable_core::tool::{ToolDecl, ToolResult};
use roundtable_core::want::Want;
use roundtable_core::{Live, MessageContext, Reject, Starts};
use serde_json::Value;

use crate::trace::Labels;

/// A session under test.
#[derive(Debug, Clone)]
pub struct Table {
    pub live: Live,
    /// The whole log, as it reads back from its JSON form.
    pub log: Vec<Event>,
    pub now: Timestamp,
    pub starts: Starts,
    pub labels: Labels,
    partials: BTreeMap<IterationId, String>,
    lines: Vec<String>,
    messages: u32,
}

impl Table {
    /// A chat with these agents and the default settings, in a parallel order.
    pub fn open(agents: Vec<Agent>) -> Self {
        Self::open_with(agents, Settings::default())
    }

    pub fn open_with(agents: Vec<Agent>, settings: Settings) -> Self {
        let mut table = Self::empty("test");
        table.ok(opening(agents, settings));
        table.quietly()
    }

    /// A session before its first event.
    pub fn empty(id: &str) -> Self {
        Self {
            live: Live::new(SessionId::new(id).unwrap(), &crate::programs()),
            log: Vec::new(),
            now: "2026-01-01T00:00:00Z".parse().unwrap(),
            starts: Starts::Allowed,
            labels: Labels::default(),
            partials: BTreeMap::new(),
            lines: Vec::new(),
            messages: 0,
        }
    }

    pub fn session(&self) -> &Session {
        &self.live.session
    }

    /// Feeds an input and checks what must hold after every step.
    pub fn step(&mut self, input: impl Into<Input>) -> Result<Vec<Event>, Reject> {
        let env = self.env();
        let before = self.live.clone();
        match self.live.step(&input.into(), &env, self.starts) {
            Ok(events) => {
                self.record(&events);
                Ok(events)
            }
            Err(reject) => {
                assert_eq!(self.live, before, "a refused input changes nothing");
                self.lines.push(self.labels.replace(&format!("  refused: {reject}")));
                Err(reject)
            }
        }
    }

    /// Feeds an input that has to be taken.
    pub fn ok(&mut self, input: impl Into<Input>) -> Vec<Event> {
        self.step(input).unwrap_or_else(|reject| panic!("refused: {reject}"))
    }

    /// Feeds an input that has to be refused.
    pub fn refused(&mut self, input: impl Into<Input>) -> Reject {
        self.step(input).expect_err("this has to be refused")
    }

    /// Lets happen what is due by itself.
    pub fn settle(&mut self) -> Vec<Event> {
        let events = self.live.settle(&self.env(), self.starts);
        self.record(&events);
        events
    }

    fn env(&self) -> Env {
        Env { now: self.now, partials: self.partials.clone() }
    }

    fn record(&mut self, events: &[Event]) {
        for event in events {
            let json = serde_json::to_string(event).unwrap();
            let read: Event = serde_json::from_str(&json).unwrap();
            assert_eq!(read, *event, "an event reads back as it was written");
            self.labels.see(event);
            self.lines.push(self.labels.line(event));
            self.log.push(read);
        }
        self.lines.push(self.labels.wants(&self.live.session.wants()));
        self.now = self.now.checked_add(SignedDuration::from_secs(1)).unwrap();
        self.check();
    }

    /// What must hold after every step.
    pub fn check(&self) {
        let seqs: Vec<u64> = self.log.iter().map(|event| event.seq.0).collect();
        assert_eq!(seqs, (1..=self.live.session.head.0).collect::<Vec<_>>(), "no gap in the log");
        assert_eq!(self.replayed(), self.live, "the log alone gives the same state");
        self.check_resume();
    }

    /// The state that the log alone gives.
    pub fn replayed(&self) -> Live {
        let mut replayed = Live::new(self.live.session.id.clone(), &crate::programs());
        self.log.iter().for_each(|event| replayed.apply(event));
        replayed
    }

    /// A snapshot and the events of the window give the same state, and so the same prompts.
    pub fn check_resume(&self) {
        let resumed = self.resumed();
        assert_eq!(resumed, self.live, "snapshot and window give the same state");
        for turn in self.live.session.scopes().flat_map(|scope| &scope.turns) {
            let prompt = |live: &Live| live.render(&turn.id);
            assert_eq!(prompt(&resumed), prompt(&self.live), "the same prompts");
        }
    }

    pub fn resumed(&self) -> Live {
        let snapshot = serde_json::to_string(&self.live.session).unwrap();
        let session: Session = serde_json::from_str(&snapshot).unwrap();
        let from = session.window_from();
        Live::resume(session, self.log.iter().filter(|event| event.seq >= from), &crate::programs())
    }

    /// What happened since the last call of this, as text.
    pub fn trace(&mut self) -> String {
        std::mem::take(&mut self.lines).join("\n")
    }

    /// Forgets what happened so far, so that the next trace begins here.
    pub fn quietly(mut self) -> Self {
        self.lines.clear();
        self
    }

    pub fn later(&mut self, by: SignedDuration) {
        self.now = self.now.checked_add(by).unwrap();
    }
}

/// What callers do.
impl Table {
    /// The next message of a person: m1, m2 and so on.
    pub fn next_say(&mut self, text: Option<&str>) -> Say {
        self.messages += 1;
        let id = format!("m{}", self.messages);
        let context = MessageContext::new(&id, &self.live.session.id, None).unwrap();
        Say { text: text.map(str::to_owned), ..Say::new(context) }
    }

    pub fn say(&mut self, text: &str) -> Vec<Event> {
        let say = self.next_say(Some(text));
        self.ok(Command::Say(say))
    }

    pub fn go_on(&mut self) -> Vec<Event> {
        let say = self.next_say(None);
        self.ok(Command::Say(say))
    }

    pub fn say_with(
        &mut self,
        text: &str,
        results: Vec<ContextResult>,
    ) -> Result<Vec<Event>, Reject> {
        let say = Say { results, ..self.next_say(Some(text)) };
        self.step(Command::Say(say))
    }

    pub fn say_busy(&mut self, text: &str, on_busy: OnBusy) -> Result<Vec<Event>, Reject> {
        let say = Say { on_busy, ..self.next_say(Some(text)) };
        self.step(Command::Say(say))
    }

    pub fn request(&self, label: &str) -> ContextRequestId {
        self.labels.id(label).parse().unwrap()
    }

    pub fn found(&self, label: &str, result: &str) -> ContextResult {
        ContextResult::found(self.request(label), result)
    }

    pub fn approve(&self, label: &str) -> ContextResult {
        ContextResult::approve(self.request(label))
    }

    pub fn decided(&self, label: &str, decision: Decision) -> ContextResult {
        ContextResult::decided(self.request(label), decision)
    }
}

/// What the engine reports, about things called by their labels.
impl Table {
    pub fn turn(&self, label: &str) -> TurnId {
        self.labels.id(label).parse().unwrap()
    }

    pub fn iteration(&self, label: &str) -> IterationId {
        self.labels.id(label).parse().unwrap()
    }

    pub fn call(&self, label: &str) -> ToolCallId {
        self.labels.id(label).parse().unwrap()
    }

    /// The attempt of a model call or tool call that is wanted now.
    fn attempt(&self, id: &str) -> u32 {
        let wants = self.live.session.wants();
        let attempt = |want: &Want| match want {
            Want::CallModel { iteration, attempt, .. } if iteration.as_str() == id => {
                Some(*attempt)
            }
            Want::RunTool { tool_call, attempt, .. } if tool_call.as_str() == id => Some(*attempt),
            _ => None,
        };
        wants.iter().find_map(attempt).unwrap_or(1)
    }

    pub fn replied(&self, label: &str, reply: Reply) -> Report {
        let iteration = self.iteration(label);
        let attempt = self.attempt(iteration.as_str());
        Report::ModelReplied { iteration, attempt, reply }
    }

    /// A reply that is the answer.
    pub fn answer(&mut self, label: &str, text: &str) -> Vec<Event> {
        self.ok(self.replied(label, reply(text, Vec::new())))
    }

    /// A reply that asks for tools.
    pub fn asks(&mut self, label: &str, text: &str, calls: Vec<AskedCall>) -> Vec<Event> {
        self.ok(self.replied(label, reply(text, calls)))
    }

    pub fn fails(&mut self, label: &str, error: &str) -> Vec<Event> {
        let iteration = self.iteration(label);
        let attempt = self.attempt(iteration.as_str());
        let (error, unanswered) = (error.to_owned(), Unanswered::Refused);
        self.ok(Report::ModelFailed { iteration, attempt, error, unanswered })
    }

    /// A call fails after this many bytes of its answer had arrived.
    pub fn breaks_off(&mut self, label: &str, arrived: u64) -> Vec<Event> {
        let iteration = self.iteration(label);
        let attempt = self.attempt(iteration.as_str());
        let (error, unanswered) = ("broke off".to_owned(), Unanswered::BrokenOff { arrived });
        self.ok(Report::ModelFailed { iteration, attempt, error, unanswered })
    }

    /// A request of a call failed, and another one is to be made.
    pub fn retries(&self, label: &str, unanswered: Unanswered) -> Report {
        let iteration = self.iteration(label);
        let attempt = self.attempt(iteration.as_str());
        Report::ModelRetries { iteration, attempt, error: "down".to_owned(), unanswered }
    }

    pub fn ran(&self, label: &str, ran: Ran) -> Report {
        let tool_call = self.call(label);
        let attempt = self.attempt(tool_call.as_str());
        Report::ToolRan { tool_call, attempt, ran }
    }

    pub fn returns(&mut self, label: &str, message: &str) -> Vec<Event> {
        self.ok(self.ran(label, Ran::Returned(ToolResult::ok(message))))
    }

    pub fn begins(&mut self, label: &str) -> Vec<Event> {
        self.ok(Report::EffectBegins { tool_call: self.call(label) })
    }

    pub fn evaluates(&self, label: &str, ordinal: u32, input: &str) -> Report {
        Report::Evaluate { tool_call: self.call(label), ordinal, prompt: nested(input) }
    }

    /// What a running model call has said so far.
    pub fn streams(&mut self, label: &str, text: &str) {
        self.partials.insert(self.iteration(label), text.to_owned());
    }

    /// The prompt of an open turn, as text.
    pub fn prompt(&self, label: &str) -> String {
        let (rendered, _) = self.live.render(&self.turn(label)).unwrap();
        rendered.text()
    }
}

pub fn opening(agents: Vec<Agent>, settings: Settings) -> Command {
    let (kind, topic) = (Name::constant("chat"), "A test".to_owned());
    Command::Open(Box::new(Opening { kind, topic, agents, settings, actor: None, tenant: None }))
}

pub fn agent(name: &str) -> Agent {
    Agent::new(name, "scripted").unwrap()
}

pub fn agent_with(name: &str, tools: Vec<ToolDecl>) -> Agent {
    Agent { tools, ..agent(name) }
}

pub fn reply(text: &str, calls: Vec<AskedCall>) -> Reply {
    Reply { text: text.to_owned(), calls, ..Reply::default() }
}

/// A reply whose provider counted tokens.
pub fn counted(text: &str, calls: Vec<AskedCall>, input: u64, output: u64) -> Reply {
    let usage = Some(Usage { input, output, ..Usage::default() });
    Reply { record: CallRecord { usage, ..CallRecord::default() }, ..reply(text, calls) }
}

pub fn ask(name: &str, arguments: Value) -> AskedCall {
    AskedCall { name: name.to_owned(), arguments, reference: None, misfit: None }
}

pub fn nested(input: &str) -> NestedPrompt {
    NestedPrompt {
        name: "sub".to_owned(),
        system: "Judge.".to_owned(),
        input: input.to_owned(),
        tools: Vec::new(),
        output: None,
    }
}
