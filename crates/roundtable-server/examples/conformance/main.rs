//! The server with the fixtures that the official conformance suite asks for, behind the same gate and
//! the same routes as debates. For tests only: `cargo xtask conformance` starts it.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::disallowed_methods,
    deprecated,
    missing_docs,
    reason = "a fixture stops loudly when an assumption is wrong, and has what the protocol is about to drop"
)]

mod ask;
mod content;
mod fixtures;
mod input;
mod listen;
mod task;

use roundtable::prelude::*;
use roundtable_server::{Server, Settings};
use tokio::net::TcpListener;

#[tokio::main]
async fn main() {
    let script = ScriptedModel::new(Script::default());
    let engine = Engine::builder().custom_model("scripted", script).build().await.unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    println!("http://{}/mcp", listener.local_addr().unwrap());
    let sessions = std::env::args().any(|argument| argument == "--sessions");
    let (server, fixtures) =
        (Server::new(engine, Settings::default()), fixtures::Fixtures::new(sessions));
    let server = if sessions { server.mcp_with_sessions(fixtures) } else { server.mcp(fixtures) };
    server.run(listener, std::future::pending()).await.unwrap();
}
