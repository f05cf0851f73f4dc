//! Roundtable over HTTP, WebSocket and MCP.
//!
//! The server is an embedder like any other: it knows the library and nothing below it. A request
//! passes the gate (is it meant for this server?), then it is asked who calls, then a handler asks
//! `sessions` for the session: there is no other way to one.
//!
//! ```no_run
//! use roundtable::prelude::*;
//! use roundtable_server::{Server, Settings};
//!
//! # async fn serve() -> Result<(), Box<dyn std::error::Error>> {
//! let engine = Engine::builder().sqlite("data").build().await?;
//! let listener = tokio::net::TcpListener::bind("127.0.0.1:7777").await?;
//! let shutdown = async { /* a signal */ };
//! Server::new(engine, Settings::default()).run(listener, shutdown).await?;
//! # Ok(())
//! # }
//! ```

mod access;
mod app;
mod attachment;
mod auth;
mod bounds;
mod camel;
mod chat;
mod connections;
mod debate;
mod export;
mod feed;
mod gate;
mod host;
mod http;
mod json;
mod key;
mod mcp;
mod openai;
mod openapi;
mod operation;
mod operations;
mod patient;
mod places;
mod problem;
mod quota;
mod routes;
mod schema;
mod scopes;
mod server;
mod session;
mod sessions;
mod sse;
mod wire;
mod ws;

pub use access::{Access, TokenChanges};
pub use app::{Approvals, Limits, SocketLimits};
pub use auth::{Principal, Tokens};
pub use host::{HOST, HostModel};
pub use mcp::{serve_pipes, serve_stdio};
pub use operation::{Does, OperationInfo, Transport};
pub use quota::{Quota, Quotas, Table};
pub use routes::Door;
pub use server::{ServeError, Server, Settings, check};
