//! The descriptions of the API, to the letter: whoever changes one sees it in the difference.

use roundtable::prelude::*;
use serde_json::json;

use crate::caller::Transport;
use crate::client::get;
use crate::kit;

#[tokio::test]
async fn the_description_of_the_http_api() {
    let running = kit::local(Script::default()).await;
    let mut document = get(running.address, "/openapi.json").send().await.json();
    document["info"]["version"] = json!("the version of the build");
    insta::assert_json_snapshot!("openapi", document);
    running.stop().await;
}

#[tokio::test]
async fn the_tools_of_the_mcp_server() {
    let running = kit::local(Script::default()).await;
    let listed = running.caller(Transport::Mcp2026).rpc("tools/list", json!({})).await;
    insta::assert_json_snapshot!("tools", listed["result"]["tools"]);
    running.stop().await;
}
