//! Turns without an engine: the batches that a durable turn commits, made beforehand.

use std::sync::Arc;

use roundtable::core::agent::Agent;
use roundtable::core::budget::{Spend, Usage};
use roundtable::core::event::{CallRecord, Event, Opening, Seq, StopReason};
use roundtable::core::id::SessionId;
use roundtable::core::input::{Command, Env, Input, Reply, Report, Say};
use roundtable::core::program::Programs;
use roundtable::core::projection::{Row, Summary, rows};
use roundtable::core::settings::Settings;
use roundtable::core::stage::Name;
use roundtable::core::want::Want;
use roundtable::core::{Live, MessageContext, Starts};
use roundtable::driver::{SystemClock, UuidIds};
use roundtable::ports::{Batch, Clock as _, Ids as _};

/// One commit of a session.
pub struct Commit {
    pub expect: Seq,
    pub events: Vec<Arc<Event>>,
    pub rows: Vec<Row>,
    pub summary: Summary,
}

impl Commit {
    pub fn batch(&self) -> Batch<'_> {
        Batch {
            expect: self.expect,
            origin: None,
            events: &self.events,
            rows: &self.rows,
            commands: &[],
            summary: &self.summary,
            spent: Spend::default(),
        }
    }

    /// Several commits as one.
    pub fn all(commits: Vec<Self>) -> Self {
        let expect = commits.first().map_or(Seq(0), |commit| commit.expect);
        let summary = commits.last().map(|commit| commit.summary.clone()).expect("a commit");
        let (mut events, mut rows) = (Vec::new(), Vec::new());
        for commit in commits {
            events.extend(commit.events);
            rows.extend(commit.rows);
        }
        Self { expect, events, rows, summary }
    }
}

/// A text of so many bytes.
pub fn words(bytes: usize) -> String {
    let words = "a few words about this and that ";
    words.chars().cycle().take(bytes).collect()
}

/// A session that speaks to itself: two commits per turn, one when the message comes in and one
/// when the answer is there.
pub struct Talk {
    live: Live,
    text: String,
    kind: Name,
}

impl Talk {
    /// A chat whose messages have so many bytes.
    pub fn new(bytes: usize) -> Self {
        let id = SessionId::new(&UuidIds.fresh()).expect("an id");
        Self {
            live: Live::new(id, &Programs::default()),
            text: words(bytes),
            kind: Name::constant("chat"),
        }
    }

    /// The same as a scene.
    pub fn scene(bytes: usize) -> Self {
        Self { kind: Name::constant("scene"), ..Self::new(bytes) }
    }

    pub fn text(&self) -> &str {
        &self.text
    }

    pub fn id(&self) -> &SessionId {
        &self.live.session.id
    }

    pub fn open(&mut self) -> Commit {
        let agent = Agent::new("Ann", "scripted").expect("an agent");
        let settings = Settings { window_rounds: 2, ..Settings::default() };
        let opening = Opening {
            kind: self.kind.clone(),
            topic: "a benchmark".to_owned(),
            agents: vec![agent],
            settings,
            actor: None,
            tenant: None,
        };
        self.step(&Command::Open(Box::new(opening)).into())
    }

    /// The two commits of a turn.
    pub fn turn(&mut self) -> [Commit; 2] {
        let context = MessageContext::new(&UuidIds.fresh(), self.id(), None);
        let say = Say { text: Some(self.text.clone()), ..Say::new(context.expect("an id")) };
        let asked = self.step(&Command::Say(say).into());
        let wants = self.live.session.wants();
        let call = wants.iter().find_map(|want| match want {
            Want::CallModel { iteration, attempt, .. } => Some((iteration.clone(), *attempt)),
            _ => None,
        });
        let (iteration, attempt) = call.expect("a model call");
        let record = CallRecord {
            model: "scripted".to_owned(),
            latency_ms: 750,
            usage: Some(Usage { input: 100, output: 20, ..Usage::default() }),
            cost: None,
            stop: StopReason::End,
            ..CallRecord::default()
        };
        let reply = Reply { text: self.text.clone(), record, ..Reply::default() };
        let answered = self.step(&Report::ModelReplied { iteration, attempt, reply }.into());
        [asked, answered]
    }

    fn step(&mut self, input: &Input) -> Commit {
        let expect = self.live.session.head;
        let env = Env::at(SystemClock.now());
        let events = self.live.step(input, &env, Starts::Allowed).expect("an accepted input");
        let rows = events.iter().flat_map(|event| rows(event, &self.live)).collect();
        let summary = Summary::of(&self.live.session);
        Commit { expect, events: events.into_iter().map(Arc::new).collect(), rows, summary }
    }
}
