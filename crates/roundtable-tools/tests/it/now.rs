//! `now` tells the time of the clock that it is given.

use std::sync::Arc;

use jiff::Timestamp;
use roundtable_core::tool::ToolResult;
use roundtable_ports::{Clock, DynTool, ToolError};
use roundtable_tools::{Now, builtin};
use serde_json::{Value, json};

use crate::caller::Caller;

struct Stopped;

impl Clock for Stopped {
    fn now(&self) -> Timestamp {
        "2026-02-28T23:30:00Z".parse().unwrap()
    }
}

async fn now(arguments: Value) -> Result<ToolResult, ToolError> {
    Now::new(Arc::new(Stopped)).run_json(arguments, &Caller::new().context("one")).await
}

#[tokio::test]
async fn the_time_is_told_where_it_is_asked_for() {
    let told = async |arguments| now(arguments).await.unwrap().message;
    assert_eq!(told(json!({})).await, "Saturday, 2026-02-28 23:30:00 +00:00");
    let berlin = json!({ "utc_offset_minutes": 60 });
    assert_eq!(told(berlin).await, "Sunday, 2026-03-01 00:30:00 +01:00");
    assert!(now(json!({ "utc_offset_minutes": 999_999_999 })).await.is_err());
}

#[test]
fn what_reaches_out_is_not_built_in() {
    let names: Vec<String> =
        builtin(Arc::new(Stopped)).iter().map(|tool| tool.spec().name).collect();
    assert_eq!(names, ["fact_check", "now"]);
}
