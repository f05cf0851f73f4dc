//! The server with the fixtures that the official conformance suite asks for, behind the same gate and
//! the same routes as debates. For tests only: `cargo xtask conformance` starts it.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::disallowed_methods,
    missing_docs,
    reason = "a fixture stops loudly when an assumption is wrong"
)]

mod content;
mod fixtures;

use roundtable::prelude::*;
use roundtable_server::{Server, Settings};
use tokio::net::TcpListener;

#[tokio::main]
async fn main() {
    let script = ScriptedModel::new(Script::default());
    let engine = Engine::builder().model("scripted", script).build().await.unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    println!("http://{}/mcp", listener.local_addr().unwrap());
    let server = Server::new(engine, Settings::default()).mcp(fixtures::Fixtures);
    server.run(listener, std::future::pending()).await.unwrap();
}
