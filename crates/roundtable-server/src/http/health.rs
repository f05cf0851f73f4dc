//! Whether the server is there, and what it offers.

use axum::Json;
use axum::routing::get;
use http::Method;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::openapi::{self, Answer, Operation, schema_of};
use crate::routes::{Door, Route};

#[derive(Serialize, JsonSchema)]
struct Health {
    status: &'static str,
    version: &'static str,
}

pub(crate) fn routes() -> Vec<Route> {
    let health = Operation {
        id: "health",
        what: "Whether the server is there.",
        params: Vec::new(),
        body: None,
        answer: Answer::Json(schema_of::<Health>()),
        problems: &[],
    };
    let openapi = Operation {
        id: "openapi",
        what: "This description.",
        params: Vec::new(),
        body: None,
        answer: Answer::Json(schema_of::<Map<String, Value>>()),
        problems: &[],
    };
    vec![
        Route {
            method: Method::GET,
            path: "/health",
            door: Door::Open,
            operation: health,
            handler: get(show),
        },
        Route {
            method: Method::GET,
            path: "/openapi.json",
            door: Door::Known,
            operation: openapi,
            handler: get(describe),
        },
    ]
}

async fn show() -> Json<Health> {
    Json(Health { status: "ok", version: env!("CARGO_PKG_VERSION") })
}

async fn describe() -> Json<Value> {
    Json(openapi::document())
}
