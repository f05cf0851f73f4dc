//! The MCP server: what it offers, in both eras of the protocol.

use roundtable::prelude::*;
use serde_json::{Value, json};

use crate::caller::{Caller, MCP, Transport};
use crate::client::{get, post, request};
use crate::kit::{self, ANN, BOB};

const TOOLS: [&str; 12] = [
    "start_roundtable",
    "continue_roundtable",
    "synthesize_debate",
    "control_session",
    "get_consensus",
    "get_agents",
    "list_sessions",
    "get_thoughts",
    "export_session",
    "get_round_details",
    "get_response_detail",
    "get_citations",
];

fn topic() -> Value {
    json!({ "topic": "Shall we?", "agentCount": 2, "rounds": 2 })
}

#[tokio::test]
async fn twelve_tools_with_schemas_annotations_and_what_to_do_next() {
    let running = kit::local(Script::default()).await;
    for transport in MCP {
        let caller = running.caller(transport);
        let listed = caller.rpc("tools/list", json!({})).await;
        let tools = listed["result"]["tools"].as_array().expect("tools");
        let names: Vec<&str> = tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect();
        assert_eq!(names, TOOLS);
        for tool in tools {
            assert!(tool["description"].as_str().unwrap().len() > 60, "{tool}");
            assert!(tool["annotations"]["readOnlyHint"].is_boolean(), "{tool}");
            for schema in ["inputSchema", "outputSchema"] {
                assert_eq!(tool[schema]["type"], "object", "{tool}");
                assert!(!tool[schema].to_string().contains("$ref"), "{tool}");
                assert!(!tool[schema].to_string().contains("uint"), "{tool}");
            }
            let answers = jsonschema::validator_for(&tool["outputSchema"]).unwrap();
            assert!(answers.is_valid(&json!({ "error": "a refusal" })), "{tool}");
            assert!(!answers.is_valid(&json!({ "other": 1 })), "{tool}");
        }
    }
    running.stop().await;
}

#[tokio::test]
async fn every_tool_answers_what_its_output_schema_says() {
    let running = kit::local(Script::default()).await;
    let caller = running.caller(Transport::Mcp2026);
    let listed = caller.rpc("tools/list", json!({})).await;
    let started = caller.tool("start_roundtable", topic()).await.expect("a round");
    let id = &started["sessionId"];
    let active = caller.tool("start_roundtable", topic()).await.expect("a round");
    let active = &active["sessionId"];
    let agent = &started["agentResponses"][0]["agentId"];
    let calls = [
        ("get_agents", json!({})),
        ("list_sessions", json!({})),
        ("get_consensus", json!({ "sessionId": id })),
        ("get_thoughts", json!({ "sessionId": id, "agentId": agent })),
        ("export_session", json!({ "sessionId": id, "format": "markdown" })),
        ("export_session", json!({ "sessionId": id, "format": "json" })),
        ("get_round_details", json!({ "sessionId": id, "roundNumber": 1 })),
        ("get_response_detail", json!({ "sessionId": id, "agentId": agent, "roundNumber": 1 })),
        ("get_citations", json!({ "sessionId": id })),
        ("synthesize_debate", json!({ "sessionId": id })),
        ("continue_roundtable", json!({ "sessionId": id, "afterRound": 1 })),
        ("start_roundtable", topic()),
        // The other debate is over by now, and a debate that is over cannot be stopped.
        ("control_session", json!({ "sessionId": active, "action": "stop" })),
    ];
    let mut seen = std::collections::BTreeSet::new();
    for (name, arguments) in calls {
        let answer = caller.tool(name, arguments).await;
        let answer = answer.unwrap_or_else(|refused| panic!("{name}: {}", refused.error));
        let tools = listed["result"]["tools"].as_array().unwrap();
        let schema = &tools.iter().find(|tool| tool["name"] == name).unwrap()["outputSchema"];
        let problems: Vec<String> = jsonschema::validator_for(schema)
            .unwrap()
            .iter_errors(&answer)
            .map(|it| it.to_string())
            .collect();
        assert_eq!(problems, Vec::<String>::new(), "{name}: {answer}");
        seen.insert(name);
    }
    assert_eq!(seen.len(), TOOLS.len());
    running.stop().await;
}

#[tokio::test]
async fn pause_resume_and_stop_do_what_they_say_and_refuse_clearly() {
    let running = kit::local(Script::default()).await;
    for transport in MCP {
        let caller = running.caller(transport);
        let id =
            caller.tool("start_roundtable", topic()).await.expect("a round")["sessionId"].clone();
        let control = async |action: &str| {
            let arguments = json!({ "sessionId": id, "action": action });
            caller.tool("control_session", arguments).await.map(|answer| answer["status"].clone())
        };
        assert!(control("resume").await.unwrap_err().error.contains("active"));
        assert_eq!(control("pause").await, Ok(json!("paused")));
        assert!(control("pause").await.is_err());
        let refused =
            caller.tool("continue_roundtable", json!({ "sessionId": id, "afterRound": 1 })).await;
        assert!(refused.unwrap_err().error.contains("paused"));
        assert_eq!(control("resume").await, Ok(json!("active")));
        assert_eq!(control("stop").await, Ok(json!("completed")));
        assert!(control("stop").await.is_err());
        assert!(control("dance").await.is_err());
    }
    running.stop().await;
}

#[tokio::test]
async fn bad_arguments_are_told_to_the_model_and_change_nothing() {
    let running = kit::local(Script::default()).await;
    for transport in MCP {
        let caller = running.caller(transport);
        let long = "x".repeat(10_001);
        for arguments in [
            json!({}),
            json!({ "topic": "" }),
            json!({ "topic": "  " }),
            json!({ "topic": long }),
            json!({ "topic": "x", "mode": "shouting" }),
            json!({ "topic": "x", "agentCount": 1 }),
            json!({ "topic": "x", "agentCount": 11 }),
            json!({ "topic": "x", "rounds": 0 }),
            json!({ "topic": "x", "agents": ["nobody", "noone"] }),
            json!({ "topic": "x", "color": "red" }),
            json!({ "topic": "x", "agentCount": 2, "agents": ["a", "b"] }),
            json!({ "topic": 7 }),
        ] {
            let refused = caller.tool("start_roundtable", arguments.clone()).await;
            assert!(
                refused.as_ref().is_err_and(|it| it.error.len() > 10),
                "{arguments}: {refused:?}"
            );
        }
        let unknown = caller.rpc("tools/call", json!({ "name": "sing", "arguments": {} })).await;
        assert_eq!(unknown["error"]["code"], -32602, "{unknown}");
    }
    assert_eq!(running.engine.sessions(5).await.unwrap().len(), 0);
    running.stop().await;
}

#[tokio::test]
async fn transcripts_are_resources_and_prompts_can_be_chosen() {
    let running = kit::local(Script::default()).await;
    for transport in MCP {
        let caller = running.caller(transport);
        let id =
            caller.tool("start_roundtable", topic()).await.expect("a round")["sessionId"].clone();
        let listed = caller.rpc("resources/list", json!({})).await;
        let uri = listed["result"]["resources"][0]["uri"].as_str().unwrap().to_owned();
        assert_eq!(uri, format!("roundtable://sessions/{}/transcript", id.as_str().unwrap()));
        let read = caller.rpc("resources/read", json!({ "uri": uri })).await;
        let text = read["result"]["contents"][0]["text"].as_str().unwrap();
        assert!(text.contains("Shall we?"), "{text}");
        let round = uri.replace("transcript", "rounds/1");
        let read = caller.rpc("resources/read", json!({ "uri": round })).await;
        assert_eq!(read["result"]["contents"][0]["mimeType"], "application/json");
        for bad in [
            uri.replace("transcript", "transcript?page=2"),
            uri.replace("ses_", "ses_0"),
            "file:///etc/passwd".to_owned(),
            round.replace('1', "x"),
        ] {
            let read = caller.rpc("resources/read", json!({ "uri": bad })).await;
            assert!(read["error"]["code"].is_number(), "{bad}: {read}");
        }
        let templates = caller.rpc("resources/templates/list", json!({})).await;
        assert_eq!(templates["result"]["resourceTemplates"].as_array().unwrap().len(), 2);
        let prompts = caller.rpc("prompts/list", json!({})).await;
        for prompt in prompts["result"]["prompts"].as_array().unwrap() {
            let (name, first) = (&prompt["name"], prompt["arguments"][0]["name"].as_str().unwrap());
            let got = caller
                .rpc("prompts/get", json!({ "name": name, "arguments": { first: "Tabs?" } }))
                .await;
            let text = got["result"]["messages"][0]["content"]["text"].as_str().unwrap();
            assert!(
                text.contains("Tabs?") && text.contains("start_roundtable") && !text.contains('{'),
                "{text}"
            );
            let without = caller.rpc("prompts/get", json!({ "name": name })).await;
            assert_eq!(without["error"]["code"], -32602);
        }
    }
    running.stop().await;
}

#[tokio::test]
async fn s01_another_tenant_sees_nothing_over_mcp_either() {
    let running = kit::tenants(Script::default()).await;
    for transport in [Transport::Mcp2025, Transport::Mcp2026] {
        let ann = Caller { token: Some(ANN), ..running.caller(transport) };
        let bob = Caller { token: Some(BOB), ..ann.clone() };
        let id = ann.tool("start_roundtable", topic()).await.expect("a round")["sessionId"].clone();
        for name in [
            "get_consensus",
            "export_session",
            "continue_roundtable",
            "synthesize_debate",
            "get_citations",
        ] {
            let refused = bob.tool(name, json!({ "sessionId": id })).await.unwrap_err().error;
            let missing =
                bob.tool(name, json!({ "sessionId": "ses_nobody" })).await.unwrap_err().error;
            assert_eq!(refused.replace(id.as_str().unwrap(), "ses_nobody"), missing, "{name}");
        }
        assert_eq!(bob.tool("list_sessions", json!({})).await.unwrap(), json!({ "sessions": [] }));
        assert_eq!(bob.rpc("resources/list", json!({})).await["result"]["resources"], json!([]));
        let uri = format!("roundtable://sessions/{}/transcript", id.as_str().unwrap());
        assert!(bob.rpc("resources/read", json!({ "uri": uri })).await["error"].is_object());
        let cursor = bob.rpc("resources/list", json!({ "cursor": id })).await;
        assert_eq!(cursor["error"]["code"], -32602, "a crafted cursor: {cursor}");
        assert!(ann.rpc("resources/read", json!({ "uri": uri })).await["result"].is_object());
    }
    running.stop().await;
}

#[tokio::test]
async fn s23_ambiguous_messages_are_refused_as_no_json() {
    let running = kit::local(Script::default()).await;
    let send = |body: String| {
        let request =
            request(running.address, "POST", "/mcp").header("content-type", "application/json");
        request.header("accept", "application/json, text/event-stream").body(body)
    };
    let call = |arguments: &str| {
        format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"start_roundtable","arguments":{arguments}}}}}"#
        )
    };
    for body in [
        call(r#"{"topic":"a","topic":"b"}"#),
        call(r#"{"topic":"a\u0000b"}"#),
        call(r#"{"topic":"\ud800"}"#),
        call(r#"{"topic":"a","rounds":1e999}"#),
        call(&format!("{}{}", "[".repeat(100_000), "]".repeat(100_000))),
        "{".to_owned(),
    ] {
        let answer = send(body).send().await;
        assert_eq!((answer.status, &answer.json()["error"]["code"]), (400, &json!(-32700)));
    }
    assert_eq!(send("x".repeat(2_000_000)).send().await.status, 413);
    assert_eq!(running.engine.sessions(5).await.unwrap().len(), 0);
    running.stop().await;
}

#[tokio::test]
async fn a_page_of_the_server_itself_may_call_it_and_streams_of_its_own_are_not_offered() {
    let running = kit::local(Script::default()).await;
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {} });
    let own = format!("http://{}", running.address);
    let sent = post(running.address, "/mcp", &body)
        .header("accept", "application/json, text/event-stream");
    assert_eq!(sent.header("origin", &own).send().await.status, 200);
    let listening = get(running.address, "/mcp").header("accept", "text/event-stream").send().await;
    assert_eq!(listening.status, 405);
    running.stop().await;
}
