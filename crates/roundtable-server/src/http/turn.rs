//! What happened in a turn, iteration by iteration.

use axum::Json;
use axum::extract::{Path, State};
use axum::routing::get;
use http::Method;
use roundtable::core::id::{SessionId, TurnId};
use roundtable::core::turn::Context;

use crate::app::App;
use crate::openapi::{Answer, Operation, Param, SchemaOf, schema_of};
use crate::problem::Problem;
use crate::routes::{Door, Route};
use crate::sessions::Authorized;
use crate::wire::{Iteration, Turn};

pub(crate) fn routes() -> Vec<Route> {
    let params = || vec![Param::id("id", "The session."), Param::id("turn", "The turn.")];
    let number = Param {
        name: "n",
        place: "path",
        what: "The iteration, from 1.",
        schema: serde_json::json!({ "type": "integer", "minimum": 1 }),
    };
    let of = |id, what, params, schema: SchemaOf| Operation {
        id,
        what,
        params,
        body: None,
        answer: Answer::Json(schema),
        problems: &[(404, "There is no such session, turn or iteration, or it is not yours.")],
    };
    let route = |path, operation, handler| Route {
        method: Method::GET,
        path,
        door: Door::Known,
        operation,
        handler,
    };
    let one = params().into_iter().chain([number]).collect();
    vec![
        route(
            "/api/sessions/{id}/turns/{turn}/iterations",
            of("listIterations", "What happened in a turn.", params(), schema_of::<Turn>()),
            get(list),
        ),
        route(
            "/api/sessions/{id}/turns/{turn}/iterations/{n}",
            of("getIteration", "What happened in an iteration.", one, schema_of::<Iteration>()),
            get(show),
        ),
    ]
}

async fn list(
    State(app): State<App>,
    session: Authorized<SessionId>,
    Path((_, turn)): Path<(String, String)>,
) -> Result<Json<Turn>, Problem> {
    let (turn, context) = find(&app, &session, &turn).await?;
    Ok(Json(Turn {
        turn_id: turn,
        current_iteration: context.current_iteration(),
        iterations: context.iterations().iter().map(|known| Iteration::of(known)).collect(),
    }))
}

async fn show(
    State(app): State<App>,
    session: Authorized<SessionId>,
    Path((_, turn, number)): Path<(String, String, String)>,
) -> Result<Json<Iteration>, Problem> {
    let (_, context) = find(&app, &session, &turn).await?;
    let found = number.parse().ok().and_then(|number| context.get_iteration(number));
    found.map(|known| Json(Iteration::of(known))).ok_or_else(|| {
        let last = context.current_iteration();
        Problem::not_found(format!("there is no such iteration; this turn has 1 to {last}"))
    })
}

async fn find(
    app: &App,
    session: &Authorized<SessionId>,
    turn: &str,
) -> Result<(TurnId, Context), Problem> {
    let unknown = || {
        Problem::not_found(
            "there is no such turn in this session; its events name those that there are",
        )
    };
    let turn: TurnId = turn.parse().map_err(|_| unknown())?;
    let context = app.sessions.get(session).turn(&turn).await?.ok_or_else(unknown)?;
    Ok((turn, context))
}
