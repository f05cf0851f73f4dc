//! Which debates are asked for.

use jiff::Timestamp;
use roundtable::debate::DebateStatus;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Mode;

/// How a debate stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Stands {
    Active,
    Paused,
    Completed,
    /// Nobody could answer in its last round; another may be tried.
    Error,
}

impl From<DebateStatus> for Stands {
    fn from(status: DebateStatus) -> Self {
        match status {
            DebateStatus::Active => Self::Active,
            DebateStatus::Paused => Self::Paused,
            DebateStatus::Completed => Self::Completed,
            DebateStatus::Error => Self::Error,
        }
    }
}

impl From<Stands> for DebateStatus {
    fn from(status: Stands) -> Self {
        match status {
            Stands::Active => Self::Active,
            Stands::Paused => Self::Paused,
            Stands::Completed => Self::Completed,
            Stands::Error => Self::Error,
        }
    }
}

/// Which debates are asked for. What is not said leaves nothing out.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub(crate) struct DebatesQuery {
    /// Those with this in their topic.
    #[schemars(length(max = 1000))]
    pub topic: Option<String>,
    /// Those in a mode.
    pub mode: Option<Mode>,
    /// Those that stand so.
    pub status: Option<Stands>,
    /// Those that began then or later.
    #[schemars(with = "Option<String>", extend("format" = "date-time", "maxLength" = 64))]
    pub from_date: Option<Timestamp>,
    /// Those that began then or earlier.
    #[schemars(with = "Option<String>", extend("format" = "date-time", "maxLength" = 64))]
    pub to_date: Option<Timestamp>,
    /// How many.
    #[schemars(range(min = 1, max = 200), extend("default" = 50))]
    pub limit: Option<usize>,
}
