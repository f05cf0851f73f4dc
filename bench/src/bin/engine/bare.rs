//! What the engine is compared with: a loop over the same model that keeps nothing.

use futures_util::StreamExt as _;
use roundtable::core::id::{AgentId, IterationId, SessionId};
use roundtable::core::message::{Message, ToolAnswer, ToolRequest};
use roundtable::core::scope::{Place, Scope};
use roundtable::ports::{Attempts, Chunk, Listener, Model, ModelRequest, ToolChoice};
use roundtable::prelude::ScriptedModel;

use super::talk;

fn request(agent: &str, iteration: u32, messages: Vec<Message>) -> ModelRequest {
    ModelRequest {
        key: IterationId::derive("trn_bare", iteration),
        attempt: 1,
        scope: Scope {
            session: SessionId::new("bare").expect("an id"),
            place: Place::session(),
            round_number: 1,
            iteration_number: iteration,
            agent: AgentId::new(agent).expect("an id"),
            domain: String::new(),
            actor: None,
            tenant: None,
            message: None,
        },
        prompt: "seat".to_owned(),
        agent_name: agent.to_owned(),
        messages: messages.into(),
        stable: 0,
        tools: Vec::new(),
        tool_choice: ToolChoice::Auto,
        output: None,
        max_tokens: 4096,
        listener: Listener::default(),
        attempts: Attempts::default(),
    }
}

/// Asks once and reads the answer.
pub async fn turn(model: &ScriptedModel) -> String {
    answer(model, request("plain", 1, vec![Message::user("How are you?")])).await.0
}

/// Asks until no tool is wanted any more, running the tool in between.
pub async fn tool_loop(model: &ScriptedModel, calls: u32) -> String {
    let mut messages = vec![Message::user("Count.")];
    for iteration in 1..=calls {
        let (text, asked) = answer(model, request("looper", iteration, messages.clone())).await;
        let answers = asked.iter().map(|call| {
            let to = call.arguments["to"].as_u64().unwrap_or_default();
            let content = talk::count(u32::try_from(to).unwrap_or_default());
            ToolAnswer { id: call.id.clone(), content, value: None, success: true }
        });
        let answers = answers.collect();
        messages.push(Message::assistant(text, asked));
        messages.push(Message::tool_results(answers));
    }
    answer(model, request("looper", calls + 1, messages)).await.0
}

async fn answer(model: &ScriptedModel, request: ModelRequest) -> (String, Vec<ToolRequest>) {
    let mut stream = model.stream(&request).await.expect("a scripted answer");
    let (mut text, mut calls) = (String::new(), Vec::new());
    while let Some(chunk) = stream.next().await {
        match chunk.expect("a scripted answer") {
            Chunk::Text(piece) => text.push_str(&piece),
            Chunk::ToolCall { name, arguments, .. } => {
                let id = roundtable::core::id::ToolCallId::derive("itr_bare", calls.len());
                calls.push(ToolRequest { id, name, arguments });
            }
            Chunk::Reasoning(_) | Chunk::Citation(_) => {}
            Chunk::Done(_) => break,
        }
    }
    (text, calls)
}
