//! Which debates are asked for.

use jiff::Timestamp;
use roundtable::debate::DebateStatus;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Mode;

/// Status of a debate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Stands {
    Active,
    Paused,
    Completed,
    /// No agent could answer in the last round. You can run it again.
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

/// Filters for debates. Omitted filters match every debate.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub(crate) struct DebatesQuery {
    /// Filter by text in the topic.
    #[schemars(length(max = 1000))]
    pub topic: Option<String>,
    /// Filter by mode.
    pub mode: Option<Mode>,
    /// Filter by status.
    pub status: Option<Stands>,
    /// Started at or after this time.
    #[schemars(with = "Option<String>", extend("format" = "date-time", "maxLength" = 64))]
    pub from_date: Option<Timestamp>,
    /// Started at or before this time.
    #[schemars(with = "Option<String>", extend("format" = "date-time", "maxLength" = 64))]
    pub to_date: Option<Timestamp>,
    /// Maximum number of results.
    #[schemars(range(min = 1, max = 200), extend("default" = 50))]
    pub limit: Option<usize>,
}
