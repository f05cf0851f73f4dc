//! `now`: what time it is, because models do not know.

use std::sync::Arc;

use jiff::tz::{Offset, TimeZone};
use roundtable_core::tool::{Effect, ToolResult};
use roundtable_ports::{Clock, Tool, ToolContext, ToolError};

/// The tool `now`: tells date and time.
#[derive(Clone)]
pub struct Now {
    clock: Arc<dyn Clock>,
}

impl Now {
    /// The tool, on this clock.
    pub fn new(clock: Arc<dyn Clock>) -> Self {
        Self { clock }
    }
}

/// Arguments of `now`.
#[derive(Debug, serde::Deserialize, schemars::JsonSchema)]
pub struct Whereabouts {
    /// Offset from UTC in minutes, for example 120. Default: 0.
    #[serde(default)]
    #[schemars(range(min = -1080, max = 1080))]
    pub utc_offset_minutes: i32,
}

impl Tool for Now {
    type Params = Whereabouts;

    fn name(&self) -> &str {
        "now"
    }

    fn description(&self) -> &str {
        "Get the current date, weekday and time."
    }

    fn effect(&self) -> Effect {
        Effect::Pure
    }

    async fn run(&self, params: Whereabouts, _: &ToolContext) -> Result<ToolResult, ToolError> {
        let offset = Offset::from_seconds(params.utc_offset_minutes.saturating_mul(60))?;
        let now = self.clock.now().to_zoned(TimeZone::fixed(offset));
        Ok(ToolResult::ok(now.strftime("%A, %Y-%m-%d %H:%M:%S %:z").to_string()))
    }
}
