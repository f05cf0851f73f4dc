//! One way to hold a debate over every transport that there is.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering};

use roundtable::prelude::*;
use roundtable_server::Settings;
use serde_json::{Value, json};

use crate::client::{Answer, Request, get, post};
use crate::pipes::Pipes;

/// How a call travels: over HTTP, or over MCP in one of its eras, which goes over HTTP, too, or over
/// pipes as an editor's does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Transport {
    Http,
    Mcp2025,
    Mcp2026,
    Pipes2025,
    Pipes2026,
}

pub const ALL: [Transport; 5] = [
    Transport::Http,
    Transport::Mcp2025,
    Transport::Mcp2026,
    Transport::Pipes2025,
    Transport::Pipes2026,
];

/// Those that speak MCP.
pub const MCP: [Transport; 4] =
    [Transport::Mcp2025, Transport::Mcp2026, Transport::Pipes2025, Transport::Pipes2026];

impl Transport {
    /// Whether the client says with every request what it is.
    pub fn is_new(self) -> bool {
        matches!(self, Self::Mcp2026 | Self::Pipes2026)
    }

    pub fn is_pipes(self) -> bool {
        matches!(self, Self::Pipes2025 | Self::Pipes2026)
    }

    /// The last sentence of the refusal of R000-8, which names the way of the transport.
    pub fn way_to_answer(self) -> &'static str {
        match self {
            Self::Http => {
                "Answer them with POST /api/sessions/{sessionId}/context-results, or send contextResults with this request."
            }
            _ => {
                "Use WebSearch or other tools to fulfill these requests, then call continue_roundtable with contextResults."
            }
        }
    }

    /// The status of a refusal: MCP has none.
    pub fn status(self, http: u16) -> u16 {
        if self == Self::Http { http } else { 0 }
    }
}

/// Why a call was refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refused {
    /// The status of HTTP; 0 over MCP, which has none.
    pub status: u16,
    pub error: String,
}

/// Someone who calls.
#[derive(Clone)]
pub struct Caller {
    pub address: SocketAddr,
    pub engine: Engine,
    pub settings: Settings,
    pub transport: Transport,
    pub token: Option<&'static str>,
}

impl Caller {
    pub async fn start(&self, arguments: Value) -> Result<Value, Refused> {
        match self.transport {
            Transport::Http => self.http(post(self.address, "/api/debates", &arguments)).await,
            _ => self.tool("start_roundtable", arguments).await,
        }
    }

    pub async fn go_on(&self, session: &Value, mut arguments: Value) -> Result<Value, Refused> {
        let id = session.as_str().expect("an id");
        if self.transport == Transport::Http {
            let path = format!("/api/debates/{id}/continue");
            return self.http(post(self.address, &path, &arguments)).await;
        }
        arguments["sessionId"] = json!(id);
        self.tool("continue_roundtable", arguments).await
    }

    /// A session of any kind, which only HTTP shows.
    pub async fn session(&self, session: &Value) -> Value {
        let path = format!("/api/sessions/{}", session.as_str().expect("an id"));
        self.http(get(self.address, &path)).await.expect("a session")
    }

    /// The requests that are pending in a debate, by id, agent and query: as the session shows them
    /// over HTTP, and as the export does over MCP.
    pub async fn pending(&self, session: &Value) -> Vec<[String; 3]> {
        let requests = if self.transport == Transport::Http {
            self.session(session).await["pendingContextRequests"].clone()
        } else {
            let asked = json!({ "sessionId": session, "format": "json" });
            let exported = self.tool("export_session", asked).await.expect("an export");
            // What is empty is left out of a file.
            let requests = exported["content"].get("pendingContextRequests");
            requests.cloned().unwrap_or_else(|| json!([]))
        };
        let text = |request: &Value, name: &str| request[name].as_str().expect(name).to_owned();
        let shown = |request| ["id", "agentId", "query"].map(|name| text(request, name));
        requests.as_array().expect("a list").iter().map(shown).collect()
    }

    async fn http(&self, request: Request) -> Result<Value, Refused> {
        let request = match self.token {
            Some(token) => request.token(token),
            None => request,
        };
        let answer = request.send().await;
        if answer.status < 300 {
            return Ok(answer.json());
        }
        let error = answer.json()["error"].as_str().unwrap_or_default().to_owned();
        Err(Refused { status: answer.status, error })
    }

    /// Calls a tool; what it says as text has to be what it says as data.
    pub async fn tool(&self, name: &str, arguments: Value) -> Result<Value, Refused> {
        let answer = self.rpc("tools/call", json!({ "name": name, "arguments": arguments })).await;
        let result = &answer["result"];
        let text = result["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{answer}"));
        if result["isError"] == true {
            assert_eq!(result["structuredContent"], json!({ "error": text }));
            return Err(Refused { status: 0, error: text.to_owned() });
        }
        let twin: Value = serde_json::from_str(text).expect("JSON");
        assert_eq!(twin, result["structuredContent"]);
        Ok(twin)
    }

    /// Sends a request of the protocol and returns its answer.
    pub async fn rpc(&self, method: &str, params: Value) -> Value {
        if self.transport.is_pipes() {
            // A connection for each call: nothing is kept between two of them.
            return Pipes::open(self).await.ask(method, params).await;
        }
        let answer = self.request(method, params).send().await;
        last_message(&answer)
    }

    /// A message of the protocol.
    pub fn message(&self, method: &str, mut params: Value) -> Value {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        let id = NEXT.fetch_add(1, Ordering::Relaxed);
        if self.transport.is_new() {
            let meta = params["_meta"].as_object().cloned().unwrap_or_default();
            params["_meta"] = Value::Object(meta);
            params["_meta"]["io.modelcontextprotocol/protocolVersion"] = json!("2026-07-28");
            params["_meta"]["io.modelcontextprotocol/clientInfo"] =
                json!({ "name": "test", "version": "1" });
            let declared = &mut params["_meta"]["io.modelcontextprotocol/clientCapabilities"];
            if declared.is_null() {
                *declared = json!({});
            }
        }
        json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })
    }

    /// A request of the protocol, over HTTP.
    pub fn request(&self, method: &str, params: Value) -> Request {
        self.over_http(&self.message(method, params))
    }

    /// Something that the server is told and does not answer, over HTTP.
    pub fn notify(&self, method: &str, params: Value) -> Request {
        let mut message = self.message(method, params);
        message.as_object_mut().expect("an object").remove("id");
        self.over_http(&message)
    }

    fn over_http(&self, message: &Value) -> Request {
        let version = if self.transport.is_new() { "2026-07-28" } else { "2025-11-25" };
        let (method, params) = (message["method"].as_str().unwrap_or_default(), &message["params"]);
        let name = params["name"].as_str().or(params["uri"].as_str()).unwrap_or_default();
        let mut request = post(self.address, "/mcp", message)
            .header("accept", "application/json, text/event-stream")
            .header("mcp-protocol-version", version);
        if self.transport.is_new() {
            request = request.header("mcp-method", method);
            if !name.is_empty() {
                request = request.header("mcp-name", name);
            }
        }
        match self.token {
            Some(token) => request.token(token),
            None => request,
        }
    }
}

/// The answer proper: the body, or the last event of a stream.
pub fn last_message(answer: &Answer) -> Value {
    if answer.headers.contains("content-type: application/json") {
        return answer.json();
    }
    let data = answer.body.lines().filter_map(|line| line.strip_prefix("data:"));
    let last = data.map(str::trim).rfind(|data| !data.is_empty());
    serde_json::from_str(last.unwrap_or_else(|| panic!("{answer:?}"))).expect("JSON")
}
