//! Operations over HTTP: a request becomes an envelope, an answer becomes a response.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::body::Body;
use axum::extract::{FromRequestParts as _, Query, RawPathParams, Request, State};
use axum::response::{IntoResponse as _, Response};
use axum::routing::{MethodFilter, on};
use axum::{Extension, Json};
use http::header::LOCATION;
use http::request::Parts;
use http::{HeaderMap, HeaderValue, Method, StatusCode};
use serde_json::{Map, Value};

use super::{Call, Envelope, Operation, OperationAnswer, SESSION, prefer};
use crate::app::{App, Limits};
use crate::auth::Principal;
use crate::debate::{Caller, Silent};
use crate::json;
use crate::key;
use crate::problem::Problem;
use crate::routes::{Door, Route};

/// How a text in a URL becomes a value: as the schema of its field says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reading {
    Text,
    Integer,
    Number,
    Boolean,
}

impl Reading {
    fn read(self, text: &str) -> Option<Value> {
        match self {
            Self::Text => Some(text.into()),
            Self::Integer => text.parse::<i64>().ok().map(Value::from),
            Self::Number => text.parse::<f64>().ok().map(Value::from),
            Self::Boolean => text.parse::<bool>().ok().map(Value::from),
        }
    }
}

/// How the fields of an operation are read from a URL.
pub(super) type Readings = BTreeMap<String, Reading>;

impl Operation {
    /// The route of an operation, if it has one.
    pub fn route(&'static self) -> Option<Route> {
        let endpoint = self.http.as_ref()?;
        let readings = Arc::new(self.readings());
        let handler = move |State(app): State<App>,
                            Extension(principal): Extension<Principal>,
                            request: Request| {
            let readings = readings.clone();
            async move { self.handle(app, principal, &readings, request).await }
        };
        Some(Route {
            method: endpoint.method.clone(),
            path: endpoint.path,
            door: Door::Known,
            description: self.describe(endpoint),
            handler: on(filter(&endpoint.method)?, handler),
        })
    }

    async fn handle(
        &self,
        app: App,
        principal: Principal,
        readings: &Readings,
        request: Request,
    ) -> Result<Response, Problem> {
        let (mut parts, body) = request.into_parts();
        let mut path = path(&mut parts, &app, readings).await?;
        let watch = Arc::new(Silent::default());
        let at_once = self.waits && prefer::is_async(&parts.headers);
        let call = Call { at_once, ..Call::new(app.clone(), principal, Caller::Http, watch) };
        let (target, key) = (path.remove(SESSION), key::header(&parts.headers));
        let fields = async {
            let mut fields = match parts.method == Method::POST {
                true => {
                    let more = if self.takes_files { app.limits.files } else { 0 };
                    let body_limit = app.limits.body.saturating_add(more);
                    let limits = Limits { body: body_limit, ..app.limits.clone() };
                    object(&parts.headers, body, &limits).await?
                }
                false => query(&parts, readings)?,
            };
            for (name, value) in path {
                refuse_second(&name, fields.insert(name.clone(), value).is_some())?;
            }
            Ok(fields)
        };
        let answered = self.call(call, Envelope { key, target, fields }).await?;
        Ok(self.respond(answered, at_once))
    }

    /// An answer while the round is running is 202, and says where the session is.
    fn respond(&self, answered: OperationAnswer, at_once: bool) -> Response {
        match answered {
            OperationAnswer::Json(value) if self.waits && value["status"] == "running" => {
                let location = value[SESSION].as_str().map(|id| format!("/api/sessions/{id}"));
                let mut response = (StatusCode::ACCEPTED, Json(value)).into_response();
                let location = location.and_then(|url| HeaderValue::try_from(url).ok());
                response.headers_mut().extend(location.map(|url| (LOCATION, url)));
                if at_once {
                    prefer::note_applied(response.headers_mut());
                }
                response
            }
            OperationAnswer::Json(value) => Json(value).into_response(),
            OperationAnswer::Export(export) => export.into_response(),
            OperationAnswer::Download(download) => download.into_response(),
        }
    }
}

fn filter(method: &Method) -> Option<MethodFilter> {
    MethodFilter::try_from(method.clone()).ok()
}

/// The fields in the path. What cannot be one names nothing that exists.
async fn path(
    parts: &mut Parts,
    app: &App,
    readings: &Readings,
) -> Result<Map<String, Value>, Problem> {
    let params = RawPathParams::from_request_parts(parts, app).await;
    let params = params.map_err(|_| Problem::no_session(""))?;
    let field = |(name, text): (&str, &str)| {
        let reading = readings.get(name).copied().unwrap_or(Reading::Text);
        let value = reading.read(text).filter(|value| !is_out_of_range(value));
        let value = value.ok_or_else(|| {
            Problem::not_found(format!("{name} in the path must be a number from 1"))
        });
        value.map(|value| (name.to_owned(), value))
    };
    params.iter().map(field).collect()
}

/// Numbers in paths count from 1 and fit 32 bits.
fn is_out_of_range(value: &Value) -> bool {
    value.as_i64().is_some_and(|number| u32::try_from(number).is_err())
}

/// The fields after the question mark. A text that is not what its field expects stays one, so the
/// schema refuses it.
fn query(parts: &Parts, readings: &Readings) -> Result<Map<String, Value>, Problem> {
    let pairs = Query::<Vec<(String, String)>>::try_from_uri(&parts.uri);
    let Query(pairs) = pairs
        .map_err(|_| Problem::bad_request("invalid", "invalid query string; encode it as UTF-8"))?;
    let mut fields = Map::new();
    for (name, text) in pairs {
        let reading = readings.get(&name).copied().unwrap_or(Reading::Text);
        let value = reading.read(&text).unwrap_or_else(|| text.into());
        refuse_second(&name, fields.insert(name.clone(), value).is_some())?;
    }
    Ok(fields)
}

fn refuse_second(name: &str, is_second: bool) -> Result<(), Problem> {
    if !is_second {
        return Ok(());
    }
    let name: String = name.chars().filter(|c| !c.is_control()).take(64).collect();
    Err(Problem::bad_request("invalid", format!("duplicate parameter {name}; send it once")))
}

async fn object(
    headers: &HeaderMap,
    body: Body,
    limits: &Limits,
) -> Result<Map<String, Value>, Problem> {
    match json::parse(&json::read(headers, body, limits).await?)? {
        Value::Object(fields) => Ok(fields),
        _ => {
            let what = "the body must be a JSON object; GET /openapi.json describes it";
            Err(Problem::bad_request("invalid", what))
        }
    }
}
