//! The descriptions of the API, to the letter: whoever changes one sees it in the difference.

use roundtable::prelude::*;
use serde_json::{Map, Value, json};

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

#[tokio::test]
async fn the_prompts_the_resources_and_the_instructions_of_the_mcp_server() {
    let running = kit::local(Script::default()).await;
    let caller = running.caller(Transport::Mcp2026);
    let listed = caller.rpc("prompts/list", json!({})).await["result"]["prompts"].clone();
    let mut prompts = Vec::new();
    for prompt in listed.as_array().expect("prompts") {
        let arguments = prompt["arguments"].as_array().expect("arguments").iter();
        let values: Map<String, Value> = arguments
            .map(|argument| {
                let name = argument["name"].as_str().expect("a name");
                (name.to_owned(), json!(format!("<{name}>")))
            })
            .collect();
        let asked = json!({ "name": prompt["name"], "arguments": values });
        let got = caller.rpc("prompts/get", asked).await;
        prompts.push(json!({ "prompt": prompt, "text": got["result"]["messages"] }));
    }
    let templates = caller.rpc("resources/templates/list", json!({})).await;
    let asked = json!({
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": { "name": "test", "version": "1" },
    });
    let greeted = running.caller(Transport::Mcp2025).rpc("initialize", asked).await;
    insta::assert_json_snapshot!(
        "prompts",
        json!({
            "instructions": greeted["result"]["instructions"],
            "prompts": prompts,
            "resourceTemplates": templates["result"]["resourceTemplates"],
        })
    );
    running.stop().await;
}

#[tokio::test]
async fn every_tool_and_every_argument_has_a_description() {
    let running = kit::local(Script::default()).await;
    let listed = running.caller(Transport::Mcp2026).rpc("tools/list", json!({})).await;
    let has_text = |value: &Value| value.as_str().is_some_and(|text| text.ends_with('.'));
    for tool in listed["result"]["tools"].as_array().expect("tools") {
        let name = &tool["name"];
        assert!(has_text(&tool["description"]), "{name}");
        let arguments = tool["inputSchema"]["properties"].as_object().cloned().unwrap_or_default();
        for (argument, schema) in arguments {
            assert!(has_text(&schema["description"]), "{name}: {argument} has no description");
        }
    }
    running.stop().await;
}
