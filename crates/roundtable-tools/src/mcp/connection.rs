//! One connection to a server, from its start to its end. It is never repaired: what is broken is
//! dropped, and the source makes another.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rmcp::ClientHandler;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, ClientCapabilities, ClientConfig, ClientRequest,
    Implementation, ListToolsRequest, PaginatedRequestParams, PingRequest, ProtocolVersion,
    ServerResult, Tool,
};
use rmcp::service::{
    ClientInitializeError, ClientLifecycleMode, NotificationContext, RoleClient, RunningService,
    ServiceError, serve_client_with_lifecycle_and_ct,
};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::async_rw::AsyncRwTransport;
use rmcp::transport::streamable_http_client::{
    StreamableHttpClientTransportConfig, StreamableHttpError,
};
use tokio::sync::Notify;
use tokio_util::sync::{CancellationToken, DropGuard};
use tokio_util::task::TaskTracker;

use super::allowance::{ALLOWANCE, Allowance, LimitedReader};
use super::http::{self, HttpError, LimitedClient};
use super::process::Program;
use super::server::{McpServer, Transport};

/// A server may page its list of tools so often.
const MAX_PAGES: usize = 32;
/// A server that runs answers a ping within this time, whatever its tools are doing.
const PING: Duration = Duration::from_secs(2);

/// One connection to a server.
pub(super) struct Connection {
    service: RunningService<RoleClient, Listener>,
    allowance: Allowance,
    served: AtomicBool,
    stop: CancellationToken,
    // The program and the service end when the last user of the connection is gone.
    _guard: DropGuard,
}

/// Hears from the server that its tools are others now. What else servers may ask of clients
/// (models, files, questions to people) is refused: none of it is the server's to have.
#[derive(Clone, Default)]
struct Listener {
    changed: Arc<Notify>,
}

impl ClientHandler for Listener {
    async fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.changed.notify_one();
    }

    fn get_info(&self) -> ClientConfig {
        let name = Implementation::new("roundtable", env!("CARGO_PKG_VERSION"));
        ClientConfig::new(ClientCapabilities::default(), name)
    }
}

impl Connection {
    /// Connects, in the way that servers of either age understand.
    pub async fn open(server: &McpServer, tracker: &TaskTracker) -> Result<Self, String> {
        match Self::attempt(server, ClientLifecycleMode::Initialize, tracker).await {
            // A server that knows no handshake any more says so with an error of its own.
            Err((why, true)) => {
                let preferred_versions = vec![ProtocolVersion::LATEST];
                let modern = ClientLifecycleMode::Discover { preferred_versions };
                Self::attempt(server, modern, tracker).await.map_err(|_| why)
            }
            Err((why, false)) => Err(why),
            Ok(connection) => Ok(connection),
        }
    }

    /// One attempt; an error says whether the server answered, but not this way.
    async fn attempt(
        server: &McpServer,
        mode: ClientLifecycleMode,
        tracker: &TaskTracker,
    ) -> Result<Self, (String, bool)> {
        let (stop, allowance, listener) =
            (CancellationToken::new(), Allowance::default(), Listener::default());
        let guard = stop.clone().drop_guard();
        let other = |why: String| (why, false);
        let service = match &server.transport {
            Transport::Stdio { command, args, env, directory } => {
                let program = Program { command, args, env, directory: directory.as_ref() };
                let process = program
                    .start(stop.clone(), tracker)
                    .map_err(|error| other(error.to_string()))?;
                let stdout = LimitedReader::new(process.stdout, allowance.clone());
                let transport = AsyncRwTransport::new_client(stdout, process.stdin)
                    .with_max_line_length(ALLOWANCE);
                let served =
                    serve_client_with_lifecycle_and_ct(listener, transport, mode, stop.clone());
                served.await.map_err(|error| {
                    let (why, answered) = reason(&error);
                    match process.last_words.text() {
                        words if words.is_empty() => (why, answered),
                        words => (format!("{why}; it said: {words}"), answered),
                    }
                })?
            }
            Transport::Http { url, headers } => {
                let client = LimitedClient::new().map_err(other)?;
                let config = StreamableHttpClientTransportConfig::with_uri(url.as_str())
                    .custom_headers(http::headers(headers).map_err(other)?)
                    .max_sse_event_size(ALLOWANCE)
                    // A new session may have other tools: it begins with a list of them, here.
                    .reinit_on_expired_session(false);
                let transport = StreamableHttpClientTransport::with_client(client, config);
                let served =
                    serve_client_with_lifecycle_and_ct(listener, transport, mode, stop.clone());
                served.await.map_err(|error| reason(&error))?
            }
        };
        Ok(Self { service, allowance, served: AtomicBool::new(false), stop, _guard: guard })
    }

    /// The tools that the server has.
    pub async fn list(&self) -> Result<Vec<Tool>, String> {
        let mut tools = Vec::new();
        let mut cursor = None;
        for _ in 0..MAX_PAGES {
            self.allowance.renew();
            let params = PaginatedRequestParams::default().with_cursor(cursor);
            let request = ClientRequest::ListToolsRequest(ListToolsRequest::with_param(params));
            match self.service.send_request(request).await {
                Ok(ServerResult::ListToolsResult(page)) => {
                    tools.extend(page.tools);
                    cursor = page.next_cursor;
                }
                Ok(_) => return Err("it does not support listing tools".to_owned()),
                Err(error) => return Err(error.to_string()),
            }
            if cursor.is_none() {
                return Ok(tools);
            }
        }
        Err(format!("its list of tools has more than {MAX_PAGES} pages"))
    }

    /// Calls a tool. Dropped before the answer, it tells the server that nobody waits any more.
    pub async fn call(
        &self,
        params: CallToolRequestParams,
    ) -> Result<CallToolResponse, ServiceError> {
        self.allowance.renew();
        let answer = self.service.call_tool_once(params).await;
        if answer.is_ok() {
            self.served.store(true, Ordering::Relaxed);
        }
        answer
    }

    /// Whether the server answers at all. That it cannot be pinged is an answer, too.
    pub async fn answers(&self) -> bool {
        let ping = self.service.send_request(ClientRequest::PingRequest(PingRequest::default()));
        let answer = tokio::time::timeout(PING, ping).await;
        matches!(answer, Ok(Ok(_) | Err(ServiceError::McpError(_))))
    }

    /// Resolves when the server says that its tools are others now.
    pub async fn changed(&self) {
        self.service.service().changed.notified().await;
    }

    /// Ends the connection for all who use it.
    pub fn close(&self) {
        self.stop.cancel();
    }

    /// Whether it has ended.
    pub fn is_closed(&self) -> bool {
        self.stop.is_cancelled() || self.service.peer().is_transport_closed()
    }

    /// Whether it was of use: a call was answered.
    pub fn has_served(&self) -> bool {
        self.served.load(Ordering::Relaxed)
    }
}

/// Why there is no connection, and whether the server answered all the same.
fn reason(error: &ClientInitializeError) -> (String, bool) {
    (error.to_string(), matches!(error, ClientInitializeError::JsonRpcError(_)))
}

/// Whether a call surely did not reach the tool, so that it can be made again.
pub(super) fn was_turned_away(error: &ServiceError) -> bool {
    let ServiceError::TransportSend(error) = error else { return false };
    let error = error.error.downcast_ref::<StreamableHttpError<HttpError>>();
    matches!(error, Some(StreamableHttpError::SessionExpired))
}
