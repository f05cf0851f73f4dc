//! Servers that are reached over Streamable HTTP.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::Request;
use axum::http::{HeaderMap, Response, StatusCode};
use axum::middleware::{Next, from_fn};
use axum::routing::post;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use roundtable_core::tool::ToolResult;
use roundtable_tools::mcp::{McpServer, Pins, Transport, connect};
use serde_json::json;
use tokio_util::sync::{CancellationToken, DropGuard};

use super::kit::{approve, call, connected, echo, lines};
use crate::handler::BadServer;

const CANARY: &str = "canary-77b20c";

/// A server on loopback, until it is dropped. All of its sessions are in its memory.
struct Served {
    address: SocketAddr,
    _stop: DropGuard,
}

async fn serve(address: &str, router: Router) -> Served {
    let listener = tokio::net::TcpListener::bind(address).await.unwrap();
    let address = listener.local_addr().unwrap();
    let stop = CancellationToken::new();
    let until = stop.clone();
    tokio::spawn(async move {
        let stopped = until.clone();
        let serving = axum::serve(listener, router);
        tokio::select! {
            () = stopped.cancelled() => {}
            _ = async { serving.await } => {}
        }
    });
    Served { address, _stop: stop.drop_guard() }
}

fn bad() -> Router {
    remembering(Arc::default())
}

/// The test server, with sessions in this memory. Requests without the right key are turned away.
fn remembering(manager: Arc<LocalSessionManager>) -> Router {
    let factory = || Ok(BadServer::default());
    let service =
        StreamableHttpService::new(factory, manager, StreamableHttpServerConfig::default());
    let check = async |request: Request, next: Next| {
        let key = request.headers().get("authorization").and_then(|value| value.to_str().ok());
        if key != Some(&format!("Bearer {CANARY}")) {
            return Response::builder()
                .status(StatusCode::UNAUTHORIZED)
                .body(Body::empty())
                .unwrap();
        }
        next.run(request).await
    };
    Router::new().fallback_service(service).layer(from_fn(check))
}

fn at(served: &Served, key: &str) -> McpServer {
    let headers = BTreeMap::from([("authorization".to_owned(), format!("Bearer {key}"))]);
    let url = format!("http://{}/mcp?key={CANARY}", served.address);
    McpServer {
        timeout: Duration::from_secs(20),
        ..McpServer::new("web", Transport::Http { url, headers })
    }
}

#[tokio::test]
async fn a_server_over_http_is_used_like_any_other() {
    let served = serve("127.0.0.1:0", bad()).await;
    let mut sources = connected(at(&served, CANARY)).await;
    assert!(echo(&sources, "web__echo").await.message.ends_with(": hi"));
    assert_eq!(call(&sources, "web__change", json!({})).await, ToolResult::ok("changed"));
    sources.changed().await;
    assert!(
        lines(&sources)[0].contains("\"echo\" of MCP server \"web\" changed since it was approved")
    );
    sources.shutdown().await;
}

#[tokio::test]
async fn a_session_that_the_server_forgot_is_made_again() {
    let memory = Arc::new(LocalSessionManager::default());
    let served = serve("127.0.0.1:0", remembering(memory.clone())).await;
    let sources = connected(at(&served, CANARY)).await;
    let before = echo(&sources, "web__echo").await;
    assert!(before.success);
    memory.sessions.write().await.clear();
    assert_eq!(echo(&sources, "web__echo").await, before, "the call found a new session");
    sources.shutdown().await;
}

#[tokio::test]
async fn s28_a_server_that_turns_us_away_learns_nothing_into_reports() {
    let served = serve("127.0.0.1:0", bad()).await;
    let sources = connect([at(&served, "wrong-key")], &Pins::default()).await;
    let lines = lines(&sources);
    assert_eq!(lines.len(), 1);
    assert!(lines[0].contains("401 Unauthorized"), "{}", lines[0]);
    assert!(!lines[0].contains(CANARY) && !lines[0].contains("wrong-key"), "{}", lines[0]);
    sources.shutdown().await;
    let gone = at(&served, CANARY);
    drop(served);
    let sources = connect([gone], &Pins::default()).await;
    assert!(!format!("{:?}", sources.reports()).contains(CANARY), "{:?}", sources.reports());
    sources.shutdown().await;
}

/// A server that answers the first requests as it should, and then without an end.
fn endless(kind: &'static str) -> Router {
    let count = Arc::new(AtomicUsize::new(0));
    let answer = move |_: HeaderMap, body: Bytes| {
        let count = count.clone();
        async move {
            let message: serde_json::Value = serde_json::from_slice(&body).unwrap();
            let result = match message["method"].as_str().unwrap_or_default() {
                "initialize" => json!({
                    "protocolVersion": "2025-06-18", "capabilities": { "tools": {} },
                    "serverInfo": { "name": "endless", "version": "1" },
                }),
                "tools/list" => json!({ "tools": [{
                    "name": "echo", "inputSchema": { "type": "object" },
                    "annotations": { "readOnlyHint": true },
                }] }),
                "tools/call" => {
                    count.fetch_add(1, Ordering::Relaxed);
                    let start = futures_util::stream::iter([Ok(Bytes::from_static(b"data: \""))]);
                    let rest = futures_util::stream::repeat_with(|| {
                        Ok::<_, std::io::Error>(Bytes::from_static(&[b'x'; 65536]))
                    });
                    let body = Body::from_stream(futures_util::StreamExt::chain(start, rest));
                    return Response::builder().header("content-type", kind).body(body).unwrap();
                }
                _ => return Response::builder().status(202).body(Body::empty()).unwrap(),
            };
            let reply = json!({ "jsonrpc": "2.0", "id": message["id"], "result": result });
            let response = Response::builder().header("content-type", "application/json");
            response.body(Body::from(reply.to_string())).unwrap()
        }
    };
    Router::new().route("/mcp", post(answer))
}

#[tokio::test]
async fn f30_an_answer_without_an_end_is_cut_short() {
    for kind in ["application/json", "text/event-stream"] {
        let served = serve("127.0.0.1:0", endless(kind)).await;
        let server = at(&served, CANARY);
        let pins = approve([server.clone()]).await;
        let sources = connect([server], &pins).await;
        let result = call(&sources, "web__echo", json!({})).await;
        assert!(!result.success && !result.message.contains(CANARY), "{kind}: {result:?}");
        sources.shutdown().await;
    }
}
