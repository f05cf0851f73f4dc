//! Many agents in many sessions ask at once, over every transport.

use async_trait::async_trait;
use futures_util::{StreamExt as _, stream};
use roundtable::core::event::CallRecord;
use roundtable::ports::{Chunk, Model, ModelError, ModelRequest, ModelStream};
use roundtable::prelude::*;
use roundtable_server::Settings;
use serde_json::{Value, json};

use crate::caller::ALL;
use crate::kit;

const SESSIONS: usize = 40;
const AGENTS: usize = 6;

/// What marks a session in its topic, and is nowhere else.
fn canary(session: usize) -> String {
    format!("canary-{session:04}-end")
}

/// An agent that asks for something with its session's canary and its own id in it, found in its
/// prompt; when it has asked, it says so.
struct Curious;

#[async_trait]
impl Model for Curious {
    async fn stream(&self, request: &ModelRequest) -> Result<ModelStream, ModelError> {
        let prompt: String = request.messages.iter().map(|message| message.text()).collect();
        let canary = prompt.find("canary-").map_or("none", |at| &prompt[at..at + 15]);
        let asked = request.scope.iteration_number > 1;
        let chunk = if asked || request.prompt != "seat" {
            Chunk::Text(json!({ "position": canary, "confidence": 0.5 }).to_string())
        } else {
            let query = format!("{canary} {}", request.scope.agent);
            let arguments = json!({ "query": query, "reason": canary });
            Chunk::ToolCall { name: "request_context".to_owned(), arguments, reference: None }
        };
        // Others get ahead.
        tokio::task::yield_now().await;
        Ok(stream::iter([Ok(chunk), Ok(Chunk::Done(CallRecord::default()))]).boxed())
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn r000_16_each_request_has_its_own_agent_and_session_however_many_ask_at_once() {
    let engine =
        Engine::builder().custom_model("curious", Curious).build().await.expect("an engine");
    let serving = kit::serve(engine, Settings::default()).await;
    let debates = (0..SESSIONS).map(|session| {
        let caller = serving.caller(ALL[session % ALL.len()]);
        let topic = json!({ "topic": canary(session), "agentCount": AGENTS, "rounds": 2 });
        async move {
            let first = caller.start(topic).await.expect("a round");
            check(session, &first, "needs_context");
            let results: Vec<Value> = requests(&first)
                .map(|it| json!({ "requestId": it["id"], "success": true, "result": it["query"] }))
                .collect();
            let results = json!({ "contextResults": results, "afterRound": 1 });
            let second = caller.go_on(&first["sessionId"], results).await.expect("a round");
            assert_eq!(second["status"], "completed", "{second}");
            assert!(only_own(session, &second.to_string()), "{session}: {second}");
        }
    });
    futures_util::future::join_all(debates).await;
    serving.stop().await;
}

fn requests(answer: &Value) -> impl Iterator<Item = &Value> {
    answer["contextRequests"].as_array().expect("requests").iter()
}

/// Each of the session's agents asked once, in its own name, for its own session.
fn check(session: usize, answer: &Value, status: &str) {
    assert_eq!(answer["status"], status, "{answer}");
    let mut agents: Vec<&str> = Vec::new();
    for request in requests(answer) {
        let agent = request["agentId"].as_str().expect("an agent");
        let query = format!("{} {agent}", canary(session));
        assert_eq!(
            (&request["query"], &request["reason"]),
            (&json!(query), &json!(canary(session)))
        );
        agents.push(agent);
    }
    agents.sort_unstable();
    agents.dedup();
    assert_eq!(agents.len(), AGENTS, "{answer}");
    assert!(only_own(session, &answer.to_string()), "{session}: {answer}");
}

/// Whether no other session's canary is in a text.
fn only_own(session: usize, text: &str) -> bool {
    text.split("canary-").skip(1).all(|rest| rest.starts_with(&format!("{session:04}-end")))
}
