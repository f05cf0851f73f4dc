//! Requests, as the engine makes them.

use std::sync::Arc;

use roundtable_core::id::{AgentId, IterationId, SessionId};
use roundtable_core::message::Message;
use roundtable_core::scope::{Place, Scope};
use roundtable_core::tool::Effect;
use roundtable_ports::{Attempts, Listener, ModelRequest, ToolChoice, ToolSpec};
use serde_json::json;

/// What an agent's model is asked in its seat, in this round and iteration.
pub fn request(agent: &str, round: u32, iteration: u32) -> ModelRequest {
    let scope = Scope {
        session: SessionId::new("mine").unwrap(),
        place: Place::session(),
        round_number: round,
        iteration_number: iteration,
        agent: AgentId::new(agent).unwrap(),
        domain: "default".to_owned(),
        actor: None,
        tenant: None,
        message: None,
    };
    ModelRequest {
        key: IterationId::derive(agent, format_args!("{round}.{iteration}")),
        attempt: 1,
        scope,
        prompt: "seat".to_owned(),
        agent_name: agent.to_uppercase(),
        messages: vec![Message::system("Be brief."), Message::user("How are you today?")].into(),
        stable: 0,
        tools: Vec::new(),
        tool_choice: ToolChoice::Auto,
        output: None,
        max_tokens: 100,
        listener: Listener::default(),
        attempts: Attempts::default(),
    }
}

/// The same request with these tools on offer.
pub fn offering(request: ModelRequest, tools: &[&str]) -> ModelRequest {
    let spec = |name: &&str| ToolSpec {
        name: (*name).to_owned(),
        description: format!("Does {name}."),
        schema: json!({"type": "object", "properties": {"q": {"type": "string"}}}),
        effect: Effect::Pure,
        timeout: std::time::Duration::from_secs(1),
    };
    ModelRequest { tools: tools.iter().map(spec).map(Arc::new).collect(), ..request }
}
