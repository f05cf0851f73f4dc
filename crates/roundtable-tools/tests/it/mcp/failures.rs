//! Servers that hang, die, shout and multiply (F30).

use std::time::Duration;

use roundtable_core::tool::ToolResult;
use roundtable_tools::mcp::{McpServer, Pins, Transport, connect};
use serde_json::json;
use tokio::io::{AsyncBufReadExt as _, BufReader};

use super::kit::{
    Fifo, all_gone, approve, call, call_in_time, connected, echo, lines, noted, program, server,
};

fn quick(mut server: McpServer) -> McpServer {
    server.timeout = Duration::from_millis(500);
    server
}

#[tokio::test]
async fn f30_a_call_that_hangs_ends_in_time_and_is_cancelled() {
    let notes = tempfile::NamedTempFile::new().unwrap();
    let sources =
        connected(quick(server("bad", &["--notes", notes.path().to_str().unwrap()]))).await;
    let before = echo(&sources, "bad__echo").await;
    assert_eq!(call_in_time(&sources, "bad__hang").await, None, "its time ran out");
    noted(notes.path(), "cancelled").await;
    assert_eq!(echo(&sources, "bad__echo").await, before, "a server that answers is kept");
    sources.shutdown().await;
}

#[tokio::test]
async fn f30_a_server_that_hangs_is_ended_with_all_it_started() {
    let fifo = Fifo::new();
    let pipe = fifo.open();
    let sources = connected(quick(server("bad", &["--hold", fifo.path()]))).await;
    let before = echo(&sources, "bad__echo").await;
    assert_eq!(call(&sources, "bad__fork", json!({})).await, ToolResult::ok("3"));
    assert_eq!(call_in_time(&sources, "bad__freeze").await, None, "its time ran out");
    all_gone(pipe).await;
    let after = echo(&sources, "bad__echo").await;
    assert!(after.success && after != before, "started again by the next call: {after:?}");
    sources.shutdown().await;
}

#[tokio::test]
async fn f30_a_server_that_exits_with_137_is_data_and_the_next_call_works() {
    let sources = connected(server("bad", &[])).await;
    let before = echo(&sources, "bad__echo").await;
    let died = ToolResult::failed("the MCP server \"bad\": it ended during the call");
    assert_eq!(call(&sources, "bad__die", json!({})).await, died.clone());
    let after = echo(&sources, "bad__echo").await;
    assert!(after.success && after != before);
    // One that does nothing but die is left alone for a while: no storm of starts.
    assert_eq!(call(&sources, "bad__die", json!({})).await, died.clone());
    assert_eq!(call(&sources, "bad__die", json!({})).await, died);
    let rests = ToolResult::failed("the MCP server \"bad\" is not available now");
    assert_eq!(echo(&sources, "bad__echo").await, rests);
    sources.shutdown().await;
}

/// The most memory that this process ever had, in kilobytes.
fn peak_memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

#[tokio::test]
async fn f30_ten_gigabytes_of_output_are_cut_short() {
    for tool in ["bad__flood", "bad__chatter"] {
        let sources = connected(server("bad", &[])).await;
        let before = peak_memory();
        let result = call(&sources, tool, json!({})).await;
        assert!(!result.success, "{result:?}");
        assert!(peak_memory() - before < 200_000, "{tool} took {} kB", peak_memory() - before);
        assert!(echo(&sources, "bad__echo").await.success);
        sources.shutdown().await;
    }
}

#[tokio::test]
async fn f30_a_large_result_is_cut_for_the_model() {
    let sources = connected(server("bad", &[])).await;
    let result = call(&sources, "bad__large", json!({})).await;
    let expected = format!("{}\n[truncated after 50000 bytes]", "x".repeat(50_000));
    assert!(result == ToolResult::ok(expected));
    sources.shutdown().await;
}

#[tokio::test]
async fn f30_what_a_server_started_ends_with_it() {
    let fifo = Fifo::new();
    let pipe = fifo.open();
    let sources = connected(server("bad", &["--hold", fifo.path()])).await;
    assert_eq!(call(&sources, "bad__fork", json!({})).await, ToolResult::ok("3"));
    sources.shutdown().await;
    all_gone(pipe).await;
}

#[tokio::test]
async fn f30_what_a_dying_server_started_ends_with_it() {
    let fifo = Fifo::new();
    let pipe = fifo.open();
    let sources = connected(server("bad", &["--hold", fifo.path()])).await;
    assert_eq!(call(&sources, "bad__fork", json!({})).await, ToolResult::ok("3"));
    assert!(!call(&sources, "bad__die", json!({})).await.success);
    all_gone(pipe).await;
    sources.shutdown().await;
}

#[tokio::test]
async fn f30_servers_end_with_a_host_that_was_killed() {
    let fifo = Fifo::new();
    let pipe = fifo.open();
    let mut host = tokio::process::Command::new(program())
        .args(["host", fifo.path()])
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(host.stdout.take().unwrap()).read_line(&mut line).await.unwrap();
    assert_eq!(line, "ready\n");
    // SIGKILL: no destructor runs.
    host.kill().await.unwrap();
    all_gone(pipe).await;
}

#[tokio::test]
async fn a_server_that_cannot_be_started_is_reported_and_its_approved_tools_stay() {
    let pins = approve([server("bad", &[])]).await;
    let missing = McpServer::new("bad", Transport::stdio("/nonexistent/server", [""; 0]));
    let sources = connect([missing, server("new", &[])], &pins).await;
    let lines = lines(&sources);
    assert_eq!(
        lines[0],
        "MCP server \"bad\" is not available: No such file or directory (os error 2)"
    );
    assert_eq!(lines.len(), 13, "the other one is not affected");
    let failed = ToolResult::failed("the MCP server \"bad\" is not available now");
    assert_eq!(echo(&sources, "bad__echo").await, failed);
    sources.shutdown().await;
}

#[tokio::test]
async fn a_server_that_does_not_speak_mcp_is_reported_in_time() {
    let mut deaf = McpServer::new("deaf", Transport::stdio("sleep", ["1000"]));
    deaf.start_timeout = Duration::from_secs(1);
    let sources = connect([deaf], &Pins::default()).await;
    assert_eq!(
        lines(&sources),
        ["MCP server \"deaf\" is not available: it took longer than 1 s to start"]
    );
    sources.shutdown().await;
}
