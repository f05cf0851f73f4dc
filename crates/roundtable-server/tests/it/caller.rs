//! One way to hold a debate over every transport that there is.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::{Value, json};

use crate::client::{Answer, Request, get, post};

/// How a call travels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Transport {
    Http,
    Mcp2025,
    Mcp2026,
}

pub const ALL: [Transport; 3] = [Transport::Http, Transport::Mcp2025, Transport::Mcp2026];

/// Why a call was refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refused {
    /// The status of HTTP; 0 over MCP, which has none.
    pub status: u16,
    pub error: String,
}

/// Someone who calls.
#[derive(Clone, Copy)]
pub struct Caller {
    pub address: SocketAddr,
    pub transport: Transport,
    pub token: Option<&'static str>,
}

impl Caller {
    pub fn new(address: SocketAddr, transport: Transport) -> Self {
        Self { address, transport, token: None }
    }

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
        let answer = self.request(method, params).send().await;
        last_message(&answer)
    }

    /// A request of the protocol.
    pub fn request(&self, method: &str, mut params: Value) -> Request {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        let id = NEXT.fetch_add(1, Ordering::Relaxed);
        let version =
            if self.transport == Transport::Mcp2026 { "2026-07-28" } else { "2025-11-25" };
        let name =
            params["name"].as_str().or(params["uri"].as_str()).unwrap_or_default().to_owned();
        if self.transport == Transport::Mcp2026 {
            let meta = params["_meta"].as_object().cloned().unwrap_or_default();
            params["_meta"] = Value::Object(meta);
            params["_meta"]["io.modelcontextprotocol/protocolVersion"] = json!(version);
            params["_meta"]["io.modelcontextprotocol/clientInfo"] =
                json!({ "name": "test", "version": "1" });
            params["_meta"]["io.modelcontextprotocol/clientCapabilities"] = json!({});
        }
        let body = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        let mut request = post(self.address, "/mcp", &body)
            .header("accept", "application/json, text/event-stream")
            .header("mcp-protocol-version", version);
        if self.transport == Transport::Mcp2026 {
            request = request.header("mcp-method", method);
            if !name.is_empty() {
                request = request.header("mcp-name", &name);
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
