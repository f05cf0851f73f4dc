//! A server in a child process, approved and connected, and ways to look at what it left behind.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use roundtable_core::tool::ToolResult;
use roundtable_ports::DynTool;
use roundtable_tools::mcp::{McpServer, Pins, Sources, Transport, connect};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::io::AsyncReadExt as _;

use crate::caller::Caller;

/// The test server, which `cargo test` builds beside the tests.
pub fn program() -> PathBuf {
    let tests = std::env::current_exe().unwrap();
    let path = tests.parent().unwrap().parent().unwrap().join("examples/mcp_server");
    assert!(path.exists(), "build it with `cargo build -p roundtable-tools --examples`");
    path
}

/// A server with this name and these arguments.
pub fn server(name: &str, args: &[&str]) -> McpServer {
    let transport = Transport::stdio(program(), args.iter().copied());
    McpServer { timeout: PATIENCE, ..McpServer::new(name, transport) }
}

/// What these servers offer, all of it approved.
pub async fn approve(servers: impl IntoIterator<Item = McpServer>) -> Pins {
    let mut pins = Pins::default();
    let sources = connect(servers, &pins).await;
    for report in sources.reports() {
        assert!(pins.approve(&report), "{report}");
    }
    sources.shutdown().await;
    pins
}

/// One server, approved and connected.
pub async fn connected(server: McpServer) -> Sources {
    let pins = approve([server.clone()]).await;
    connect([server], &pins).await
}

pub fn lines(sources: &Sources) -> Vec<String> {
    sources.reports().iter().map(ToString::to_string).collect()
}

pub fn names(sources: &Sources) -> Vec<String> {
    sources.tools().iter().map(|tool| tool.spec().name).collect()
}

pub fn find(sources: &Sources, name: &str) -> Arc<dyn DynTool> {
    sources.tools().into_iter().find(|tool| tool.spec().name == name).unwrap()
}

/// Time enough for a machine that is busy with something else.
const PATIENCE: Duration = Duration::from_secs(20);

/// What came of a call.
pub async fn call(sources: &Sources, name: &str, arguments: Value) -> ToolResult {
    within(PATIENCE, sources, name, arguments).await.expect("no answer")
}

/// What came of a call in the time that an engine gives it; nothing, if it ran out.
pub async fn call_in_time(sources: &Sources, name: &str) -> Option<ToolResult> {
    within(find(sources, name).spec().timeout, sources, name, json!({})).await
}

async fn within(
    time: Duration,
    sources: &Sources,
    name: &str,
    arguments: Value,
) -> Option<ToolResult> {
    let tool = find(sources, name);
    let caller = Caller::new();
    let context = caller.context("one");
    let ran = tokio::time::timeout(time, tool.run_json(arguments, &context)).await.ok()?;
    Some(ran.unwrap_or_else(|error| ToolResult::failed(error.message())))
}

/// The process id of a server and what it says, or its failure.
pub async fn echo(sources: &Sources, name: &str) -> ToolResult {
    call(sources, name, json!({ "text": "hi" })).await
}

/// A pipe that is at its end when every process that held it is gone.
pub struct Fifo {
    _directory: TempDir,
    path: PathBuf,
}

impl Fifo {
    pub fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("held");
        assert!(Command::new("mkfifo").arg(&path).status().unwrap().success());
        Self { _directory: directory, path }
    }

    pub fn path(&self) -> &str {
        self.path.to_str().unwrap()
    }

    /// The reading end; opening it does not wait for a writer.
    pub fn open(&self) -> tokio::net::unix::pipe::Receiver {
        tokio::net::unix::pipe::OpenOptions::new().open_receiver(&self.path).unwrap()
    }
}

/// Waits until every process that holds the pipe is gone.
pub async fn all_gone(mut pipe: tokio::net::unix::pipe::Receiver) {
    let mut rest = Vec::new();
    let gone = tokio::time::timeout(PATIENCE, pipe.read_to_end(&mut rest)).await;
    gone.expect("processes are still there").unwrap();
}

/// Waits until a file says this.
pub async fn noted(path: &Path, what: &str) {
    let wait = async {
        while !std::fs::read_to_string(path).unwrap_or_default().contains(what) {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    tokio::time::timeout(PATIENCE, wait).await.expect(what);
}
