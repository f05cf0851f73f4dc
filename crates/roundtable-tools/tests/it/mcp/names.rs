//! Names of tools, and which servers may be used.

use roundtable_core::tool::Effect;
use roundtable_tools::mcp::{Approval, McpServer, Pins, Transport, connect};

use super::kit::{approve, connected, echo, find, lines, names, server};

#[tokio::test]
async fn s12_servers_with_the_same_tools_keep_apart() {
    let servers = || [server("one", &[]), server("two", &[])];
    let pins = approve(servers()).await;
    let sources = connect(servers(), &pins).await;
    assert_eq!(lines(&sources), [""; 0]);
    let (one, two) = (echo(&sources, "one__echo").await, echo(&sources, "two__echo").await);
    assert!(one.success && two.success);
    assert_ne!(one.message, two.message, "each name reaches its own server");
    assert_eq!(echo(&sources, "one__echo").await, one);
    let mut unique = names(&sources);
    assert_eq!(unique.len(), 24);
    unique.dedup();
    assert_eq!(unique.len(), 24);
    sources.shutdown().await;
}

#[tokio::test]
async fn s12_a_name_that_could_stand_for_another_is_not_used() {
    let named = |name: &str| McpServer::new(name, Transport::stdio("/nonexistent", [""; 0]));
    let bad = ["", "a__b", "a_", "_a", "A", "a.b", "a b", &"x".repeat(33)];
    let sources = connect(bad.map(named), &Pins::default()).await;
    assert_eq!(sources.reports().len(), bad.len());
    for line in lines(&sources) {
        assert!(line.contains("a server name must have 1 to 32 lowercase letters"), "{line}");
    }
    let twice = connect([server("one", &[]), server("one", &[])], &Pins::default()).await;
    assert_eq!(
        lines(&twice)[0],
        "MCP server \"one\": duplicate server name; this server is ignored"
    );
    twice.shutdown().await;
}

#[tokio::test]
async fn a_server_that_knows_no_handshake_is_used_like_any_other() {
    let sources = connected(server("new", &["--modern"])).await;
    assert_eq!(lines(&sources), [""; 0]);
    assert!(echo(&sources, "new__echo").await.message.ends_with(": hi"));
    sources.shutdown().await;
}

#[tokio::test]
async fn effects_and_approvals_follow_the_hints_and_the_operator() {
    let declared = async |approval: Approval| {
        let sources = connected(McpServer { approval, ..server("bad", &[]) }).await;
        let declared = ["echo", "change", "note"].map(|name| {
            let decl = find(&sources, &format!("bad__{name}")).declare();
            (decl.effect, decl.approval)
        });
        sources.shutdown().await;
        declared
    };
    let (pure, same, harm) = (Effect::Pure, Effect::Idempotent, Effect::Effectful);
    assert_eq!(declared(Approval::Effectful).await, [(pure, false), (same, false), (harm, true)]);
    assert_eq!(declared(Approval::Always).await, [(pure, true), (same, true), (harm, true)]);
    assert_eq!(declared(Approval::Never).await, [(pure, false), (same, false), (harm, false)]);
}
