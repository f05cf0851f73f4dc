//! Answers to what agents asked for.

use axum::Json;
use axum::extract::State;
use axum::routing::post;
use http::Method;
use roundtable::Session;
use roundtable::core::context_request::ContextRequest as Pending;
use roundtable::core::id::SessionId;
use roundtable::core::input::Command;
use roundtable::core::session::Session as Folded;
use roundtable::ports::Receipt;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::app::App;
use crate::key::{self, Input, Keyed};
use crate::openapi::{Answer, Operation, Param, schema_of};
use crate::problem::Problem;
use crate::routes::{Door, Route};
use crate::sessions::Authorized;
use crate::wire::{Answers, ContextRequest, ContextResult};

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Provided {
    #[schemars(length(max = 256))]
    context_results: Vec<ContextResult>,
}

impl Input for Provided {
    const OPERATION: &'static str = "provideContext";
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Taken {
    /// What is still to be answered.
    pending_context_requests: Vec<ContextRequest>,
    /// What was accepted and not used.
    warnings: Vec<String>,
}

pub(crate) fn routes() -> Vec<Route> {
    let operation = Operation {
        id: "provideContext",
        what: "Answers context requests. The first answer to each counts; the next round gets them. An approval needs decision approve or deny, an unknown outcome happened, did_not_happen or unknown; anything else is refused and changes nothing.",
        params: vec![Param::id("id", "The session."), key::param()],
        body: Some(schema_of::<Provided>()),
        answer: Answer::Json(schema_of::<Taken>()),
        problems: &[
            (400, "The body does not fit."),
            (404, "There is no such session, or it is not yours."),
            (409, "The session is over."),
            (422, "The idempotency key was used before with another body."),
        ],
    };
    vec![Route {
        method: Method::POST,
        path: "/api/sessions/{id}/context-results",
        door: Door::Known,
        operation,
        handler: post(provide),
    }]
}

async fn provide(
    State(app): State<App>,
    session: Authorized<SessionId>,
    Keyed { asked, key }: Keyed<Provided>,
) -> Result<Json<Taken>, Problem> {
    let Answers { results, mut warnings } = answers(&app, asked.context_results)?;
    let command = Command::Provide(results);
    let key = key.map(|key| key.within(session.id()));
    let session = app.sessions.get(&session);
    let (receipt, pending) = match key {
        Some(key) => {
            let receipt = app.stored(session.command_keyed(command, key)).await?;
            let pending = pending_at(&session, &receipt).await?;
            (receipt, pending)
        }
        None => (app.stored(session.command(command)).await?, session.pending().await?),
    };
    warnings.extend(receipt.warnings);
    let pending = pending.iter().map(ContextRequest::of).collect();
    Ok(Json(Taken { pending_context_requests: pending, warnings }))
}

/// What was still to be answered after a request whose receipt this is.
async fn pending_at(session: &Session, receipt: &Receipt) -> Result<Vec<Pending>, Problem> {
    let mut state = Folded::new(session.id().clone());
    let log = session.log().await?;
    log.iter().filter(|event| event.seq <= receipt.seq).for_each(|event| state.evolve(event));
    Ok(state.requests)
}

/// Answers, not too many at once.
pub(crate) fn answers(app: &App, results: Vec<ContextResult>) -> Result<Answers, Problem> {
    let most = app.limits.results;
    if results.len() > most {
        let what = format!("{} results are too many; send at most {most} at once", results.len());
        return Err(Problem::bad_request("too_many", what));
    }
    Answers::of(results)
}
