//! The oracle: what has to hold after every fault, whatever happened.
//!
//! It is given evidence from all sides (the logs, what callers were told, what the provider and
//! the tools counted, what readers received, what engines said the state was) and names every
//! contradiction. It knows no engine.

mod calls;
mod commands;
mod log;
mod readers;
mod scopes;
mod state;
#[cfg(test)]
mod tests;
mod tools;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use roundtable_backend::StoredEvent;
use roundtable_core::event::{Body, Event, Origin, Seq, SessionEvent};
use roundtable_core::id::{CommandId, SessionId, ToolCallId};
use roundtable_core::input::Command;
use roundtable_core::program::Programs;
use roundtable_core::session::Session;
use roundtable_core::tool::Effect;
use roundtable_models::scripted::Received;
use roundtable_ports::{CommandRecord, Receipt};

/// Which promise was broken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rule {
    /// A session's sequence is gap-free and immutable.
    I1,
    /// An acknowledged command has exactly one effect.
    I2,
    /// A call has at most one finish, and none without a start.
    I3,
    /// One epoch for a sequence number, and epochs never decrease.
    I4,
    /// What a reader received is a duplicate-free copy of the log.
    I5,
    /// An event is seen only by those allowed on its session.
    I6,
    /// State rebuilt from the log equals live state.
    I7,
    /// The log and the provider agree on every call and its usage.
    I8,
    /// A scope that opened is closed exactly once, children first.
    Scopes,
    /// A tool is run no more often than its effect allows.
    Tools,
}

/// A contradiction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    /// Which promise it breaks.
    pub rule: Rule,
    /// How.
    pub what: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}: {}", self.rule, self.what)
    }
}

/// What a caller was told of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// Nothing yet: it will be sent, or sent again.
    Open,
    /// That it is committed.
    Acknowledged(Receipt),
    /// That it is refused.
    Refused(String),
    /// Nothing, and it will not be sent again: it has no id to repeat it safely.
    Lost,
}

/// A command that a caller sent.
#[derive(Debug, Clone, PartialEq)]
pub struct Order {
    /// To which session.
    pub session: SessionId,
    /// Its id, if it can be repeated.
    pub id: Option<CommandId>,
    /// The command.
    pub command: Command,
    /// What the caller was told.
    pub answer: Answer,
}

/// One run of a tool's handler.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Execution {
    /// For which call.
    pub tool_call: ToolCallId,
    /// The tool.
    pub tool: String,
    /// What repeating it would do.
    pub effect: Effect,
}

/// What a reader received, over all of its connections.
#[derive(Debug, Clone, PartialEq)]
pub struct Reading {
    /// Of which session.
    pub session: SessionId,
    /// The reader's tenant: it may read only the sessions of that tenant.
    pub tenant: Option<String>,
    /// Where it began to read.
    pub from: Seq,
    /// The events, as they came.
    pub events: Vec<Arc<Event>>,
}

/// Everything that is known of a run that has come to rest.
#[derive(Clone, Default)]
pub struct Evidence {
    /// The programs that the sessions run.
    pub programs: Programs,
    /// The sessions' own logs.
    pub logs: BTreeMap<SessionId, Vec<StoredEvent>>,
    /// The commands that the store remembers.
    pub records: BTreeMap<SessionId, Vec<CommandRecord>>,
    /// What callers sent and were told.
    pub orders: Vec<Order>,
    /// What the provider received and counted.
    pub received: Vec<Received>,
    /// What the tools did.
    pub executions: Vec<Execution>,
    /// What readers received.
    pub readings: Vec<Reading>,
    /// What engines said the states were, at any time.
    pub states: Vec<Session>,
}

impl Evidence {
    /// Every contradiction in the evidence of a run that has come to rest.
    pub fn violations(&self) -> Vec<Violation> {
        let mut found = Findings::default();
        for (session, stored) in &self.logs {
            log::check(session, stored, &mut found);
            scopes::check(session, stored, &mut found);
        }
        calls::check(self, &mut found);
        commands::check(self, &mut found);
        tools::check(self, &mut found);
        readers::check(self, &mut found);
        state::check(self, &mut found);
        found.0
    }

    /// What contradicts earlier logs of the same sessions: what was written stays as it was.
    pub fn rewrites(&self, earlier: &BTreeMap<SessionId, Vec<StoredEvent>>) -> Vec<Violation> {
        let mut found = Findings::default();
        for (session, before) in earlier {
            let after = self.logs.get(session).map(Vec::as_slice).unwrap_or_default();
            log::check_unchanged(session, before, after, &mut found);
        }
        found.0
    }

    /// What readers received and the logs do not have there; they need not be at the end yet.
    pub fn misreadings(&self) -> Vec<Violation> {
        let wrong =
            |reading: &Reading| readers::first_difference(reading, &self.lineage(&reading.session));
        self.readings.iter().filter_map(wrong).collect()
    }

    /// A session's whole past, its origin's included.
    pub fn lineage(&self, session: &SessionId) -> Vec<Arc<Event>> {
        let Some(stored) = self.logs.get(session) else { return Vec::new() };
        let mut events = match origin(stored) {
            Some(origin) => {
                let mut past = self.lineage(&origin.session);
                past.retain(|event| event.seq <= origin.seq);
                past
            }
            None => Vec::new(),
        };
        events.extend(stored.iter().map(|stored| stored.event.clone()));
        events
    }
}

/// Where a fork comes from: its own first event says so.
fn origin(stored: &[StoredEvent]) -> Option<&Origin> {
    match &stored.first()?.event.body {
        Body::Session(SessionEvent::SessionForked { origin, .. }) => Some(origin),
        _ => None,
    }
}

#[derive(Default)]
struct Findings(Vec<Violation>);

impl Findings {
    fn add(&mut self, rule: Rule, what: impl Into<String>) {
        self.0.push(Violation { rule, what: what.into() });
    }

    fn check(&mut self, holds: bool, rule: Rule, what: impl FnOnce() -> String) {
        if !holds {
            self.add(rule, what());
        }
    }
}
