//! What is asked of every request before anything else: is it meant for this server, and does it
//! come from a page that may talk to it? A site that someone visits can make their browser call
//! servers on their own machine; here it gets nowhere.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, CACHE_CONTROL, CONTENT_LENGTH, CONTENT_TYPE, HOST, ORIGIN, VARY,
    X_CONTENT_TYPE_OPTIONS,
};
use http::uri::Authority;
use http::{HeaderMap, HeaderValue, Method, StatusCode};
use http_body_util::{BodyExt as _, Limited};

use crate::app::App;
use crate::problem::Problem;

const FETCH_SITE: &str = "sec-fetch-site";

/// Which names the server answers to, and which pages may call it.
#[derive(Debug, Clone)]
pub(crate) struct Gate {
    /// Names, without ports.
    hosts: Vec<String>,
    origins: Vec<String>,
    /// Whether the server can be reached from other machines: then by any of its addresses.
    is_public: bool,
}

impl Gate {
    pub fn new(address: SocketAddr, hosts: &[String], origins: &[String]) -> Self {
        let hosts = [&["localhost".to_owned()], hosts].concat();
        Self { hosts, origins: origins.to_vec(), is_public: !address.ip().is_loopback() }
    }

    fn check(&self, request: &Request) -> Result<(), Problem> {
        let headers = request.headers();
        let refuse = |reason, what| Err(Problem::new(StatusCode::FORBIDDEN, reason, what));
        let Some(host) = host(headers).filter(|host| self.is_own(host)) else {
            let what = "host not allowed; add it to `hosts` under [server] in the configuration";
            return refuse("host", what);
        };
        if request.uri().authority().is_some_and(|named| !self.is_own(named)) {
            return refuse(
                "host",
                "the URL and the Host header name different hosts; send the same host in both",
            );
        }
        let Some(origin) = origin(headers) else {
            // Only a browser says where a request comes from; what it calls foreign is refused.
            let site = headers.get(FETCH_SITE).map(HeaderValue::as_bytes);
            return match site {
                None | Some(b"same-origin" | b"none") => Ok(()),
                Some(_) => refuse(
                    "origin",
                    "cross-site request refused; add the origin to `origins` under [server] in the configuration",
                ),
            };
        };
        if !self.is_listed(origin) && !is_same_origin(origin, &host) {
            let what =
                "origin not allowed; add it to `origins` under [server] in the configuration";
            return refuse("origin", what);
        }
        Ok(())
    }

    fn is_own(&self, host: &Authority) -> bool {
        let name = host.host().trim_matches(['[', ']']);
        match name.parse::<IpAddr>() {
            Ok(ip) => ip.is_loopback() || self.is_public,
            Err(_) => self.hosts.iter().any(|own| own.eq_ignore_ascii_case(name)),
        }
    }

    fn is_listed(&self, origin: &str) -> bool {
        self.origins.iter().any(|listed| listed.eq_ignore_ascii_case(origin))
    }
}

/// The server that a request is for. Two answers are none.
fn host(headers: &HeaderMap) -> Option<Authority> {
    let mut values = headers.get_all(HOST).iter();
    let (Some(value), None) = (values.next(), values.next()) else { return None };
    let host = Authority::try_from(value.as_bytes()).ok()?;
    (!host.as_str().contains('@')).then_some(host)
}

/// Where a page is from; what cannot be read is foreign.
fn origin(headers: &HeaderMap) -> Option<&str> {
    let mut values = headers.get_all(ORIGIN).iter();
    let value = values.next()?;
    Some(if values.next().is_some() { "null" } else { value.to_str().unwrap_or("null") })
}

fn is_same_origin(origin: &str, host: &Authority) -> bool {
    let named = origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"));
    named.is_some_and(|named| named.eq_ignore_ascii_case(host.as_str()))
}

/// Bodies are JSON, and say so: a form of another site cannot.
fn check_body(request: &Request) -> Result<(), Problem> {
    // No route takes another method with a body: those are answered with 405.
    let may_have_body = request.method() == Method::POST;
    let said = request.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let kind = said.unwrap_or_default().split(';').next().unwrap_or_default().trim();
    if !may_have_body || kind.eq_ignore_ascii_case("application/json") {
        return Ok(());
    }
    let what = "unsupported media type; send JSON with `Content-Type: application/json`";
    Err(Problem::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "content_type", what))
}

/// Lets a request pass, or not; on every route, before all else.
pub(crate) async fn gate(
    State((app, gate)): State<(App, Arc<Gate>)>,
    request: Request,
    next: Next,
) -> Response {
    if let Err(problem) = gate.check(&request) {
        return sealed(problem.into_response());
    }
    let origin = request.headers().get(ORIGIN).cloned();
    let listed = origin.filter(|origin| origin.to_str().is_ok_and(|origin| gate.is_listed(origin)));
    let response = if app.stopping.is_cancelled() {
        let what = "the server is stopping; retry when it is running again";
        Problem::new(StatusCode::SERVICE_UNAVAILABLE, "stopping", what).into_response()
    } else if listed.is_some() && request.method() == Method::OPTIONS {
        StatusCode::NO_CONTENT.into_response()
    } else {
        match check_body(&request) {
            Ok(()) => explained(next.run(request).await).await,
            Err(problem) => problem.into_response(),
        }
    };
    sealed(shared(response, listed))
}

/// Tells a browser that a listed page may read the answer.
fn shared(mut response: Response, origin: Option<HeaderValue>) -> Response {
    if let Some(origin) = origin {
        let headers = response.headers_mut();
        let allowed = "authorization, content-type, idempotency-key, last-event-id, mcp-protocol-version, mcp-method, mcp-name";
        for (name, value) in [
            (ACCESS_CONTROL_ALLOW_HEADERS, allowed),
            (ACCESS_CONTROL_ALLOW_METHODS, "GET, POST"),
            (ACCESS_CONTROL_EXPOSE_HEADERS, "retry-after"),
            (VARY, "origin"),
        ] {
            headers.insert(name, HeaderValue::from_static(value));
        }
        headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin);
    }
    response
}

/// How many bytes of an error that is not JSON are kept.
const EXPLANATION: usize = 2048;

/// Every error body is JSON, also where a library wrote it as text.
async fn explained(response: Response) -> Response {
    let status = response.status();
    let kind = response.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    let is_json = kind.is_some_and(|kind| kind.starts_with("application/json"));
    if is_json || !(status.is_client_error() || status.is_server_error()) {
        return response;
    }
    let (mut parts, body) = response.into_parts();
    let text = Limited::new(body, EXPLANATION).collect().await;
    let text = text.map(|text| text.to_bytes()).unwrap_or_default();
    let text = String::from_utf8_lossy(&text).trim().to_owned();
    let name = status.canonical_reason().unwrap_or("Error");
    let what = if text.is_empty() { name.to_owned() } else { text };
    let reason = name.to_ascii_lowercase().replace(' ', "_");
    let (json, body) = Problem::new(status, &reason, what).into_response().into_parts();
    parts.headers.remove(CONTENT_LENGTH);
    for (name, value) in &json.headers {
        parts.headers.entry(name).or_insert(value.clone());
    }
    parts.headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    Response::from_parts(parts, body)
}

/// What holds for every answer: it is what it says it is, and nobody keeps it.
fn sealed(mut response: Response) -> Response {
    let headers = response.headers_mut();
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.entry(CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    response
}
