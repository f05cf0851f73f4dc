//! An endpoint that clients of OpenAI's chat completions can use: supervisors of chats and panels of
//! debates appear as models. Every request is kept in a hidden session of its own.

mod answer;
mod answering;
mod completion;
mod error;
mod history;
mod model;
mod reply;
mod request;
mod stream;
mod tool;

use axum::extract::{Path, Request, State};
use axum::response::{IntoResponse as _, Response};
use axum::routing::{get, post};
use axum::{Extension, Json};
use http::{HeaderName, HeaderValue, Method};
use schemars::json_schema;
use serde_json::{Map, Value, json};

use crate::access::Pass;
use crate::app::App;
use crate::json;
use crate::key::{self, Key};
use crate::openapi::{Answer, Description, Param, SchemaOf, schema_of};
use crate::problem::Problem;
use crate::routes::{Door, Route};
use answer::Head;
use answering::Answering;
use model::Model;
use request::CompletionRequest;

pub(crate) use error::{BELOW, ErrorBody, rewrite};

/// Names a request in digests of idempotency keys.
const OPERATION: &str = "createChatCompletion";

/// Where clients of OpenAI look for the id of a request: the hidden session that keeps it.
const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

pub(crate) fn routes() -> Vec<Route> {
    let name = json!({ "type": "string", "maxLength": request::MAX_NAME });
    let list = route(Method::GET, "/v1/models", "listModels", get(models)).described(
        "List the supervisors and panels as models, in OpenAI's format.",
        Vec::new(),
        None,
    );
    let one = route(Method::GET, "/v1/models/{model}", "getModel", get(find_model)).described(
        "Get one model, in OpenAI's format.",
        vec![Param::path("model", "The model.", name)],
        None,
    );
    let complete = route(Method::POST, "/v1/chat/completions", OPERATION, post(complete))
        .described(
            "Answer a history, in OpenAI's format. See docs/guides/openai-endpoint.md.",
            vec![key::param()],
            Some(body_schema()),
        );
    vec![list, one, complete]
}

fn route(
    method: Method,
    path: &'static str,
    id: &'static str,
    handler: axum::routing::MethodRouter<App>,
) -> Route {
    let description = Description {
        id,
        what: "",
        params: Vec::new(),
        body: None,
        answer: Answer::Json(schema_of::<Map<String, Value>>()),
        problems: Vec::new(),
    };
    Route { method, path, door: Door::Known, description, handler }
}

impl Route {
    fn described(self, what: &'static str, params: Vec<Param>, body: Option<SchemaOf>) -> Self {
        let problems = match body {
            Some(_) => vec![
                (400, "Invalid request."),
                (404, "Unknown model."),
                (422, "The idempotency key was already used with another request."),
                (429, "A limit is reached."),
                (502, "The model could not answer."),
            ],
            None => vec![(404, "Unknown model.")],
        };
        let description = Description { what, params, body, problems, ..self.description };
        Self { description, ..self }
    }
}

/// What a request has to have. Other fields of OpenAI's clients are accepted.
fn body_schema() -> SchemaOf {
    |_| {
        json_schema!({
            "type": "object",
            "required": ["model", "messages"],
            "properties": {
                "model": { "type": "string", "maxLength": request::MAX_NAME },
                "messages": {
                    "type": "array",
                    "minItems": 1,
                    "maxItems": history::MAX_MESSAGES,
                    "items": { "type": "object" },
                },
                "stream": { "type": ["boolean", "null"] },
                "tools": {
                    "type": ["array", "null"],
                    "maxItems": tool::MAX_TOOLS,
                    "items": { "type": "object" },
                },
            },
        })
    }
}

async fn models(State(app): State<App>) -> Json<Value> {
    let data: Vec<Value> = Model::all(&app.sessions).iter().map(Model::describe).collect();
    Json(json!({ "object": "list", "data": data }))
}

async fn find_model(
    State(app): State<App>,
    Path(name): Path<String>,
) -> Result<Json<Value>, Problem> {
    Ok(Json(Model::find(&app.sessions, &name)?.describe()))
}

async fn complete(
    State(app): State<App>,
    Extension(pass): Extension<Pass>,
    request: Request,
) -> Result<Response, Problem> {
    let (parts, body) = request.into_parts();
    let Value::Object(fields) = json::parse(&json::read(&parts.headers, body, &app.limits).await?)?
    else {
        let what = "the body must be an object with model and messages";
        return Err(Problem::bad_request("invalid", what));
    };
    let key = Key::of(OPERATION, key::header(&parts.headers).as_deref(), &fields)?;
    let asked = CompletionRequest::read(fields)?;
    let model = Model::find(&app.sessions, &asked.model)?;
    let options = asked.stream;
    let begun = completion::begin(&app, pass.principal(), &model, asked, key.as_ref()).await?;
    let head = Head::new(&begun, &model);
    let request_id = HeaderValue::from_str(begun.session.id().as_str()).ok();
    let answering = Answering::open(&app, pass, begun).await?;
    let mut response = match options {
        Some(options) => stream::respond(answering, head, options),
        None => Json(answering.collect(&head).await?).into_response(),
    };
    response.headers_mut().extend(request_id.map(|id| (REQUEST_ID, id)));
    Ok(response)
}
