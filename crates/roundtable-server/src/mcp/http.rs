//! MCP over Streamable HTTP, without sessions of its own: every request stands alone, so a restart of
//! the server goes unnoticed.

use std::net::SocketAddr;
use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::response::{IntoResponse as _, Response};
use axum::routing::post;
use axum::{Extension, Json};
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use http::{Method, StatusCode};
use rmcp::ServerHandler;
use rmcp::transport::streamable_http_server::session::SessionManager;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use serde_json::{Map, Value, json};

use crate::app::App;
use crate::json;
use crate::openapi::{Answer, Description, schema_of};
use crate::routes::{Door, Route};
use crate::server::Settings;

/// Something that answers MCP requests.
pub(crate) type McpService =
    Arc<dyn Fn(http::Request<Body>) -> BoxFuture<'static, Response> + Send + Sync>;

pub(crate) fn routes() -> Vec<Route> {
    let description = Description {
        id: "mcp",
        what: "Model Context Protocol (Streamable HTTP, versions 2026-07-28 and 2025-11-25) with the tools for debates.",
        params: Vec::new(),
        body: Some(schema_of::<Map<String, Value>>()),
        answer: Answer::Json(schema_of::<Map<String, Value>>()),
        problems: vec![
            (400, "Invalid MCP request."),
            (406, "The client must accept JSON and event streams."),
        ],
    };
    vec![Route {
        method: Method::POST,
        path: "/mcp",
        door: Door::Known,
        description,
        handler: post(handle),
    }]
}

/// Whether the transport keeps sessions, for clients of the older era of the protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Memory {
    /// Every request stands alone.
    Nothing,
    /// In memory, for as long as the server runs.
    Sessions,
}

/// Serves an MCP server behind the gate. Its own checks stay on: they find nothing that the gate let
/// pass.
pub(crate) fn service<H: ServerHandler>(
    app: &App,
    address: SocketAddr,
    settings: &Settings,
    memory: Memory,
    make: impl Fn() -> H + Send + Sync + 'static,
) -> McpService {
    let config =
        config(app, address, settings).with_legacy_session_mode(memory == Memory::Sessions);
    let make = move || Ok(make());
    match memory {
        Memory::Nothing => {
            let nothing = Arc::new(NeverSessionManager::default());
            boxed(StreamableHttpService::new(make, nothing, config))
        }
        Memory::Sessions => {
            let sessions = Arc::new(LocalSessionManager::default());
            boxed(StreamableHttpService::new(make, sessions, config))
        }
    }
}

fn config(app: &App, address: SocketAddr, settings: &Settings) -> StreamableHttpServerConfig {
    let own =
        ["localhost", "127.0.0.1", "[::1]"].map(|host| format!("http://{host}:{}", address.port()));
    let named = settings
        .hosts
        .iter()
        .flat_map(|host| [format!("http://{host}:*"), format!("https://{host}:*")]);
    let here = format!("http://{address}");
    let origins = own.into_iter().chain([here]).chain(named).chain(settings.origins.clone());
    // It is not told that the server stops: the tools know, and answer those who wait.
    StreamableHttpServerConfig::default()
        .with_json_response(true)
        .with_max_request_body_bytes(app.limits.body)
        .with_allowed_origins(origins)
        .enforce_origin_validation()
        // The gate has looked at the name already, and knows the server's addresses.
        .disable_allowed_hosts()
}

fn boxed<H: ServerHandler, M: SessionManager>(service: StreamableHttpService<H, M>) -> McpService {
    Arc::new(move |request| {
        let service = service.clone();
        async move { service.handle(request).await.map(Body::new) }.boxed()
    })
}

async fn handle(
    State(app): State<App>,
    Extension(service): Extension<McpService>,
    request: Request,
) -> Response {
    let (parts, body) = request.into_parts();
    let bytes = match json::read(&parts.headers, body, &app.limits).await {
        Ok(bytes) => bytes,
        Err(problem) => return problem.into_response(),
    };
    let invalid = match json::parse(&bytes) {
        Ok(value) if value.is_object() => None,
        Ok(_) => Some((
            -32600,
            "send one JSON-RPC message as an object; batches are not supported".to_owned(),
        )),
        Err(problem) => Some((-32700, problem.body.error)),
    };
    if let Some((code, message)) = invalid {
        let error = json!({ "code": code, "message": message });
        let answer = json!({ "jsonrpc": "2.0", "id": null, "error": error });
        return (StatusCode::BAD_REQUEST, Json(answer)).into_response();
    }
    service(Request::from_parts(parts, Body::from(bytes))).await
}
