//! What was approved is what is used (S11).

use roundtable_core::tool::ToolResult;
use roundtable_tools::mcp::{PinFile, Pins, PinsError, connect};
use serde_json::json;

use super::kit::{approve, call, connected, echo, lines, names, server};

const CHANGED: &str =
    "\"echo\" of MCP server \"bad\" changed since it was approved (description) and needs approval";

#[tokio::test]
async fn s11_nothing_is_offered_before_it_is_approved() {
    let sources = connect([server("bad", &[])], &Pins::default()).await;
    assert_eq!(names(&sources), [""; 0]);
    assert_eq!(sources.reports().len(), 12);
    assert!(
        lines(&sources)
            .contains(&"\"echo\" of MCP server \"bad\" is new and needs approval".to_owned())
    );
    sources.shutdown().await;
}

#[tokio::test]
async fn s11_a_tool_that_changed_is_withheld_until_it_is_approved_again() {
    let mut pins = approve([server("bad", &[])]).await;
    let changed = || server("bad", &["--changed"]);
    let sources = connect([changed()], &pins).await;
    assert_eq!(lines(&sources), [CHANGED]);
    assert!(!names(&sources).contains(&"bad__echo".to_owned()));
    assert!(names(&sources).contains(&"bad__note".to_owned()), "the others stay");
    assert!(pins.approve(&sources.reports()[0]));
    sources.shutdown().await;
    let sources = connect([changed()], &pins).await;
    assert_eq!(lines(&sources), [""; 0]);
    assert!(echo(&sources, "bad__echo").await.success);
    sources.shutdown().await;
}

#[tokio::test]
async fn s11_a_change_while_connected_ends_the_use_of_the_tool() {
    let mut sources = connected(server("bad", &[])).await;
    assert!(echo(&sources, "bad__echo").await.success);
    assert_eq!(call(&sources, "bad__change", json!({})).await, ToolResult::ok("changed"));
    sources.changed().await;
    assert_eq!(lines(&sources), [CHANGED]);
    let refused = "\"echo\" of the MCP server \"bad\" changed since it was approved; it is disabled until an operator approves it";
    assert_eq!(echo(&sources, "bad__echo").await, ToolResult::failed(refused));
    assert_eq!(call(&sources, "bad__note", json!({})).await, ToolResult::ok("noted"));
    sources.shutdown().await;
}

#[tokio::test]
async fn pins_are_kept_in_a_file() {
    let directory = tempfile::tempdir().unwrap();
    let file = PinFile::in_directory(directory.path());
    assert_eq!(file.load().unwrap(), Pins::default());
    let pins = approve([server("bad", &[])]).await;
    file.store(&pins).unwrap();
    assert_eq!(file.load().unwrap(), pins);
    let mut fewer = pins.clone();
    fewer.revoke("bad", "echo");
    file.store(&fewer).unwrap();
    assert_eq!(file.load().unwrap().of("bad").len(), pins.of("bad").len() - 1);
    std::fs::write(directory.path().join("mcp-pins.json"), "{").unwrap();
    assert!(matches!(file.load(), Err(PinsError::Damaged(_))));
}
