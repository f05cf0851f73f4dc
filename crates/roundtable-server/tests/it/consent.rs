//! Decisions on tool calls: what a caller may decide, who is asked, and that nothing is lost.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use roundtable::core::agent::Agent;
use roundtable::core::tool::{Effect, ToolDecl};
use roundtable::ports::DynTool;
use roundtable::prelude::*;
use roundtable_server::{Approvals, Settings};
use roundtable_testing::FnTool;
use serde_json::{Value, json};

use crate::caller::{ALL, Caller, MCP, Transport};
use crate::context_requests::says;
use crate::kit::{self, Serving};
use crate::pipes::Pipes;

/// A server whose first agent wants to pay, and how often it did.
async fn paying(approvals: Approvals) -> (Serving, Arc<AtomicU32>) {
    let paid = Arc::new(AtomicU32::new(0));
    let count = paid.clone();
    let pay = FnTool::new("pay", move |_, _| {
        let count = count.clone();
        Box::pin(async move {
            count.fetch_add(1, Ordering::Relaxed);
            Ok(ToolResult::ok("paid"))
        })
    });
    let call = Call::new("pay", json!({ "to": "Bob", "note": "n".repeat(2_000), "crowns": 12 }));
    let script = Script::default()
        .voice("ann", [Reply::calls([call]), says("Paid.")])
        .voice("bob", [says("Fine.")]);
    let model = ScriptedModel::new(script);
    let pay: Arc<dyn DynTool> = Arc::new(pay.effect(Effect::Effectful));
    let engine = Engine::builder().custom_model("scripted", model).tools([pay]);
    let mut ann = Agent::new("Ann", "scripted").expect("a name");
    ann.tools.push(ToolDecl::handler("pay", Effect::Effectful).with_approval());
    let bob = Agent::new("Bob", "scripted").expect("a name");
    let engine = engine.agents([ann, bob]).build().await.expect("an engine");
    (kit::serve(engine, Settings { approvals, ..Settings::default() }).await, paid)
}

fn topic() -> Value {
    json!({ "topic": "Shall we pay?", "agents": ["ann", "bob"], "rounds": 3 })
}

fn decided(answer: &Value, decision: &str) -> Value {
    json!([{ "requestId": answer["contextRequests"][0]["id"], "decision": decision }])
}

async fn waiting(caller: &Caller) -> Value {
    let answer = caller.start(topic()).await.expect("an answer");
    let transport = caller.transport;
    assert_eq!(
        (&answer["status"], &answer["roundNumber"], answer.get("decision")),
        (&json!("needs_context"), &json!(1), None),
        "{transport:?}"
    );
    answer
}

#[tokio::test]
async fn an_approval_says_what_it_is_and_shows_the_whole_call_on_every_transport() {
    for transport in ALL {
        let (serving, paid) = paying(Approvals::Person).await;
        let caller = serving.caller(transport);
        let answer = waiting(&caller).await;
        let request = &answer["contextRequests"][0];
        assert_eq!((&request["kind"], &request["agentName"]), (&json!("approval"), &json!("Ann")));
        assert_eq!(request["call"]["tool"], "pay");
        let arguments = json!({ "to": "Bob", "note": "n".repeat(2_000), "crowns": 12 });
        assert_eq!(request["call"]["arguments"], arguments, "{transport:?}");
        assert_eq!(request["call"]["digest"].as_str().map(str::len), Some(64));
        let shown = caller.session(&answer["sessionId"]).await;
        assert_eq!(shown["pendingContextRequests"][0], *request);
        assert_eq!(paid.load(Ordering::Relaxed), 0);
        serving.end().await;
    }
}

#[tokio::test]
async fn s25_no_is_not_an_approval_on_any_transport() {
    for transport in ALL {
        let (serving, paid) = paying(Approvals::Caller).await;
        let caller = serving.caller(transport);
        let answer = waiting(&caller).await;
        let id = &answer["contextRequests"][0]["id"];
        for result in [
            json!({ "requestId": id, "success": true, "result": "no" }),
            json!({ "requestId": id, "success": true, "result": "yes" }),
            json!({ "requestId": id, "success": true, "decision": "happened" }),
            json!({ "requestId": id, "success": false, "decision": "approve" }),
            json!({ "requestId": id }),
            json!({ "requestId": id, "decision": "yes" }),
        ] {
            let arguments = json!({ "afterRound": 0, "contextResults": [result] });
            let refused = caller.go_on(&answer["sessionId"], arguments).await.expect_err("refused");
            assert_eq!(refused.status, transport.status(400), "{}", refused.error);
        }
        assert_eq!(caller.pending(&answer["sessionId"]).await.len(), 1, "{transport:?}");
        assert_eq!(paid.load(Ordering::Relaxed), 0);
        serving.end().await;
    }
}

#[tokio::test]
async fn a_decision_is_taken_in_mid_round_and_the_call_waits_on_for_the_round() {
    for transport in ALL {
        for (arguments, times) in [
            (json!({ "afterRound": 0 }), 1),
            (json!({}), 1),
            (json!({ "afterRound": 0, "deny": true }), 0),
        ] {
            let (serving, paid) = paying(Approvals::Caller).await;
            let caller = serving.caller(transport);
            let answer = waiting(&caller).await;
            let mut arguments = arguments;
            let deny = arguments.as_object_mut().unwrap().remove("deny").is_some();
            let word = if deny { "deny" } else { "approve" };
            arguments["contextResults"] = decided(&answer, word);
            let session = &answer["sessionId"];
            let round = caller.go_on(session, arguments.clone()).await.expect("a round");
            assert_eq!(
                (&round["status"], &round["roundNumber"], round.get("warnings")),
                (&json!("in_progress"), &json!(1), None),
                "{transport:?}"
            );
            assert_eq!(round["agentResponses"][0]["position"], "Paid.");
            assert_eq!(paid.load(Ordering::Relaxed), times);
            // Another answer afterwards is named, not swallowed.
            let other = if deny { "approve" } else { "deny" };
            let again = json!({ "afterRound": 0, "contextResults": decided(&answer, other) });
            let again = caller.go_on(session, again).await.expect("the same round");
            let warned = again["warnings"][0].as_str().expect("a warning");
            assert!(warned.contains("already has a different answer"), "{warned}");
            assert_eq!(paid.load(Ordering::Relaxed), times);
            serving.stop().await;
        }
    }
}

#[tokio::test]
async fn a_calling_model_cannot_decide_unless_the_operator_lets_it_and_is_told_who_can() {
    for transport in MCP {
        let (serving, paid) = paying(Approvals::Person).await;
        let caller = serving.caller(transport);
        let answer = waiting(&caller).await;
        let session = &answer["sessionId"];
        let arguments = json!({ "afterRound": 0, "contextResults": decided(&answer, "approve") });
        let refused = caller.go_on(session, arguments).await.expect_err("a refusal");
        assert!(refused.error.contains("must be decided by a person"), "{}", refused.error);
        assert_eq!(paid.load(Ordering::Relaxed), 0);
        let step = answer["nextStep"].as_str().unwrap();
        let id = session.as_str().unwrap();
        let path = format!("/api/sessions/{id}/context-results");
        assert!(step.contains(&format!("roundtable continue {id}")), "{step}");
        assert!(step.contains(&format!("POST {path}")), "{step}");
        assert!(step.contains("afterRound 0"), "{step}");
        // What it names works: the person decides over HTTP, and the call gets the round.
        let body = json!({ "contextResults": decided(&answer, "approve") });
        let taken = crate::client::post(serving.address, &path, &body).send().await;
        assert_eq!(taken.status, 200, "{}", taken.body);
        let round = caller.go_on(session, json!({ "afterRound": 0 })).await.expect("a round");
        assert_eq!(round["agentResponses"][0]["position"], "Paid.", "{transport:?}");
        assert_eq!(paid.load(Ordering::Relaxed), 1);
        serving.stop().await;
    }
}

#[tokio::test]
async fn what_only_the_next_round_can_be_told_is_refused_while_a_round_runs() {
    for transport in ALL {
        let (serving, _) = paying(Approvals::Caller).await;
        let caller = serving.caller(transport);
        let answer = waiting(&caller).await;
        for arguments in [
            json!({ "focusQuestion": "Why?" }),
            json!({ "focusQuestion": "Why?", "afterRound": 0 }),
            json!({ "focusQuestion": "Why?", "contextResults": decided(&answer, "approve") }),
        ] {
            let refused = caller.go_on(&answer["sessionId"], arguments).await.expect_err("busy");
            assert!(refused.error.starts_with("Round 1 is still running"), "{}", refused.error);
        }
        assert_eq!(caller.pending(&answer["sessionId"]).await.len(), 1, "{transport:?}");
        serving.end().await;
    }
}

fn capable(mut params: Value) -> Value {
    let meta = json!({ "io.modelcontextprotocol/clientCapabilities": { "elicitation": {} } });
    params["_meta"] = meta;
    params
}

#[tokio::test]
async fn in_the_newer_era_the_answer_asks_the_person_and_the_call_comes_again() {
    for (word, times) in [("approve", 1), ("deny", 0)] {
        let (serving, paid) = paying(Approvals::Person).await;
        let caller = serving.caller(Transport::Mcp2026);
        let params = json!({ "name": "start_roundtable", "arguments": topic() });
        let asked = caller.rpc("tools/call", capable(params.clone())).await;
        let result = &asked["result"];
        assert_eq!(result["resultType"], "input_required", "{asked}");
        let requests = result["inputRequests"].as_object().expect("requests");
        let (id, request) = requests.iter().next().expect("one");
        assert_eq!(request["method"], "elicitation/create");
        let message = request["params"]["message"].as_str().expect("a message");
        assert!(message.contains("Ann (agt_ann)") && message.contains(&"n".repeat(2_000)));
        let decision = &request["params"]["requestedSchema"]["properties"]["decision"];
        assert_eq!(decision["enum"], json!(["approve", "deny"]));
        let mut again = params;
        let accepted = json!({ "action": "accept", "content": { "decision": word } });
        again["inputResponses"] = json!({ id: accepted });
        again["requestState"] = result["requestState"].clone();
        let answer = caller.rpc("tools/call", capable(again)).await;
        let round = &answer["result"]["structuredContent"];
        assert_eq!((&round["status"], &round["roundNumber"]), (&json!("in_progress"), &json!(1)));
        assert_eq!(round["agentResponses"][0]["position"], "Paid.");
        assert_eq!(paid.load(Ordering::Relaxed), times);
        assert_eq!(serving.engine.sessions(10).await.unwrap().len(), 1, "it is not started again");
        serving.stop().await;
    }
}

#[tokio::test]
async fn what_the_person_does_not_decide_stays_pending() {
    for (action, content) in [
        ("decline", json!(null)),
        ("cancel", json!(null)),
        ("accept", json!({ "decision": "yes" })),
    ] {
        let (serving, paid) = paying(Approvals::Person).await;
        let caller = serving.caller(Transport::Mcp2026);
        let params = json!({ "name": "start_roundtable", "arguments": topic() });
        let asked = caller.rpc("tools/call", capable(params.clone())).await;
        let id = asked["result"]["inputRequests"].as_object().unwrap().keys().next().unwrap();
        let mut again = params;
        again["inputResponses"] = json!({ id: { "action": action, "content": content } });
        again["requestState"] = asked["result"]["requestState"].clone();
        let answer = caller.rpc("tools/call", capable(again)).await;
        let round = &answer["result"]["structuredContent"];
        assert_eq!(round["status"], "needs_context", "{action}: {answer}");
        assert_eq!(round["contextRequests"][0]["id"], json!(id));
        assert_eq!(paid.load(Ordering::Relaxed), 0);
        serving.end().await;
    }
}

#[tokio::test]
async fn in_the_older_era_the_person_is_asked_while_the_call_waits() {
    for (word, times) in [("approve", 1), ("deny", 0)] {
        let (serving, paid) = paying(Approvals::Person).await;
        let caller = serving.caller(Transport::Pipes2025);
        let mut pipes = Pipes::open_with(&caller, json!({ "elicitation": {} })).await;
        let params = json!({ "name": "start_roundtable", "arguments": topic() });
        let id = pipes.post("tools/call", params).await;
        let asked = pipes.next().await.expect("a question");
        assert_eq!(asked["method"], "elicitation/create", "{asked}");
        assert!(asked["params"]["message"].as_str().unwrap().contains("Tool: pay"));
        let result = json!({ "action": "accept", "content": { "decision": word } });
        pipes.send(&json!({ "jsonrpc": "2.0", "id": asked["id"], "result": result })).await;
        let answer = pipes.answer(&id).await;
        let round = &answer["result"]["structuredContent"];
        assert_eq!(round["agentResponses"][0]["position"], "Paid.", "{answer}");
        assert_eq!(paid.load(Ordering::Relaxed), times);
        serving.stop().await;
    }
}
