//! The routes of debates, as the description of the API has them.

use axum::routing::MethodRouter;
use http::Method;
use schemars::JsonSchema;
use serde_json::json;

use crate::app::App;
use crate::http::session::{MOST, USUAL};
use crate::key;
use crate::openapi::{Answer, Operation, Param, schema_of};
use crate::routes::{Door, Route};
use crate::schema::{DATE, FILTER, ID};

/// A route that reads.
pub(super) fn read<A: JsonSchema>(
    path: &'static str,
    id: &'static str,
    what: &'static str,
    handler: MethodRouter<App>,
) -> Route {
    let operation = Operation {
        id,
        what,
        params: params(path).into_iter().chain(queries(id)).collect(),
        body: None,
        answer: Answer::Json(schema_of::<A>()),
        problems: &[
            (400, "A parameter is none."),
            (404, "There is no such debate, round or agent, or it is not yours."),
        ],
    };
    Route { method: Method::GET, path, door: Door::Known, operation, handler }
}

/// A route that has something done.
pub(super) fn write<B: JsonSchema, A: JsonSchema>(
    path: &'static str,
    id: &'static str,
    what: &'static str,
    handler: MethodRouter<App>,
) -> Route {
    let operation = Operation {
        id,
        what,
        params: params(path).into_iter().chain([key::param()]).collect(),
        body: Some(schema_of::<B>()),
        answer: Answer::Round(schema_of::<A>()),
        problems: &[
            (400, "The body does not fit."),
            (404, "There is no such debate or agent, or it is not yours."),
            (409, "Required context is missing, a round is running, or the debate is over."),
            (422, "The idempotency key was used before with another body."),
        ],
    };
    Route { method: Method::POST, path, door: Door::Known, operation, handler }
}

fn params(path: &str) -> Vec<Param> {
    let number = || Param {
        name: "n",
        place: "path",
        what: "The round, from 1.",
        schema: json!({ "type": "integer", "minimum": 1, "maximum": u32::MAX }),
    };
    [
        ("{id}", Param::id("id", "The debate.")),
        ("{agent}", Param::id("agent", "The agent.")),
        ("{n}", number()),
    ]
    .into_iter()
    .filter(|(part, _)| path.contains(part))
    .map(|(_, param)| param)
    .collect()
}

fn queries(id: &str) -> Vec<Param> {
    let text = |limit: usize| json!({ "type": "string", "maxLength": limit });
    let one_of = |words: &[&str]| json!({ "type": "string", "enum": words });
    let date = || json!({ "type": "string", "format": "date-time", "maxLength": DATE });
    let round = || {
        let number = json!({ "type": "integer", "minimum": 0, "maximum": u32::MAX });
        Param::query("roundNumber", "The round.", number)
    };
    match id {
        "getConsensus" | "getResponses" => vec![round()],
        "getCitations" => vec![round(), Param::query("agentId", "The agent.", text(ID))],
        "exportDebate" => vec![Param::query("format", "How.", one_of(&["markdown", "json"]))],
        "listDebates" => {
            let modes = roundtable::debate::Mode::ALL.map(roundtable::debate::Mode::name);
            let statuses = one_of(&["active", "paused", "completed", "error"]);
            let count =
                json!({ "type": "integer", "minimum": 1, "maximum": MOST, "default": USUAL });
            vec![
                Param::query("topic", "Only those with this in their topic.", text(FILTER)),
                Param::query("mode", "Only those in a mode.", one_of(&modes)),
                Param::query("status", "Only those that stand so.", statuses),
                Param::query("fromDate", "Only those that began then or later.", date()),
                Param::query("toDate", "Only those that began then or earlier.", date()),
                Param::query("limit", "How many.", count),
            ]
        }
        _ => Vec::new(),
    }
}
