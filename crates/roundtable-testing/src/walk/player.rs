//! Plays moves on a session, and checks after each what must hold.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};
use proptest::sample::Index;
use roundtable_core::audience::Audience;
use roundtable_core::budget::Usage;
use roundtable_core::context_request::{ContextRequest, ContextResult, Decision, RequestKind};
use roundtable_core::event::NestedPrompt;
use roundtable_core::event::{CallRecord, Event, Opening};
use roundtable_core::id::{IterationId, RoundId, SessionId, ToolCallId};
use roundtable_core::input::{
    AskedCall, Command, Env, Input, OnBusy, Ran, Reply, Report, Say, Unanswered,
};
use roundtable_core::iteration::Phase;
use roundtable_core::message::Message;
use roundtable_core::session::{Session, Status};
use roundtable_core::stage::Name;
use roundtable_core::tool::ToolResult;
use roundtable_core::want::Want;
use roundtable_core::{Live, MessageContext, Reject, Starts};
use serde_json::{Value, json};

use super::Walk;
use super::ledger::Ledger;
use super::moves::{Move, Setup, TOOLS, Words};
use super::oracle::Oracle;
use super::transcript::{Transcript, without_answers};

pub struct Player {
    walk: Walk,
    pub live: Live,
    pub log: Vec<Event>,
    pub now: Timestamp,
    pub oracle: Oracle,
    ledger: Ledger,
    transcript: Transcript,
    /// The fold of the events as they read back from JSON: the state after a restart.
    shadow: Live,
    starts: Starts,
    partials: BTreeMap<IterationId, String>,
    reported: Vec<Report>,
    messages: u32,
}

impl Player {
    pub fn open(walk: Walk, setup: &Setup) -> Self {
        let id = SessionId::new("walk").unwrap();
        let mut player = Self {
            live: Live::new(id.clone(), &walk.programs),
            log: Vec::new(),
            now: "2026-01-01T00:00:00Z".parse().unwrap(),
            oracle: Oracle::default(),
            ledger: Ledger::default(),
            transcript: Transcript::default(),
            shadow: Live::new(id, &walk.programs),
            walk,
            starts: Starts::Allowed,
            partials: BTreeMap::new(),
            reported: Vec::new(),
            messages: 0,
        };
        let opened = player.feed(opening(setup));
        assert_eq!(opened, Ok(()));
        player
    }

    fn feed(&mut self, input: impl Into<Input>) -> Result<(), Reject> {
        let env = Env { now: self.now, partials: self.partials.clone() };
        let before = self.live.clone();
        match self.live.step(&input.into(), &env, self.starts) {
            Ok(events) => {
                self.record(events);
                Ok(())
            }
            Err(reject) => {
                assert_eq!(self.live, before, "a refused input changes nothing: {reject}");
                Err(reject)
            }
        }
    }

    fn report(&mut self, report: Report) {
        self.reported.push(report.clone());
        let _ = self.feed(report);
    }

    fn record(&mut self, events: Vec<Event>) {
        for event in events {
            assert_eq!(event.seq.0, self.log.len() as u64 + 1, "no gap");
            let json = serde_json::to_string(&event).unwrap();
            self.shadow.apply(&serde_json::from_str(&json).unwrap());
            self.oracle.see(&event);
            self.ledger.see(&event);
            self.transcript.see(&event);
            self.log.push(event);
        }
        assert_eq!(self.shadow, self.live, "the log alone gives the same state");
        self.ledger.check(&self.live.session);
        self.oracle.check_wants(&self.live.session.wants(), hosted(&self.live.session));
        self.check_live();
        self.check_prompts();
        if self.log.len().is_multiple_of(5) {
            self.check_resume();
        }
    }

    /// Where nobody waits for people, something is under way.
    fn check_live(&self) {
        let session = &self.live.session;
        if self.starts == Starts::Allowed && session.has_work() {
            assert!(!session.wants().is_empty(), "there is work, and nothing is wanted");
        }
    }

    /// A prompt has nothing that its agent did not receive, whatever the program makes of it. Plain
    /// prompts tell the earlier rounds as the log has them, answers to questions aside.
    fn check_prompts(&self) {
        let session = &self.live.session;
        for turn in session.scopes().flat_map(|scope| &scope.turns) {
            let (rendered, record) = self.live.render(&turn.id).unwrap();
            let told: Vec<String> = rendered.messages.iter().map(Message::text).collect();
            // Words that are made of few others say nothing of whose they are.
            if self.walk.words.is_none() {
                self.transcript.check_received(&turn.id, &told.concat());
            }
            if !self.walk.plain || turn.parent.is_some() {
                continue;
            }
            let history = told.iter().find_map(|text| {
                text.strip_prefix("The conversation so far:\n").map(without_answers)
            });
            let expected = self.transcript.history(session, &turn.id);
            assert_eq!(history.unwrap_or_default(), expected);
            assert!(record.from >= session.window_from() && record.to == session.head);
        }
    }

    pub fn check_resume(&self) {
        let json = serde_json::to_string(&self.live.session).unwrap();
        let session: Session = serde_json::from_str(&json).unwrap();
        let from = session.window_from();
        let log = self.log.iter().filter(|event| event.seq >= from);
        let resumed = Live::resume(session, log, &self.walk.programs);
        assert_eq!(resumed, self.live, "snapshot and window give the same state");
    }

    /// Ends the session, so that everything has to be closed.
    pub fn finish(&mut self) {
        let _ = self.feed(Command::Complete { reason: "the walk is over".to_owned() });
        assert!(self.live.session.round.is_none() && self.live.session.waiting.is_empty());
        // What is done beside the rounds ends by itself.
        self.drive();
        assert_eq!(self.live.session.asides, []);
    }

    /// Answers everything until nothing has work to do.
    pub fn drive(&mut self) {
        self.play(&Move::Hold(false));
        let _ = self.feed(Command::Resume);
        for _ in 0..2_000 {
            if let Some(request) = self.live.session.requests.first() {
                let results = vec![answer(request, true)];
                if self.feed(Command::Provide(results)).is_ok() {
                    continue;
                }
            }
            if let Some(iteration) = hosted(&self.live.session).into_keys().next() {
                let contribute = Command::Contribute { iteration, text: "So say I.".to_owned() };
                assert_eq!(self.feed(contribute), Ok(()));
                continue;
            }
            let Some(want) = self.live.session.wants().into_iter().next() else { return };
            self.satisfy(want);
        }
        panic!("it never ends");
    }

    fn satisfy(&mut self, want: Want) {
        match want {
            Want::CallModel { iteration, attempt, .. } => {
                let reply = Reply { text: "Done.".to_owned(), ..Reply::default() };
                self.report(Report::ModelReplied { iteration, attempt, reply });
            }
            Want::RunTool { tool_call, attempt, .. } => {
                let ran = Ran::Returned(ToolResult::ok("done"));
                self.report(Report::ToolRan { tool_call, attempt, ran });
            }
            Want::BeginEffect { tool_call } => self.report(Report::EffectBegins { tool_call }),
            Want::RunJob { round, ordinal, .. } => self.run_job(round, ordinal),
            Want::WakeAt(at) => {
                self.now = self.now.max(at);
                self.report(Report::Woke);
            }
        }
    }
}

/// The model calls that wait for the caller's own model, with their attempts.
fn hosted(session: &Session) -> BTreeMap<IterationId, u32> {
    let waiting = session.host_turns().filter_map(|turn| turn.iteration.as_ref());
    let attempt = |phase: &Phase| match phase {
        Phase::AwaitingModel { attempt, .. } => Some(*attempt),
        _ => None,
    };
    waiting.filter_map(|it| Some((it.id.clone(), attempt(&it.phase)?))).collect()
}

/// The moves.
impl Player {
    pub fn play(&mut self, one: &Move) {
        self.now = self.now.checked_add(SignedDuration::from_millis(100)).unwrap();
        match one {
            Move::Say { text, on_busy, answers, to } => self.say(*text, *on_busy, *answers, *to),
            Move::Provide { pick, success } => self.provide(pick, *success),
            Move::Queued { pick, withdraw } => self.change_queued(pick, *withdraw),
            Move::Contribute { pick } => self.contribute(pick),
            Move::Stop => self.command(Command::Stop),
            Move::Pause => self.command(Command::Pause),
            Move::Resume => self.command(Command::Resume),
            Move::Complete => self.command(Command::Complete { reason: "enough".to_owned() }),
            Move::Regenerate => self.command(Command::Regenerate),
            Move::Wish { pick } => self.wish(pick),
            Move::Rewind { pick } => self.rewind(pick),
            Move::Select { pick } => self.select(pick),
            Move::Act { pick, reply, how } => self.act(pick, reply, *how),
            Move::Fail { pick } => self.fail(pick),
            Move::Retry { pick } => self.retry(pick),
            Move::Stream { pick } => self.stream(pick),
            Move::Evaluate { pick, ordinal, other } => self.evaluate(pick, *ordinal, *other),
            Move::Publish { pick, ordinal } => self.publish(pick, *ordinal),
            Move::Repeat { pick } => self.repeat(pick),
            Move::WriterChanged => self.report(Report::WriterChanged),
            Move::Wait(seconds) => {
                self.now = self.now.checked_add(SignedDuration::from_secs(*seconds)).unwrap();
                self.report(Report::Woke);
            }
            Move::Hold(held) => self.hold(*held),
        }
    }

    fn command(&mut self, command: Command) {
        let _ = self.feed(command);
    }

    /// A caller asks for something that only the program knows.
    fn wish(&mut self, pick: &Index) {
        let Some(act) = choose(pick, &self.walk.acts).cloned() else { return };
        self.command(act);
    }

    fn hold(&mut self, held: bool) {
        self.starts = if held { Starts::Held } else { Starts::Allowed };
        let env = Env { now: self.now, partials: self.partials.clone() };
        let events = self.live.settle(&env, self.starts);
        self.record(events);
    }

    fn say(&mut self, text: bool, on_busy: OnBusy, answers: bool, to: u8) {
        self.messages += 1;
        let id = format!("m{}", self.messages);
        let requests = self.live.session.requests.iter().filter(|_| answers);
        let results = requests.map(|request| answer(request, true)).collect();
        let agents = self.live.session.agents.iter().enumerate();
        let to = agents.filter(|(index, _)| to & (1 << index) != 0);
        let to: Audience = to.map(|(_, agent)| agent.id.clone()).collect();
        let say = Say {
            text: text.then(|| format!("message {id}.")),
            to: Some(to).filter(|to| text && !to.is_empty()),
            on_busy,
            results,
            ..Say::new(MessageContext::new(&id, &self.live.session.id, None).unwrap())
        };
        self.command(Command::Say(say));
    }

    fn provide(&mut self, pick: &Index, success: bool) {
        let Some(request) = choose(pick, &self.live.session.requests) else { return };
        let result = answer(request, success);
        self.command(Command::Provide(vec![result]));
    }

    /// A message that waits is changed or taken back; one that does not wait never is.
    fn change_queued(&mut self, pick: &Index, withdraw: bool) {
        let session = &self.live.session;
        let mine = |context: &MessageContext| context.message_id().to_owned();
        let waiting: Vec<String> = session.waiting.iter().map(|it| mine(&it.context)).collect();
        let opened: Vec<String> =
            session.marks.iter().map(|mark| mark.input.message_id().to_owned()).collect();
        let change = |message_id: String| {
            let text = format!("instead of {message_id}");
            if withdraw {
                Command::Withdraw { message_id }
            } else {
                Command::Edit { message_id, text }
            }
        };
        if let Some(id) = choose(pick, &opened).filter(|id| !waiting.contains(id)) {
            assert!(self.feed(change(id.clone())).is_err(), "its round has opened");
        }
        if let Some(id) = choose(pick, &waiting) {
            assert_eq!(self.feed(change(id.clone())), Ok(()), "it waited");
        }
    }

    fn contribute(&mut self, pick: &Index) {
        let waiting: Vec<IterationId> = hosted(&self.live.session).into_keys().collect();
        let Some(iteration) = choose(pick, &waiting).cloned() else { return };
        let contribute = Command::Contribute { iteration, text: "So say I.".to_owned() };
        assert_eq!(self.feed(contribute.clone()), Ok(()), "it waited");
        assert!(self.feed(contribute).is_err(), "a contribution counts once");
    }

    fn rewind(&mut self, pick: &Index) {
        // The past changes only while nothing runs.
        self.command(Command::Stop);
        let numbers: Vec<u32> = self.live.session.marks.iter().map(|mark| mark.number).collect();
        let Some(number) = choose(pick, &numbers) else { return };
        self.command(Command::Rewind { number: *number });
    }

    fn select(&mut self, pick: &Index) {
        self.command(Command::Stop);
        let marks = self.live.session.marks.iter();
        let takes: Vec<(u32, u32)> = marks.map(|mark| (mark.number, mark.take)).collect();
        let Some((number, take)) = choose(pick, &takes) else { return };
        self.command(Command::SelectTake { number: *number, take: *take });
    }

    fn model_call(&self, pick: &Index) -> Option<(IterationId, u32)> {
        let wants = self.live.session.wants();
        let calls = wants.iter().filter_map(|want| match want {
            Want::CallModel { iteration, attempt, .. } => Some((iteration.clone(), *attempt)),
            _ => None,
        });
        choose(pick, &calls.collect::<Vec<_>>()).cloned()
    }

    fn tool_run(&self, pick: &Index) -> Option<(ToolCallId, u32)> {
        let wants = self.live.session.wants();
        let runs = wants.iter().filter_map(|want| match want {
            Want::RunTool { tool_call, attempt, .. } => Some((tool_call.clone(), *attempt)),
            _ => None,
        });
        choose(pick, &runs.collect::<Vec<_>>()).cloned()
    }

    fn run_job(&mut self, round: RoundId, ordinal: u32) {
        let job = self.live.session.find_scope(&round).and_then(|scope| scope.job.clone());
        let input = self.live.job_input(&round).unwrap();
        let outcome = self.walk.compute(&job.unwrap().name, input);
        self.report(Report::JobRan { round, ordinal, outcome });
    }

    fn act(&mut self, pick: &Index, words: &Words, how: u8) {
        let wants = self.live.session.wants();
        match choose(pick, &wants) {
            Some(Want::CallModel { iteration, attempt, .. }) => {
                let reply = self.reply(iteration, words);
                let (iteration, attempt) = (iteration.clone(), *attempt);
                self.report(Report::ModelReplied { iteration, attempt, reply });
            }
            Some(Want::RunTool { tool_call, attempt, .. }) => {
                let ran = match how {
                    0 => Ran::Refused("not today".to_owned()),
                    1 => Ran::CutOff("timeout".to_owned()),
                    2 => Ran::Returned(ToolResult::failed("no")),
                    _ => Ran::Returned(ToolResult::ok("done")),
                };
                let (tool_call, attempt) = (tool_call.clone(), *attempt);
                self.report(Report::ToolRan { tool_call, attempt, ran });
            }
            Some(Want::BeginEffect { tool_call }) => {
                self.report(Report::EffectBegins { tool_call: tool_call.clone() });
            }
            Some(Want::RunJob { round, ordinal, .. }) => self.run_job(round.clone(), *ordinal),
            Some(Want::WakeAt(_)) => {}
            None => self.nudge(pick, how),
        }
    }

    /// Nothing is under way: a person does something.
    fn nudge(&mut self, pick: &Index, how: u8) {
        if self.live.session.status == Status::Paused {
            self.command(Command::Resume);
        } else if self.live.session.requests.is_empty() || how == 0 {
            self.say(how > 1, OnBusy::Queue, how > 2, 0);
        } else {
            self.provide(pick, how > 1);
        }
    }

    fn reply(&self, iteration: &IterationId, words: &Words) -> Reply {
        let usage = words.usage.map(|parts| self.usage(iteration, parts));
        let calls = words.calls.iter().map(|(tool, variant)| call(TOOLS[*tool], *variant));
        Reply {
            text: if words.text { self.words(iteration, words.seed) } else { String::new() },
            calls: calls.collect(),
            record: CallRecord { usage, ..CallRecord::default() },
            ..Reply::default()
        }
    }

    fn words(&self, iteration: &IterationId, seed: u64) -> String {
        match &self.walk.words {
            Some(words) => words(seed),
            None => format!("words of {iteration}."),
        }
    }

    /// Some part of what was reserved, never more.
    fn usage(&self, iteration: &IterationId, (input, output): (u8, u8)) -> Usage {
        let (_, turn) = self.live.session.turn_of_iteration(iteration).unwrap();
        let Phase::AwaitingModel { reserved, .. } = turn.iteration.as_ref().unwrap().phase else {
            panic!("it is wanted, so it is awaited");
        };
        let max_tokens = u64::from(self.live.session.find_agent(&turn.agent).unwrap().max_tokens);
        let prompt = reserved.tokens - max_tokens;
        let part = |whole: u64, share: u8| whole * u64::from(share) / 255;
        Usage { input: part(prompt, input), output: part(max_tokens, output), ..Usage::default() }
    }

    fn fail(&mut self, pick: &Index) {
        let Some((iteration, attempt)) = self.model_call(pick) else { return };
        let (error, unanswered) = ("down".to_owned(), self.unanswered(&iteration));
        self.report(Report::ModelFailed { iteration, attempt, error, unanswered });
    }

    fn retry(&mut self, pick: &Index) {
        let Some((iteration, attempt)) = self.model_call(pick) else { return };
        let (error, unanswered) = ("down".to_owned(), self.unanswered(&iteration));
        self.report(Report::ModelRetries { iteration, attempt, error, unanswered });
    }

    /// What was being said had arrived; a call that said nothing was refused.
    fn unanswered(&self, iteration: &IterationId) -> Unanswered {
        match self.partials.get(iteration) {
            Some(partial) => Unanswered::BrokenOff { arrived: partial.len() as u64 },
            None => Unanswered::Refused,
        }
    }

    fn stream(&mut self, pick: &Index) {
        let Some((iteration, _)) = self.model_call(pick) else { return };
        self.partials.insert(iteration, "half a sen".to_owned());
    }

    fn evaluate(&mut self, pick: &Index, ordinal: u32, other: bool) {
        let Some((tool_call, _)) = self.tool_run(pick) else { return };
        let mut prompt = nested(&format!("prompt {ordinal}{}", if other { "?" } else { "" }));
        prompt.tools = vec!["look".to_owned(), "pay".to_owned()];
        self.report(Report::Evaluate { tool_call, ordinal, prompt });
    }

    fn publish(&mut self, pick: &Index, ordinal: u32) {
        let Some((tool_call, _)) = self.tool_run(pick) else { return };
        let (topic, data) = ("progress".to_owned(), json!(ordinal));
        self.report(Report::Publish { tool_call, ordinal, topic, data });
    }

    /// A report comes a second time, or late.
    fn repeat(&mut self, pick: &Index) {
        let Some(report) = choose(pick, &self.reported).cloned() else { return };
        let _ = self.feed(report);
    }
}

fn choose<'a, T>(pick: &Index, among: &'a [T]) -> Option<&'a T> {
    if among.is_empty() { None } else { Some(pick.get(among)) }
}

fn call(name: &str, variant: u8) -> AskedCall {
    let arguments: Value = match name {
        "delegate" => {
            json!({"agent": if variant == 0 { "ada" } else { "cid" }, "mission": "dig"})
        }
        "ask" => json!({ "question": if variant == 0 { "which one?" } else { "" } }),
        "request_context" => json!({
            "query": "the price",
            "reason": "to decide",
            "priority": if variant == 0 { "required" } else { "optional" },
        }),
        _ => json!({"variant": variant}),
    };
    AskedCall { name: name.to_owned(), arguments, reference: None, misfit: None }
}

fn opening(setup: &Setup) -> Command {
    Command::Open(Box::new(Opening {
        kind: Name::constant("walk"),
        topic: "A walk".to_owned(),
        agents: setup.agents.clone(),
        settings: setup.settings.clone(),
        actor: None,
        tenant: None,
    }))
}

fn nested(input: &str) -> NestedPrompt {
    NestedPrompt {
        name: "sub".to_owned(),
        system: "Judge.".to_owned(),
        input: input.to_owned(),
        tools: Vec::new(),
        output: None,
    }
}

/// An answer that fits the kind of the request.
fn answer(request: &ContextRequest, yes: bool) -> ContextResult {
    let id = request.id.clone();
    match (request.kind(), yes) {
        (RequestKind::Question, true) => ContextResult::found(id, "so it is"),
        (RequestKind::Question, false) => ContextResult::not_found(id, "nobody knows"),
        (RequestKind::Approval, true) => ContextResult::approve(id),
        (RequestKind::Approval, false) => ContextResult::deny(id, "rather not"),
        (RequestKind::UnknownOutcome, true) => ContextResult::decided(id, Decision::Happened),
        (RequestKind::UnknownOutcome, false) => ContextResult::decided(id, Decision::Unknown),
    }
}
