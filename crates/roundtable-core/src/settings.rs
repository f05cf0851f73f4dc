//! How a session runs: its kind, its order, its limits.

use serde::{Deserialize, Serialize};

use crate::budget::Limits;
use crate::debate::Rules;
use crate::id::AgentId;

/// What kind of session it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// A panel argues a question in rounds.
    Debate,
    /// A player and a cast of characters.
    Scene,
    /// A supervisor and its workers.
    Chat,
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
    /// How the panel argues, when the session is a debate with rules.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub debate: Option<Rules>,
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
            debate: None,
        }
    }
}
