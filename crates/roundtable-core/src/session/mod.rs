//! A session: the state that a fold of its log gives, and the decisions that are taken on it.
//!
//! It holds open scopes, counters, pending requests and budgets, never the transcript.

mod close;
mod command;
mod decide;
mod evolve;
mod follow;
mod host;
mod ledger;
mod report;
mod scopes;
mod stages;
mod wants;

use std::collections::{BTreeMap, VecDeque};

pub(crate) use follow::{PreparedPrompt, With};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::agent::Agent;
use crate::budget::Account;
use crate::context_request::{ContextRequest, Priority};
use crate::digest::Digest;
use crate::event::{AcceptedInput, Body, MessageRef, RoundOutcome, Seq};
use crate::id::{AgentId, ContextRequestId, SessionId, TurnId};
use crate::message_context::MessageContext;
use crate::program::PANEL;
use crate::round::Round;
use crate::scope::Place;
use crate::settings::Settings;
use crate::stage::Name;
use crate::state;

/// An event that was decided and has no position yet.
pub(crate) type Draft = (Place, Body);

/// Status of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// It opens rounds.
    Active,
    /// It opens no rounds until it is resumed.
    Paused,
    /// It is over.
    Completed,
}

/// An acknowledged input whose round has not opened. Its text is in the log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Waiting {
    /// Its ids.
    pub context: MessageContext,
    /// Whether it has a text, and so a message number.
    pub has_text: bool,
    /// Where the log has it.
    pub seq: Seq,
}

/// A round that a prompt can draw on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mark {
    /// Its number.
    pub number: u32,
    /// Which take of that number.
    pub take: u32,
    /// Whether this is the take that counts.
    pub active: bool,
    /// The first event that belongs to it: its input, or an answer that it was given.
    pub from: Seq,
    /// The input that opened it.
    pub input: MessageContext,
    /// The input's message, when it says something.
    pub said: Option<MessageRef>,
    /// The requests whose answers it was given.
    pub answered: Vec<ContextRequest>,
    /// How it ended, once it did.
    pub outcome: Option<RoundOutcome>,
    /// Why the session ends with it, if it does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ends: Option<String>,
    /// What it changed in the state of the program: while it counts, the patch that leads back to
    /// the state before it; while it does not, the patch that leads forth again.
    #[serde(default = "state::empty", skip_serializing_if = "state::is_empty")]
    pub patch: Value,
}

/// A session's state.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Session {
    /// Its id.
    pub id: SessionId,
    /// What kind of session it is: the name of its product.
    pub kind: Name,
    /// What it was opened with. Prompts depend on it, so it never changes.
    pub topic: String,
    /// What people call it, where that is not its topic.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Whether lists leave it out unless they are asked for archived sessions.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub archived: bool,
    /// The agents.
    pub agents: Vec<Agent>,
    /// How it runs.
    pub settings: Settings,
    /// On whose behalf.
    pub actor: Option<String>,
    /// For which tenant.
    pub tenant: Option<String>,
    /// Whether it has begun.
    pub opened: bool,
    /// Whether it opens rounds.
    pub status: Status,
    /// The last event that was applied.
    pub head: Seq,
    /// What it has spent.
    pub account: Account,
    /// Number of finished rounds.
    pub rounds_completed: u32,
    /// How many of those have left the window.
    pub completed_before: u32,
    /// The number of the last round that counts.
    pub last_number: u32,
    /// The number of the last message.
    pub last_message: u64,
    /// The open round.
    pub round: Option<Round>,
    /// Inputs whose rounds have not opened, oldest first.
    pub waiting: VecDeque<Waiting>,
    /// A round that is to be run again.
    pub redo: Option<Mark>,
    /// The requests that are pending, oldest first.
    pub requests: Vec<ContextRequest>,
    /// The last ones that were answered, so that a late or second answer is known as one.
    pub answered: VecDeque<ContextRequestId>,
    /// Their answers, as far as they are known, to distinguish a different answer from a retry.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub answer_digests: BTreeMap<ContextRequestId, Digest>,
    /// Requests answered since the last round opened: the next one gets the answers.
    pub carried: Vec<ContextRequest>,
    /// Where the first of those answers is.
    pub carried_from: Option<Seq>,
    /// The rounds that a prompt can draw on, oldest first.
    pub marks: VecDeque<Mark>,
    /// The state of its program.
    #[serde(default = "state::empty", skip_serializing_if = "state::is_empty")]
    pub state: Value,
    /// What is under way beside the rounds, oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub asides: Vec<Round>,
    /// How many asides were opened.
    #[serde(default)]
    pub asides_opened: u32,
    /// The last asides that were completed: there is no need to do the same again.
    #[serde(default, skip_serializing_if = "VecDeque::is_empty")]
    pub asides_done: VecDeque<AsideKey>,
    /// Whether the log holds something that this version does not know.
    pub newer: bool,
}

/// What an aside is for: the same twice is not needed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AsideKey {
    /// What it is for.
    pub purpose: Name,
    /// The round that it is about.
    pub number: u32,
    /// The take of that round.
    pub take: u32,
    /// Who speaks first in it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<AgentId>,
}

/// How many answered requests are remembered.
const ANSWERED: usize = 1024;

/// How many asides are remembered.
const ASIDES: usize = 64;

impl Session {
    /// A session before its first event.
    pub fn new(id: SessionId) -> Self {
        Self {
            id,
            kind: PANEL,
            topic: String::new(),
            title: None,
            archived: false,
            agents: Vec::new(),
            settings: Settings::default(),
            actor: None,
            tenant: None,
            opened: false,
            status: Status::Active,
            head: Seq::default(),
            account: Account::default(),
            rounds_completed: 0,
            completed_before: 0,
            last_number: 0,
            last_message: 0,
            round: None,
            waiting: VecDeque::new(),
            redo: None,
            requests: Vec::new(),
            answered: VecDeque::new(),
            answer_digests: BTreeMap::new(),
            carried: Vec::new(),
            carried_from: None,
            marks: VecDeque::new(),
            state: state::empty(),
            asides: Vec::new(),
            asides_opened: 0,
            asides_done: VecDeque::new(),
            newer: false,
        }
    }

    /// What lists call it: its title, or its topic where it has none.
    pub fn title(&self) -> &str {
        self.title.as_ref().unwrap_or(&self.topic)
    }

    /// The participant with this id.
    pub fn find_agent(&self, id: &AgentId) -> Option<&Agent> {
        self.agents.iter().find(|agent| agent.id == *id)
    }

    /// The pending requests that hold the next round back.
    pub fn required(&self) -> impl Iterator<Item = &ContextRequest> {
        self.requests.iter().filter(|request| request.priority == Priority::Required)
    }

    /// The number of the round in progress, or the one after the last. Where the last one failed and
    /// does not count, [`Session::next_number`] is the one that opens next.
    pub fn current_round(&self) -> u32 {
        self.round.as_ref().map_or(self.last_number + 1, |round| round.number)
    }

    /// The last round, when nobody could answer in it. Where rounds are counted such a round does
    /// not count: the next input opens its next take.
    pub fn failed_round(&self) -> Option<&Mark> {
        self.settings.total_rounds?;
        let last = self.marks.iter().filter(|mark| mark.active).max_by_key(|mark| mark.number)?;
        (last.outcome == Some(RoundOutcome::Failed)).then_some(last)
    }

    /// The number of the round that the next input opens, when no other input waits.
    pub fn next_number(&self) -> u32 {
        self.failed_round().map_or(self.last_number + 1, |failed| failed.number)
    }

    /// Whether nothing more happens for a message that was acknowledged before a person acts: its
    /// round has closed, will never open, or a call of it waits for an approval or an answer.
    pub fn is_over(&self, message_id: &str) -> bool {
        if self.waiting.iter().any(|waiting| waiting.context.message_id() == message_id) {
            return false;
        }
        let open = |round: &&Round| round.input.message_id() == message_id;
        let Some(_) = self.scopes().find(open) else { return true };
        self.required().any(|request| request.about.waiting_call().is_some())
    }

    /// The first event that a prompt can still draw on, or that a waiting input needs.
    pub fn window_from(&self) -> Seq {
        let marks = self.marks.iter().map(|mark| mark.from).min();
        // One that was edited stands before others whose events are older.
        let waiting = self.waiting.iter().map(|waiting| waiting.seq).min();
        let asides = self.asides.iter().map(|aside| aside.since).min();
        [marks, waiting, self.carried_from, asides]
            .into_iter()
            .flatten()
            .min()
            .unwrap_or(self.head.next())
    }

    /// A request that is pending, or whose answer a prompt can still draw on.
    pub(crate) fn find_request(&self, id: &ContextRequestId) -> Option<&ContextRequest> {
        let recent = self.marks.iter().flat_map(|mark| &mark.answered);
        self.requests.iter().chain(&self.carried).chain(recent).find(|request| request.id == *id)
    }

    /// How many bytes the descriptions of these tools add to a turn's prompt.
    pub(crate) fn tool_bytes(&self, turn: &TurnId, tools: &[String]) -> u64 {
        let turn = self.find_turn(turn).map(|(_, turn)| turn);
        let Some(agent) = turn.and_then(|turn| self.find_agent(&turn.agent)) else { return 0 };
        tools.iter().filter_map(|name| agent.find_tool(name)).map(|tool| tool.prompt_bytes).sum()
    }

    /// Which take the next round with this number will be.
    pub(crate) fn next_take(&self, number: u32) -> u32 {
        let takes = self.marks.iter().filter(|mark| mark.number == number).map(|mark| mark.take);
        takes.max().unwrap_or(0) + 1
    }

    /// Who speaks in the next round.
    pub fn seats(&self) -> Vec<AgentId> {
        if self.settings.seats.is_empty() {
            return self.agents.iter().map(|agent| agent.id.clone()).collect();
        }
        self.settings.seats.clone()
    }

    /// Whether the session is over with this round at the latest.
    pub fn is_final_round(&self, number: u32) -> bool {
        self.settings.total_rounds.is_some_and(|total| number >= total)
    }
}

impl Mark {
    /// Whether it is this take of this round.
    pub(crate) fn is(&self, number: u32, take: u32) -> bool {
        self.number == number && self.take == take
    }
}

impl Waiting {
    pub(crate) fn of(accepted: &AcceptedInput, seq: Seq) -> Self {
        Self { context: accepted.context.clone(), has_text: accepted.text.is_some(), seq }
    }
}
