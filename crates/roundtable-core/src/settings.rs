//! How a session runs: its program, its order, its limits.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::budget::Limits;
use crate::id::AgentId;
use crate::program::PANEL;
use crate::stage::Name;

/// The program that a session runs, with the rules that it was opened with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProgramRef {
    /// Its name.
    pub name: Name,
    /// Its rules, as the program writes them.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub rules: Value,
}

impl Default for ProgramRef {
    fn default() -> Self {
        Self { name: PANEL, rules: Value::Null }
    }
}

impl ProgramRef {
    fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// Whether the participants of a round hear each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Order {
    /// All at once; nobody sees what another says in the same round.
    Parallel,
    /// One after another; each sees what was said before it.
    Sequential,
}

/// How a session runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Settings {
    /// Whether the participants of a round hear each other.
    pub order: Order,
    /// Who speaks in every round; empty means everyone.
    pub seats: Vec<AgentId>,
    /// After how many rounds the session is over; nothing means never.
    pub total_rounds: Option<u32>,
    /// Whether each round but the last is followed by the next without anyone asking for it.
    pub auto_continue: bool,
    /// What the whole session may spend.
    pub session_limits: Limits,
    /// What one round may spend.
    pub round_limits: Limits,
    /// How deep turns may nest: 1 allows no child turns.
    pub max_depth: u32,
    /// How many tool calls one reply may ask for.
    pub max_tool_calls: u32,
    /// How many inputs may wait.
    pub max_waiting: u32,
    /// How many bytes one message, or all results of one answer, may have.
    pub max_message_bytes: u32,
    /// How many bytes the pictures of one message may have, as Base64.
    pub max_image_bytes: u32,
    /// How many closed rounds a prompt can draw on, and up to a quarter more: rounds are let go of
    /// several at a time, because with each time a provider that keeps prompts has to read them anew.
    pub window_rounds: u32,
    /// How many bytes the state of the program may have. A change that makes it larger is dropped,
    /// and the end of the round says so.
    pub max_state_bytes: u32,
    /// How many stages, and how many jobs, a round or an aside may have. Then it ends.
    pub max_stages: u32,
    /// What decides who speaks when, and in which words.
    #[serde(skip_serializing_if = "ProgramRef::is_default")]
    pub program: ProgramRef,
}

impl Settings {
    /// The number of the last round that prompts no longer draw on, when this one is the latest.
    pub(crate) fn left_behind(&self, latest: u32) -> u32 {
        let step = (self.window_rounds / 4).max(1);
        latest.saturating_sub(self.window_rounds.max(1)) / step * step
    }
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            order: Order::Parallel,
            seats: Vec::new(),
            total_rounds: None,
            auto_continue: false,
            session_limits: Limits::default(),
            round_limits: Limits::default(),
            max_depth: 4,
            max_tool_calls: 64,
            max_waiting: 64,
            max_message_bytes: 256 * 1024,
            max_image_bytes: 8 * 1024 * 1024,
            window_rounds: 32,
            max_state_bytes: 64 * 1024,
            max_stages: 64,
            program: ProgramRef::default(),
        }
    }
}
