//! Answers to what agents asked for.

use axum::Json;
use axum::extract::State;
use axum::routing::post;
use http::{HeaderMap, Method};
use roundtable::core::id::{CommandId, SessionId};
use roundtable::core::input::Command;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::app::App;
use crate::json::Strict;
use crate::openapi::{Answer, Operation, Param, schema_of};
use crate::problem::Problem;
use crate::routes::{Door, Route};
use crate::sessions::Authorized;
use crate::wire::{Answers, ContextRequest, ContextResult};

const IDEMPOTENCY_KEY: &str = "idempotency-key";

/// How many characters an idempotency key may have.
const KEY: usize = 200;

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Provided {
    #[schemars(length(max = 256))]
    context_results: Vec<ContextResult>,
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
        params: vec![Param::id("id", "The session."), idempotency_key()],
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

/// The header that makes sending something again do nothing twice.
pub(crate) fn idempotency_key() -> Param {
    Param::header(
        "Idempotency-Key",
        "The same key with the same body returns the first outcome; with another body it is refused.",
        KEY,
    )
}

async fn provide(
    State(app): State<App>,
    session: Authorized<SessionId>,
    headers: HeaderMap,
    Strict(provided): Strict<Provided>,
) -> Result<Json<Taken>, Problem> {
    let key = command_id(&headers)?;
    let Answers { results, mut warnings } = answers(&app, provided.context_results)?;
    let session = app.sessions.get(&session);
    let command = Command::Provide(results);
    let receipt = match key {
        Some(key) => app.stored(session.command_once(command, key)).await?,
        None => app.stored(session.command(command)).await?,
    };
    warnings.extend(receipt.warnings);
    let pending = session.pending().await?;
    let pending = pending.iter().map(ContextRequest::of).collect();
    Ok(Json(Taken { pending_context_requests: pending, warnings }))
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

/// The key under which something is done once.
pub(crate) fn command_id(headers: &HeaderMap) -> Result<Option<CommandId>, Problem> {
    let Some(key) = headers.get(IDEMPOTENCY_KEY) else { return Ok(None) };
    let id = key.to_str().ok().and_then(|key| CommandId::new(key).ok());
    let what = "an Idempotency-Key has 1 to 60 letters, digits, \"_\" and \"-\"; choose another, or send none";
    id.map(Some).ok_or_else(|| Problem::bad_request("invalid", what))
}
