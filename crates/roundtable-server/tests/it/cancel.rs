//! Callers who do not wait for their answer: their round goes on, and they get it when they ask again.

use roundtable::core::id::SessionId;
use roundtable::debate::RoundStatus;
use roundtable::prelude::*;
use roundtable_server::{Limits, Settings};
use serde_json::{Value, json};
use std::time::Duration;

use crate::caller::{ALL, Caller, MCP, Transport, last_message};
use crate::client::post;
use crate::kit::{self, Running};
use crate::pipes::Pipes;

fn says(text: &str) -> Reply {
    Reply::text(json!({ "position": text, "confidence": 0.5 }).to_string())
}

/// A server that waits for ever, and two agents: the first round is free, the second waits at a gate
/// and is the last.
async fn patient() -> Running {
    let voice = |script: Script, agent: &str| {
        script.voice(agent, [says("one")]).voice(agent, [says("two").at_gate("two")])
    };
    let script = voice(voice(Script::default(), "synthesizer"), "analyst");
    let limits = Limits { wait_budget: Duration::from_secs(3600), ..Limits::default() };
    kit::start(script, Settings { limits, ..Settings::default() }).await
}

async fn begun(caller: &Caller) -> Value {
    let topic = json!({ "topic": "Shall we?", "agentCount": 2, "rounds": 2 });
    caller.start(topic).await.expect("a round")["sessionId"].clone()
}

fn call(session: &Value) -> Value {
    json!({ "name": "continue_roundtable", "arguments": { "sessionId": session } })
}

/// The debate, as the engine has it.
fn debate(running: &Running, session: &Value) -> roundtable::debate::Debate {
    let id: SessionId = session.as_str().expect("an id").parse().expect("an id");
    running.engine.find_debate(&id)
}

/// Waits until a round has begun.
async fn begins(running: &Running, session: &Value, round: u32) {
    let session = debate(running, session).session().clone();
    let mut events = session.updates(roundtable::Since::Start).await.expect("a log");
    while session.state().await.expect("a state").last_number < round {
        events.next_event().await.expect("an event");
    }
}

/// The second round, which nobody waited for to its end, is there for whoever asks, made once.
async fn not_lost(running: &Running, caller: &Caller, session: &Value) {
    let before = debate(running, session).findings(Some(2)).await.expect("a round");
    assert_eq!(before.status, RoundStatus::Running, "it goes on");
    running.model.gates().open("two");
    debate(running, session).wait(2).await.expect("a round");
    let owed = caller.go_on(session, json!({})).await.expect("the round");
    assert_eq!((&owed["status"], &owed["roundNumber"]), (&json!("completed"), &json!(2)));
    assert_eq!(owed["agentResponses"][0]["position"], "two");
    let refused = caller.go_on(session, json!({})).await.expect_err("it was given");
    assert!(refused.error.starts_with("session is not active: it is completed"), "{refused:?}");
    assert_eq!(running.model.count(), 4, "two rounds of two, and nothing twice");
}

#[tokio::test]
async fn a_client_that_cancels_its_call_gets_no_answer_and_loses_no_round() {
    for transport in [Transport::Pipes2025, Transport::Pipes2026] {
        let running = patient().await;
        let caller = running.caller(transport);
        let session = begun(&caller).await;
        let mut pipes = Pipes::open(&caller).await;
        let id = pipes.post("tools/call", call(&session)).await;
        begins(&running, &session, 2).await;
        pipes.cancel(&id).await;
        let after = pipes.post("tools/list", json!({})).await;
        let next = pipes.next().await.expect("an answer");
        assert_eq!(next["id"], after, "{transport:?}: the cancelled call is not answered");
        not_lost(&running, &caller, &session).await;
        pipes.closed().await;
        running.stop().await;
    }
}

#[tokio::test]
async fn a_note_that_a_call_is_cancelled_over_http_is_taken_and_the_round_goes_on() {
    for transport in [Transport::Mcp2025, Transport::Mcp2026] {
        let running = patient().await;
        let caller = running.caller(transport);
        let session = begun(&caller).await;
        let waiting = tokio::spawn({
            let request = caller.request("tools/call", call(&session));
            async move { request.send().await }
        });
        begins(&running, &session, 2).await;
        let params = json!({ "requestId": 1, "reason": "changed my mind" });
        let taken = caller.notify("notifications/cancelled", params).send().await;
        assert_eq!(taken.status, 202, "{transport:?}: {taken:?}");
        assert!(!waiting.is_finished(), "a request of someone else has that number, too");
        running.model.gates().open("two");
        let answer = last_message(&waiting.await.expect("no panic"));
        assert_eq!(answer["result"]["structuredContent"]["status"], "completed", "{answer}");
        running.stop().await;
    }
}

#[tokio::test]
async fn whoever_hangs_up_during_the_last_round_gets_it_from_the_next_call() {
    for transport in ALL {
        let running = patient().await;
        let caller = running.caller(transport);
        let session = begun(&caller).await;
        let begins = begins(&running, &session, 2);
        if transport.is_pipes() {
            let mut pipes = Pipes::open(&caller).await;
            pipes.post("tools/call", call(&session)).await;
            begins.await;
            pipes.closed().await;
        } else {
            let path = format!("/api/debates/{}/continue", session.as_str().unwrap());
            let request = match transport {
                Transport::Http => post(running.address, &path, &json!({})),
                _ => caller.request("tools/call", call(&session)),
            };
            assert_eq!(
                request.hang_up_after(begins).await,
                "",
                "{transport:?}: nothing was said yet"
            );
        }
        not_lost(&running, &caller, &session).await;
        running.stop().await;
    }
}

#[tokio::test]
async fn a_client_that_hears_how_it_goes_and_hangs_up_loses_no_round() {
    for transport in [Transport::Mcp2025, Transport::Mcp2026] {
        let running = patient().await;
        let caller = running.caller(transport);
        let session = begun(&caller).await;
        let mut params = call(&session);
        params["_meta"] = json!({ "progressToken": "p" });
        let request = caller.request("tools/call", params);
        let said = request.hang_up_after(begins(&running, &session, 2)).await;
        assert!(!said.contains("structuredContent"), "{transport:?}: no answer yet: {said}");
        not_lost(&running, &caller, &session).await;
        running.stop().await;
    }
}

#[tokio::test]
async fn an_editor_that_is_closed_while_it_waits_loses_no_round() {
    for transport in [Transport::Pipes2025, Transport::Pipes2026] {
        let running = patient().await;
        let caller = running.caller(transport);
        let session = begun(&caller).await;
        let mut pipes = Pipes::open(&caller).await;
        pipes.post("tools/call", call(&session)).await;
        begins(&running, &session, 2).await;
        pipes.ask_to_stop();
        let told = pipes.next().await.expect("an answer");
        let status = &told["result"]["structuredContent"]["status"];
        assert_eq!(status, "running", "{transport:?}: {told}");
        pipes.closed().await;
        not_lost(&running, &caller, &session).await;
        running.stop().await;
    }
}

#[tokio::test]
async fn a_call_that_says_nothing_joins_the_round_of_one_that_was_cancelled() {
    for transport in MCP {
        let running = patient().await;
        let caller = running.caller(transport);
        let session = begun(&caller).await;
        let mut pipes = Pipes::open(&running.caller(Transport::Pipes2025)).await;
        let id = pipes.post("tools/call", call(&session)).await;
        begins(&running, &session, 2).await;
        pipes.cancel(&id).await;
        // Messages are read in order: when this one is answered, the call has ended.
        pipes.ask("tools/list", json!({})).await;
        running.model.gates().open("two");
        let joined = caller.go_on(&session, json!({})).await.expect("the round");
        assert_eq!((&joined["status"], &joined["roundNumber"]), (&json!("completed"), &json!(2)));
        assert_eq!(running.model.count(), 4, "{transport:?}");
        running.stop().await;
    }
}
