//! Connections: how many there may be, and how long each may take to say what it wants.
//!
//! They speak HTTP/1.1 and nothing else. What HTTP/2 would add (many requests on one connection) is
//! the business of a proxy in front; its floods of resets and headers find nobody here.

use std::io::ErrorKind;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::extract::Request;
use axum::middleware::{self, Next};
use axum::response::Response;
use axum::{Extension, Router};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{Service as _, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::app::Limits;
use crate::patient::Patient;
use crate::places::{Busy, Kept, Place, Places};

/// How many bytes the head of a request may have.
const HEAD: usize = 64 * 1024;

/// How long it takes until there may be room again for a connection that the system refused.
const ROOM: Duration = Duration::from_secs(1);

/// What those are told for whom there is no place.
const FULL: &str = "HTTP/1.1 503 Service Unavailable\r\n\
    content-type: application/json\r\nretry-after: 1\r\nconnection: close\r\n\r\n\
    {\"error\":\"too many open connections; close unused ones and try again\",\"reason\":\"too_many_connections\"}";

/// Serves what comes, until the server stops and all that is under way has ended.
pub(crate) async fn serve(
    listener: TcpListener,
    router: Router,
    limits: &Limits,
    stopping: CancellationToken,
) {
    let (tasks, places) = (TaskTracker::new(), Places::new(limits.connections));
    let router = router.layer(middleware::from_fn(occupy));
    loop {
        let stream = tokio::select! {
            biased;
            () = stopping.cancelled() => break,
            stream = accept(&listener) => stream,
        };
        // One on which nothing is asked makes room for one on which something may be.
        let Some(place) = places.take() else {
            // A fresh connection has room for it; and if not, closing it says the same.
            let _ = stream.try_write(FULL.as_bytes());
            continue;
        };
        // Words are sent as they are said; a failure only makes it slower.
        let _ = stream.set_nodelay(true);
        let served = connection(stream, router.clone(), place.clone(), limits, stopping.clone());
        tasks.spawn(async move {
            tokio::select! {
                () = served => {}
                () = place.evicted() => {}
            }
        });
    }
    drop(listener);
    tasks.close();
    tasks.wait().await;
}

/// Keeps a connection's place while a request is answered, to the last byte of the answer.
async fn occupy(Extension(place): Extension<Arc<Place>>, request: Request, next: Next) -> Response {
    let busy = Busy::new(place);
    next.run(request).await.map(|body| Body::new(Kept { body, _busy: busy }))
}

/// The next connection. One that broke before it was taken is no reason to wait; too few files are.
async fn accept(listener: &TcpListener) -> TcpStream {
    loop {
        match listener.accept().await {
            Ok((stream, _)) => return stream,
            Err(error) => match error.kind() {
                ErrorKind::ConnectionRefused
                | ErrorKind::ConnectionAborted
                | ErrorKind::ConnectionReset => {}
                _ => tokio::time::sleep(ROOM).await,
            },
        }
    }
}

/// Serves one connection to its end.
fn connection<S: AsyncRead + AsyncWrite + Send + Unpin + 'static>(
    stream: S,
    router: Router,
    place: Arc<Place>,
    limits: &Limits,
    stopping: CancellationToken,
) -> impl Future<Output = ()> + use<S> {
    let stream = TokioIo::new(Patient::new(stream, limits.patience + limits.grace));
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(limits.head_time);
    http.max_header_size(HEAD).max_buf_size(2 * HEAD);
    let router = TowerToHyperService::new(router);
    let service = service_fn(move |mut request: http::Request<Incoming>| {
        request.extensions_mut().insert(place.clone());
        router.call(request)
    });
    let connection = http.serve_connection(stream, service);
    async move {
        let mut connection = pin!(connection.with_upgrades());
        // How a connection ended matters to nobody: what was asked for is in the log, or it is not.
        tokio::select! {
            _ = connection.as_mut() => return,
            () = stopping.cancelled() => connection.as_mut().graceful_shutdown(),
        }
        let _ = connection.await;
    }
}

#[cfg(test)]
mod tests {
    use axum::response::Response;
    use axum::routing::get;
    use futures_util::FutureExt as _;
    use roundtable::Engine;
    use roundtable::models::scripted::{Script, ScriptedModel};
    use roundtable_testing::PausedClock;
    use serde_json::json;
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, DuplexStream};

    use super::*;
    use crate::app::App;
    use crate::gate::Gate;
    use crate::mcp::McpService;
    use crate::routes;

    /// A client of a server with one route, and the task that serves it.
    fn connected() -> (DuplexStream, impl Future<Output = ()>) {
        let (client, server) = tokio::io::duplex(1024);
        let router = Router::new().route("/", get(async || "Hello."));
        let place = Places::new(1).take().unwrap();
        let stopping = CancellationToken::new();
        let served = connection(server, router, place, &Limits::default(), stopping);
        (client, served)
    }

    #[tokio::test(start_paused = true)]
    async fn s22_a_head_that_comes_a_byte_at_a_time_ends_the_connection() {
        let (mut client, served) = connected();
        let trickles = async {
            let mut sent = 0_u64;
            for byte in b"GET / HTTP/1.1\r\nhost: localhost\r\nx: ".iter().chain([b'x'; 60].iter())
            {
                if client.write_all(&[*byte]).await.is_err() {
                    break;
                }
                sent += 1;
                tokio::time::sleep(Duration::from_secs(1)).await;
            }
            sent
        };
        let (sent, ()) = tokio::join!(trickles, served);
        assert_eq!(sent, Limits::default().head_time.as_secs(), "a byte a second");
    }

    #[tokio::test(start_paused = true)]
    async fn s22_a_connection_on_which_nothing_is_asked_any_more_ends() {
        let (mut client, served) = connected();
        let asks = async {
            client.write_all(b"GET / HTTP/1.1\r\nhost: localhost\r\n\r\n").await.unwrap();
            let mut answer = String::new();
            client.read_to_string(&mut answer).await.unwrap();
            answer
        };
        let (answer, ()) = tokio::join!(asks, served);
        assert!(answer.starts_with("HTTP/1.1 200") && answer.ends_with("Hello."), "{answer}");
    }

    #[tokio::test(start_paused = true)]
    async fn f21_a_stuck_reader_that_reads_again_finds_the_end_event_as_the_last_thing() {
        let model = ScriptedModel::new(Script::default());
        let engine =
            Engine::builder().custom_model("scripted", model).clock(PausedClock::starting(0));
        let engine = engine.build().await.unwrap();
        let session = engine.chat("x").agent("Ann").open().await.unwrap();
        for _ in 0..20 {
            session.ask(&"Go. ".repeat(2000)).await.unwrap();
        }
        let app = App::of(engine.clone());
        let address = "127.0.0.1:80".parse().unwrap();
        let mcp: McpService = Arc::new(|_| async { Response::default() }.boxed());
        let router = routes::router(&app, Gate::new(address, &[], &[]), mcp);
        let (mut client, server) = tokio::io::duplex(1024);
        let place = Places::new(1).take().unwrap();
        let served = connection(server, router, place, &app.limits, CancellationToken::new());
        let reads = async {
            let path = format!("/api/sessions/{}/events", session.id());
            let head =
                format!("GET {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n");
            client.write_all(head.as_bytes()).await.unwrap();
            tokio::time::sleep(app.limits.patience + Duration::from_secs(10)).await;
            let mut text = String::new();
            client.read_to_string(&mut text).await.unwrap();
            text
        };
        let (text, ()) = tokio::join!(reads, served);
        let last = text.lines().filter_map(|line| line.strip_prefix("id: ")).next_back().unwrap();
        let end = json!({ "reason": "slow", "resumeFrom": last });
        let data = text.lines().filter_map(|line| line.strip_prefix("data: ")).next_back().unwrap();
        assert_eq!(serde_json::from_str::<serde_json::Value>(data).unwrap(), end);
        let all = session.log().await.unwrap().len();
        assert!(text.matches("\nid: ").count() < all, "it was cut before the end of the log");
        engine.shutdown().await;
    }

    #[test]
    fn those_without_a_place_are_told_as_all_others_are() {
        let (_, body) = FULL.split_once("\r\n\r\n").unwrap();
        let body: serde_json::Value = serde_json::from_str(body).unwrap();
        assert_eq!(body["reason"], "too_many_connections");
    }
}
