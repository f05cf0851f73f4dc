//! Whether the server is there, and what it offers.

use axum::Json;
use axum::routing::get;
use http::Method;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::openapi::{self, Answer, Description, schema_of};
use crate::routes::{Door, Route};

#[derive(Serialize, JsonSchema)]
struct Health {
    status: &'static str,
    version: &'static str,
}

pub(crate) fn routes() -> Vec<Route> {
    let health = Description {
        id: "health",
        what: "Check whether the server is running.",
        params: Vec::new(),
        body: None,
        answer: Answer::Json(schema_of::<Health>()),
        problems: Vec::new(),
    };
    let openapi = Description {
        id: "openapi",
        what: "This description.",
        params: Vec::new(),
        body: None,
        answer: Answer::Json(schema_of::<Map<String, Value>>()),
        problems: Vec::new(),
    };
    vec![
        Route {
            method: Method::GET,
            path: "/health",
            door: Door::Open,
            description: health,
            handler: get(show),
        },
        Route {
            method: Method::GET,
            path: "/openapi.json",
            door: Door::Known,
            description: openapi,
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
