//! A session whose events can be appended one step after another, without an engine.

use std::sync::Arc;

use jiff::Timestamp;
use roundtable_core::agent::Agent;
use roundtable_core::budget::Spend;
use roundtable_core::digest::Digest;
use roundtable_core::event::{Event, Origin, Seq};
use roundtable_core::id::{CommandId, NodeId, SessionId};
use roundtable_core::input::{Command, Env, Input};
use roundtable_core::program::Programs;
use roundtable_core::projection::{Summary, rows};
use roundtable_core::settings::Settings;
use roundtable_core::{Live, Starts};
use roundtable_ports::{Batch, CommandRecord, LogError, Ownership, Receipt, Store};

use crate::{opening, say};

pub fn node(name: &str) -> NodeId {
    NodeId::new(name).expect("a node id")
}

pub fn session(name: &str) -> SessionId {
    SessionId::new(name).expect("a session id")
}

pub fn command(name: &str) -> CommandId {
    CommandId::new(name).expect("a command id")
}

pub fn env() -> Env {
    Env::at(Timestamp::from_second(1_800_000_000).expect("a time"))
}

/// The record of a command that said something.
pub fn record(name: &str, after: u64, seq: u64) -> CommandRecord {
    CommandRecord {
        id: command(name),
        digest: Digest::of(b"what it said"),
        receipt: Receipt {
            after: Seq(after),
            seq: Seq(seq),
            warnings: vec!["mind the gap".to_owned()],
        },
    }
}

/// A session whose events can be appended one step after another.
pub struct Draft {
    pub live: Live,
    pub own: Ownership,
    pub origin: Option<Origin>,
    /// What the next append says was spent.
    pub spent: Spend,
}

impl Draft {
    pub async fn claim(store: &Store, name: &str, by: &str) -> Self {
        store.leases.renew(&node(by)).await.expect("a node that lives");
        let own = store.leases.claim_one(&session(name), &node(by)).await.expect("a free session");
        Self {
            live: Live::new(session(name), &Programs::default()),
            own,
            origin: None,
            spent: Spend::default(),
        }
    }

    /// A session that has been opened.
    pub async fn opened(store: &Store, name: &str, by: &str) -> Self {
        let mut draft = Self::claim(store, name, by).await;
        let events = draft.open();
        draft.append(store, Seq(0), &events).await.expect("a first append");
        draft
    }

    pub fn open(&mut self) -> Vec<Arc<Event>> {
        let agents: Vec<Agent> = vec![crate::agent("Ann"), crate::agent("Bob")];
        self.step(Command::Open(Box::new(opening(agents, Settings::default()))))
    }

    pub fn step(&mut self, input: impl Into<Input>) -> Vec<Arc<Event>> {
        let events =
            self.live.step(&input.into(), &env(), Starts::Allowed).expect("an accepted input");
        events.into_iter().map(Arc::new).collect()
    }

    pub async fn append(
        &self,
        store: &Store,
        expect: Seq,
        events: &[Arc<Event>],
    ) -> Result<Seq, LogError> {
        self.append_with(store, expect, events, &[]).await
    }

    pub async fn append_with(
        &self,
        store: &Store,
        expect: Seq,
        events: &[Arc<Event>],
        commands: &[CommandRecord],
    ) -> Result<Seq, LogError> {
        let summary = Summary::of(&self.live.session);
        self.append_as(store, expect, events, commands, &summary).await
    }

    pub async fn append_as(
        &self,
        store: &Store,
        expect: Seq,
        events: &[Arc<Event>],
        commands: &[CommandRecord],
        summary: &Summary,
    ) -> Result<Seq, LogError> {
        let spent = self.spent;
        let made: Vec<_> = events.iter().flat_map(|event| rows(event, &self.live)).collect();
        let batch = Batch {
            expect,
            origin: self.origin.as_ref(),
            events,
            rows: &made,
            commands,
            summary,
            spent,
        };
        store.log.append(&self.own, batch).await
    }

    /// Opens the session and says something.
    pub async fn begin(&mut self, store: &Store) -> Vec<Arc<Event>> {
        let mut events = self.open();
        events.extend(self.step(say(&self.own.session.clone(), "m1", "Hello")));
        self.append(store, Seq(0), &events).await.expect("a first append");
        events
    }

    /// Says something, so that a round opens.
    pub async fn begin_round(&mut self, store: &Store) {
        let session = self.own.session.clone();
        self.send(store, say(&session, "m1", "Hello")).await;
    }

    /// Cuts the open round off.
    pub async fn stop(&mut self, store: &Store) {
        self.send(store, Command::Stop).await;
    }

    /// Appends what a command or a report makes happen.
    pub async fn send(&mut self, store: &Store, input: impl Into<Input>) {
        let head = self.live.session.head;
        let events = self.step(input);
        self.append(store, head, &events).await.expect("an append");
    }

    /// A fork of a session at an event, with a round of its own.
    pub async fn fork(store: &Store, past: &[Arc<Event>], origin: Origin, name: &str) -> Self {
        let mut fork = Self::claim(store, name, "one").await;
        let seq = origin.seq;
        past.iter().filter(|event| event.seq <= seq).for_each(|event| fork.live.apply(event));
        fork.origin = Some(origin.clone());
        let mut events = fork.step(Command::Fork { origin, agents: None });
        events.extend(fork.step(say(&session(name), "m1", &format!("Only in {name}"))));
        fork.append(store, seq, &events).await.expect("a fork");
        fork.stop(store).await;
        fork
    }
}
