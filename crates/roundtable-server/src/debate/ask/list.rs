//! Which debates are asked for.

use jiff::Timestamp;
use roundtable::debate::{DebateStatus, Mode};
use schemars::JsonSchema;
use serde::Deserialize;

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
    pub status: Option<DebateStatus>,
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
