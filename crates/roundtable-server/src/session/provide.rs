//! Answers to what agents asked for.

use roundtable::core::context_request::ContextRequest;
use roundtable::core::document;
use roundtable::core::id::SessionId;
use roundtable::core::input::Command;
use roundtable::ports::Receipt;
use roundtable::{Reader, Session};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::app::App;
use crate::operation::Call;
use crate::problem::Problem;
use crate::sessions::Authorized;
use crate::wire::{Answers, ContextResult};

/// Answers to context requests.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct ProvideRequest {
    #[schemars(length(max = 256))]
    pub context_results: Vec<ContextResult>,
}

/// Remaining context requests.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ProvideAnswer {
    /// Requests that still need an answer.
    #[serde(serialize_with = "document::context_requests")]
    #[schemars(with = "Vec<document::ContextRequest>")]
    pending_context_requests: Vec<ContextRequest>,
    /// Parts of the request that had no effect.
    warnings: Vec<String>,
}

pub(super) async fn provide(
    call: Call,
    session: Authorized<SessionId>,
    asked: ProvideRequest,
) -> Result<ProvideAnswer, Problem> {
    let Answers { results, mut warnings } = answers(&call.app, asked.context_results)?;
    let command = Command::Provide(results);
    let key = call.key.map(|key| key.within(session.id()));
    let (app, session) = (&call.app, call.app.sessions.get(&session));
    let (receipt, pending) = match key {
        Some(key) => {
            let receipt = app.stored(session.command_keyed(command, key)).await?;
            let pending = pending_at(&session, &receipt).await?;
            (receipt, pending)
        }
        None => (app.stored(session.command(command)).await?, session.pending().await?),
    };
    warnings.extend(receipt.warnings);
    Ok(ProvideAnswer { pending_context_requests: pending, warnings })
}

/// What was still to be answered after a request whose receipt this is.
async fn pending_at(session: &Session, receipt: &Receipt) -> Result<Vec<ContextRequest>, Problem> {
    let mut reader = Reader::replay(session).await?;
    Ok(reader.read_to(receipt.seq).await?.session.requests.clone())
}

/// Answers, not too many at once.
pub(crate) fn answers(app: &App, results: Vec<ContextResult>) -> Result<Answers, Problem> {
    let limit = app.limits.results;
    if results.len() > limit {
        let what = format!("too many results ({}); send at most {limit} at once", results.len());
        return Err(Problem::bad_request("too_many", what));
    }
    Answers::of(results)
}
