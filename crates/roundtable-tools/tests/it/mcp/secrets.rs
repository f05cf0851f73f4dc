//! What a server gets to know of us, and what others get to know of a server (S28).

use std::collections::BTreeMap;

use roundtable_tools::mcp::{McpServer, Pins, Transport, connect};
use serde_json::json;

use super::kit::{call, connected, lines, program, server};

const CANARY: &str = "canary-8f3a51";

/// A server whose environment holds a secret.
fn trusted(args: &[&str]) -> McpServer {
    let transport = Transport::Stdio {
        command: program(),
        args: args.iter().map(|arg| (*arg).to_owned()).collect(),
        env: BTreeMap::from([("TOKEN".to_owned(), CANARY.to_owned())]),
        directory: None,
    };
    McpServer::new("bad", transport)
}

#[tokio::test]
async fn s28_a_server_inherits_nothing_of_our_environment() {
    assert!(std::env::vars().count() > 1, "there is something that could be inherited");
    let environment = async |server: McpServer| {
        let sources = connected(server).await;
        let result = call(&sources, "bad__env", json!({})).await;
        sources.shutdown().await;
        serde_json::from_str::<BTreeMap<String, String>>(&result.message).unwrap()
    };
    let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    let path = pair("PATH", "/usr/local/bin:/usr/bin:/bin");
    assert_eq!(environment(server("bad", &[])).await, BTreeMap::from([path.clone()]));
    assert_eq!(environment(trusted(&[])).await, BTreeMap::from([path, pair("TOKEN", CANARY)]));
}

#[tokio::test]
async fn s28_a_secret_of_a_server_is_not_in_its_reports() {
    let sources = connect([trusted(&["--complain"])], &Pins::default()).await;
    let lines = lines(&sources);
    assert_eq!(lines.len(), 1);
    assert!(
        lines[0].contains("cannot start with") && lines[0].contains("TOKEN=***"),
        "{}",
        lines[0]
    );
    assert!(!lines[0].contains(CANARY) && lines[0].len() < 2500, "{}", lines[0]);
    assert!(!format!("{:?}", sources.reports()).contains(CANARY));
    sources.shutdown().await;
}

#[test]
fn s28_a_configuration_does_not_show_its_secrets() {
    let headers = BTreeMap::from([("authorization".to_owned(), format!("Bearer {CANARY}"))]);
    let transport = Transport::Http { url: format!("https://example.org/?key={CANARY}"), headers };
    let http = McpServer::new("web", transport);
    assert!(!format!("{http:?} {:?}", trusted(&[])).contains(CANARY));
}
