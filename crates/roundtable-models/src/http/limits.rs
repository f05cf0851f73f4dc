//! How long a provider may take, and how much it may say.

use std::time::Duration;

use serde::{Deserialize, Deserializer};

/// How long a provider may take. In configuration: milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Timeouts {
    /// To be reached.
    #[serde(deserialize_with = "millis")]
    pub connect: Duration,
    /// To say the first thing.
    #[serde(deserialize_with = "millis")]
    pub first_byte: Duration,
    /// Between two things that it says.
    #[serde(deserialize_with = "millis")]
    pub idle: Duration,
    /// For the whole answer.
    #[serde(deserialize_with = "millis")]
    pub total: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(10),
            // Thinking models and cold local models are silent for minutes.
            first_byte: Duration::from_secs(120),
            idle: Duration::from_secs(60),
            total: Duration::from_secs(600),
        }
    }
}

pub(crate) fn millis<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
    u64::deserialize(deserializer).map(Duration::from_millis)
}

/// How much a provider may say. What is beyond is refused, so that memory stays bounded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Caps {
    /// In one event of the stream.
    pub event_bytes: usize,
    /// In one answer, all protocol included.
    pub total_bytes: usize,
    /// Tool calls of one answer.
    pub tool_calls: usize,
    /// Arguments of one tool call.
    pub argument_bytes: usize,
}

impl Default for Caps {
    fn default() -> Self {
        Self {
            event_bytes: 4 << 20,
            total_bytes: 64 << 20,
            tool_calls: 128,
            argument_bytes: 1 << 20,
        }
    }
}
