//! An MCP server for the tests, good and bad, and a host that can be killed.
//!
//! `mcp_server [--notes FILE] [--hold FIFO] [--changed] [--modern] [--complain]` serves on standard input and
//! output. `mcp_server host FIFO` uses itself as a server, lets it start processes, and waits.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    missing_docs,
    reason = "a program for tests stops loudly when an assumption is wrong"
)]

#[path = "../../tests/it/caller.rs"]
mod caller;
mod handler;

use std::io::Write as _;
use std::sync::atomic::Ordering;

use handler::BadServer;
use rmcp::ServiceExt as _;
use roundtable_tools::mcp::{Finding, McpServer, Pins, Transport, connect};

type Failure = Box<dyn std::error::Error>;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Failure> {
    let mut args = std::env::args().skip(1);
    let mut server = BadServer::default();
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--notes" => server.notes = args.next().map(Into::into),
            "--hold" => server.hold = args.next().map(Into::into),
            "--changed" => server.changed.store(true, Ordering::Relaxed),
            "--modern" => server.modern = true,
            "--complain" => complain(),
            "host" => return host(&args.next().ok_or("which FIFO?")?).await,
            other => return Err(format!("unknown argument {other}").into()),
        }
    }
    server.serve(rmcp::transport::stdio()).await?.waiting().await?;
    Ok(())
}

/// Says its whole environment on standard error, many times, and gives up.
fn complain() -> ! {
    let environment: Vec<String> =
        std::env::vars().map(|(name, value)| format!("{name}={value}")).collect();
    for _ in 0..10_000 {
        let _ = writeln!(std::io::stderr(), "cannot start with {}", environment.join(" "));
    }
    std::process::exit(1)
}

/// Connects to this program as a server, lets it start processes, and waits to be killed.
async fn host(fifo: &str) -> Result<(), Failure> {
    let program = std::env::current_exe()?;
    let server = || McpServer::new("bad", Transport::stdio(&program, ["--hold", fifo]));
    let first = connect([server()], &Pins::default()).await;
    let mut pins = Pins::default();
    for report in first.reports() {
        if !matches!(report.finding, Finding::Withheld { .. }) || !pins.approve(&report) {
            return Err(report.to_string().into());
        }
    }
    first.shutdown().await;
    let sources = connect([server()], &pins).await;
    let tools = sources.tools();
    let fork = tools.iter().find(|tool| tool.spec().name == "bad__fork").ok_or("no tool")?;
    let caller = caller::Caller::new();
    let context = caller.context("one");
    fork.run_json(serde_json::json!({}), &context)
        .await
        .map_err(|error| error.message().to_owned())?;
    writeln!(std::io::stdout(), "ready")?;
    std::future::pending().await
}
