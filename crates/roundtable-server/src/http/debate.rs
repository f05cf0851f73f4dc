//! Debates over HTTP: the same operations as the tools of the MCP server.

mod describe;
mod export;

use axum::extract::{Path, State};
use axum::response::{IntoResponse as _, Response};
use axum::routing::{get, post};
use axum::{Extension, Json};
use http::header::LOCATION;
use http::{HeaderMap, HeaderValue, StatusCode};
use roundtable::core::id::SessionId;
use serde::Deserialize;

use crate::app::App;
use crate::auth::Principal;
use crate::debate::answer::{RoundAnswer, Status};
use crate::debate::ask::{Debates, Format, GoOn, Start, SumUp, Told};
use crate::debate::detail::{
    Citations, ConfiguredAgents, Consensus, Controlled, DebateList, Exported, Progress, Responses,
    RoundDetail, SynthesisAnswer, Thoughts,
};
use crate::debate::{self, By, Caller, Silent};
use crate::http::query::{Asked, query};
use crate::key::Keyed;
use crate::problem::Problem;
use crate::routes::Route;
use crate::sessions::Authorized;

/// What a handler comes to.
type Answered<T> = Result<Json<T>, Problem>;

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct InRound {
    round_number: Option<u32>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct CitedBy {
    round_number: Option<u32>,
    agent_id: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct As {
    format: Option<Format>,
}

pub(crate) fn routes() -> Vec<Route> {
    use describe::{read, write};
    vec![
        write::<Start, RoundAnswer>(
            "/api/debates",
            "startDebate",
            "Starts a debate and runs its first round. With the header `Prefer: respond-async`, the answer is 202 as soon as the debate is stored.",
            post(start),
        ),
        write::<GoOn, RoundAnswer>(
            "/api/debates/{id}/continue",
            "continueDebate",
            "Runs the next round of a debate, or answers with the one that is running. With the header `Prefer: respond-async`, the answer is 202 as soon as the request is stored.",
            post(go_on),
        ),
        write::<SumUp, SynthesisAnswer>(
            "/api/debates/{id}/synthesis",
            "synthesizeDebate",
            "Has a debate summed up; once, however often it is asked for.",
            post(synthesize),
        ),
        write::<Told, Controlled>(
            "/api/debates/{id}/control",
            "controlDebate",
            "Pauses, resumes or stops a debate.",
            post(control),
        ),
        read::<DebateList>("/api/debates", "listDebates", "Debates, newest first.", get(list)),
        read::<ConfiguredAgents>(
            "/api/agents",
            "listAgents",
            "The agents of the configuration.",
            get(agents),
        ),
        read::<Consensus>(
            "/api/debates/{id}/consensus",
            "getConsensus",
            "How far the panel agreed in a round, the last one if none is named.",
            get(consensus),
        ),
        read::<RoundDetail>(
            "/api/debates/{id}/rounds/{n}",
            "getRound",
            "What everyone said in a round.",
            get(round),
        ),
        read::<Thoughts>(
            "/api/debates/{id}/agents/{agent}/thoughts",
            "getThoughts",
            "What an agent said over the rounds, and how sure it was.",
            get(thoughts),
        ),
        read::<Responses>(
            "/api/debates/{id}/agents/{agent}/responses",
            "getResponses",
            "The full answers of an agent, in one round or in all.",
            get(responses),
        ),
        read::<Citations>(
            "/api/debates/{id}/citations",
            "getCitations",
            "The sources of a debate, each once.",
            get(citations),
        ),
        read::<Exported>(
            "/api/debates/{id}/export",
            "exportDebate",
            "A debate as Markdown minutes, or as JSON that can be imported again.",
            get(export),
        ),
    ]
}

/// The answer to a call for a round: 202 while it is under way, with where to read it.
fn respond(answer: RoundAnswer, asked: Preference) -> Response {
    let is_running = answer.status == Status::Running;
    let status = if is_running { StatusCode::ACCEPTED } else { StatusCode::OK };
    let location = format!("/api/sessions/{}", answer.session_id);
    let mut response = (status, Json(answer)).into_response();
    let headers = response.headers_mut();
    if let (true, Ok(location)) = (is_running, HeaderValue::from_str(&location)) {
        headers.insert(LOCATION, location);
    }
    if asked.at_once {
        headers.insert("preference-applied", HeaderValue::from_static(RESPOND_ASYNC));
    }
    response
}

/// The preference of a client that does not want to wait (RFC 7240).
const RESPOND_ASYNC: &str = "respond-async";

/// What a request prefers. Preferences that the server does not know are ignored, as the RFC says.
#[derive(Clone, Copy)]
struct Preference {
    at_once: bool,
}

impl Preference {
    fn of(headers: &HeaderMap) -> Self {
        let values = headers.get_all("prefer").iter().filter_map(|value| value.to_str().ok());
        let mut named = values.flat_map(|value| value.split(','));
        let at_once = named.any(|one| {
            let name = one.split([';', '=']).next().unwrap_or_default();
            name.trim().eq_ignore_ascii_case(RESPOND_ASYNC)
        });
        Self { at_once }
    }
}

async fn start(
    State(app): State<App>,
    Extension(caller): Extension<Principal>,
    headers: HeaderMap,
    Keyed { asked, key }: Keyed<Start>,
) -> Result<Response, Problem> {
    let preference = Preference::of(&headers);
    let at_once = preference.at_once;
    let by = By { caller: Caller::Http, watch: &Silent::default(), at_once };
    Ok(respond(debate::start(&app, &caller, asked, key, by).await?, preference))
}

async fn go_on(
    State(app): State<App>,
    session: Authorized<SessionId>,
    headers: HeaderMap,
    Keyed { asked, key }: Keyed<GoOn>,
) -> Result<Response, Problem> {
    let preference = Preference::of(&headers);
    let at_once = preference.at_once;
    let by = By { caller: Caller::Http, watch: &Silent::default(), at_once };
    Ok(respond(debate::go_on(&app, &session, asked, key, by).await?, preference))
}

async fn synthesize(
    State(app): State<App>,
    session: Authorized<SessionId>,
    Keyed { asked, key }: Keyed<SumUp>,
) -> Result<Response, Problem> {
    let answer = debate::synthesize(&app, &session, asked.synthesizer.as_deref(), key).await?;
    let is_running = answer.status == Progress::Running;
    let status = if is_running { StatusCode::ACCEPTED } else { StatusCode::OK };
    Ok((status, Json(answer)).into_response())
}

async fn control(
    State(app): State<App>,
    session: Authorized<SessionId>,
    Keyed { asked, key }: Keyed<Told>,
) -> Answered<Controlled> {
    debate::control(&app, &session, asked.action, key).await.map(Json)
}

async fn list(
    State(app): State<App>,
    Extension(caller): Extension<Principal>,
    asked: Asked<Debates>,
) -> Answered<DebateList> {
    debate::list(&app, &caller, query(asked)?).await.map(Json)
}

async fn agents(State(app): State<App>) -> Json<ConfiguredAgents> {
    Json(debate::agents(&app))
}

async fn consensus(
    State(app): State<App>,
    session: Authorized<SessionId>,
    asked: Asked<InRound>,
) -> Answered<Consensus> {
    debate::consensus(&app, &session, query(asked)?.round_number).await.map(Json)
}

async fn round(
    State(app): State<App>,
    session: Authorized<SessionId>,
    Path((_, number)): Path<(String, String)>,
) -> Answered<RoundDetail> {
    let number = number
        .parse()
        .map_err(|_| Problem::not_found("a round is named by its number: 1 is the first"))?;
    debate::round(&app, &session, number).await.map(Json)
}

async fn thoughts(
    State(app): State<App>,
    session: Authorized<SessionId>,
    Path((_, agent)): Path<(String, String)>,
) -> Answered<Thoughts> {
    debate::thoughts(&app, &session, &agent).await.map(Json)
}

async fn responses(
    State(app): State<App>,
    session: Authorized<SessionId>,
    Path((_, agent)): Path<(String, String)>,
    asked: Asked<InRound>,
) -> Answered<Responses> {
    let round = query(asked)?.round_number;
    debate::responses(&app, &session, &agent, round).await.map(Json)
}

async fn citations(
    State(app): State<App>,
    session: Authorized<SessionId>,
    asked: Asked<CitedBy>,
) -> Answered<Citations> {
    let CitedBy { round_number, agent_id } = query(asked)?;
    debate::citations(&app, &session, round_number, agent_id.as_deref()).await.map(Json)
}

async fn export(
    State(app): State<App>,
    session: Authorized<SessionId>,
    asked: Asked<As>,
) -> Result<Response, Problem> {
    let format = query(asked)?.format.unwrap_or_default();
    let (text, place) = debate::export_text(&app, &session, format).await?;
    Ok(export::response(session.id(), format, text, place))
}
