//! All routes in one table: the router, the description of the API and the tests of access are made
//! of it, so none of them can forget one.

use std::sync::Arc;

use axum::middleware::{from_fn, from_fn_with_state};
use axum::routing::MethodRouter;
use axum::{Extension, Router};
use http::{Method, StatusCode};

use crate::access;
use crate::app::App;
use crate::bounds::{self, Bounds};
use crate::gate::{self, Gate};
use crate::http as api;
use crate::mcp::{self, McpService};
use crate::openai;
use crate::openapi::Description;
use crate::operation::Operation;
use crate::operations;
use crate::problem::Problem;
use crate::ws;

/// Who may use a route.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Door {
    /// Everyone who can reach the server.
    Open,
    /// Those whom the server knows.
    Known,
}

/// A route.
pub(crate) struct Route {
    pub method: Method,
    pub path: &'static str,
    pub door: Door,
    pub description: Description,
    pub handler: MethodRouter<App>,
}

/// All routes.
pub(crate) fn all() -> Vec<Route> {
    let (health, events) = (api::health::routes(), api::events::routes());
    let by_hand = [health, events, mcp::routes(), ws::routes(), openai::routes()];
    let made = operations::all().iter().filter_map(Operation::route);
    by_hand.into_iter().flatten().chain(made).collect()
}

/// The routes behind the gate.
pub(crate) fn router(app: &App, gate: Gate, mcp: McpService) -> Router {
    let mut router = Router::new();
    for Route { path, door, handler, description, .. } in all() {
        let handler = handler.layer(from_fn_with_state(Bounds::of(&description), bounds::check));
        let handler = match door {
            Door::Open => handler,
            Door::Known => handler.layer(from_fn_with_state(app.clone(), access::authenticate)),
        };
        router = router.route(path, handler);
    }
    router
        .fallback(unknown)
        .method_not_allowed_fallback(wrong_method)
        .layer(Extension(mcp))
        .layer(from_fn_with_state((app.clone(), Arc::new(gate)), gate::gate))
        .layer(from_fn(openai::rewrite))
        .with_state(app.clone())
}

async fn unknown() -> Problem {
    Problem::not_found("unknown path; GET /openapi.json lists all paths")
}

async fn wrong_method() -> Problem {
    let what = "method not allowed; the Allow header lists the allowed methods";
    Problem::new(StatusCode::METHOD_NOT_ALLOWED, "method", what)
}
