//! An open turn: what was said in it, and what of it is still being put together.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;

use super::Utterance;
use crate::budget::Charge;
use crate::event::{IterationEvent, Task, TurnOutcome};
use crate::id::{RoundId, ToolCallId, TurnId};
use crate::message::{Citation, Reasoning, ToolAnswer, ToolRequest};
use crate::prompt::OutputSchema;
use crate::turn::Context;

/// An open turn.
#[derive(Debug, Clone, PartialEq)]
pub struct TurnRecord {
    /// Whose turn it is, and what was said in it so far.
    pub utterance: Utterance,
    /// Why it takes place.
    pub task: Task,
    /// In which round or aside.
    pub round: RoundId,
    /// The turn that waits for it.
    pub parent: Option<TurnId>,
    /// What its prompt is called.
    pub name: String,
    /// What its answer has to look like.
    pub output: Option<OutputSchema>,
    /// Whether it is told of earlier rounds.
    pub history: bool,
    /// What was said in it, message by message.
    pub context: Context,
    /// A reply whose tool calls are still to come.
    pub(super) reply: Option<PendingReply>,
    pub(super) calls: Vec<ToolRequest>,
    pub(super) answers: BTreeMap<ToolCallId, ToolAnswer>,
    /// The calls whose tools ran.
    pub(super) ran: BTreeSet<ToolCallId>,
}

/// A reply, and how many tool calls belong to it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct PendingReply {
    pub text: String,
    pub thoughts: Vec<Reasoning>,
    pub calls: usize,
}

/// What a child turn came to, kept for the tool call that asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChildRecord {
    /// How it ended.
    pub outcome: TurnOutcome,
    /// What it said.
    pub text: String,
    /// The sources that it named.
    pub citations: Vec<Citation>,
}

impl ChildRecord {
    /// A source that was named twice is one source.
    pub(super) fn new(outcome: &TurnOutcome, said: Utterance) -> Self {
        let mut citations: Vec<Citation> = Vec::new();
        for citation in said.citations {
            if !citations.contains(&citation) {
                citations.push(citation);
            }
        }
        Self { outcome: outcome.clone(), text: said.text, citations }
    }
}

/// What of a prompt is decided when its turn begins, besides its words.
pub(super) struct Prompting {
    pub name: String,
    pub output: Option<OutputSchema>,
    pub history: bool,
}

impl TurnRecord {
    pub(super) fn new(
        utterance: Utterance,
        task: Task,
        round: RoundId,
        context: Context,
        Prompting { name, output, history }: Prompting,
    ) -> Self {
        Self {
            utterance,
            task,
            round,
            parent: None,
            name,
            output,
            history,
            context,
            reply: None,
            calls: Vec::new(),
            answers: BTreeMap::new(),
            ran: BTreeSet::new(),
        }
    }

    /// Adds the reply once all of its tool calls are known.
    pub(super) fn complete_reply(&mut self, at: Timestamp) {
        let whole = |reply: &mut PendingReply| self.calls.len() >= reply.calls;
        let Some(reply) = self.reply.take_if(whole) else { return };
        let PendingReply { text, thoughts, .. } = reply;
        let calls = self.calls.clone();
        self.context.replace(|context| context.reply(&text, thoughts, calls, at));
    }
}

/// What an event adds to what its turn took. Turns of earlier versions tell what they told: a call
/// that failed took nothing, though the session's account has what was reserved for it.
pub(super) fn booked(body: &IterationEvent) -> Option<Charge> {
    match body {
        IterationEvent::ModelCallInterrupted { charge, .. }
        | IterationEvent::ModelCallFailed { charge, .. }
        | IterationEvent::ModelCallCancelled { charge, .. } => {
            Some(charge.unwrap_or(Charge::REFUSED))
        }
        IterationEvent::ModelCallRetried { charge, .. } => Some(*charge),
        IterationEvent::ModelCallFinished { record, charge, .. } => {
            let counted = record.usage.map(|usage| Charge::counted(usage, record.cost));
            let nothing = || Charge::counted(crate::budget::Usage::default(), record.cost);
            Some(counted.or(*charge).unwrap_or_else(nothing))
        }
        IterationEvent::IterationOpened { .. }
        | IterationEvent::ModelCallStarted { .. }
        | IterationEvent::IterationClosed { .. } => None,
    }
}
