//! The product's model client without the engine around it: which part of the difference is whose.

use std::collections::BTreeMap;

use futures_util::StreamExt as _;
use roundtable::core::id::{AgentId, IterationId, SessionId};
use roundtable::core::message::Message;
use roundtable::core::scope::{Place, Scope};
use roundtable::models::Retry;
use roundtable::ports::{Attempts, Chunk, Listener, Model as _, ModelRequest, ToolChoice};

use super::talk;

/// The client, with a model for each way in which the provider answers.
pub struct Client {
    models: BTreeMap<&'static str, Retry>,
    request: ModelRequest,
}

impl Client {
    pub fn new(address: &str) -> anyhow::Result<Self> {
        let models =
            ["turn", "long", "slow", "stream"].map(|way| Ok((way, talk::model(address, way)?)));
        let models = models.into_iter().collect::<anyhow::Result<_>>()?;
        Ok(Self { models, request: request()? })
    }

    /// Asks once; how many tokens came.
    pub async fn turn(&self, way: &str) -> anyhow::Result<usize> {
        let mut answer = self.models[way].stream(&self.request.clone()).await?;
        let (mut text, mut tokens) = (String::new(), 0);
        while let Some(chunk) = answer.next().await {
            match chunk? {
                Chunk::Text(piece) => {
                    text.push_str(&piece);
                    tokens += 1;
                }
                Chunk::Done(_) => break,
                Chunk::ToolCall { .. } | Chunk::Reasoning(_) | Chunk::Citation(_) => {}
            }
        }
        Ok(tokens)
    }
}

fn request() -> anyhow::Result<ModelRequest> {
    let scope = Scope {
        session: SessionId::new("client")?,
        place: Place::session(),
        round_number: 1,
        iteration_number: 1,
        agent: AgentId::new("ann")?,
        domain: String::new(),
        actor: None,
        tenant: None,
        message: None,
    };
    Ok(ModelRequest {
        key: IterationId::derive("trn_client", 1),
        attempt: 1,
        scope,
        prompt: "seat".to_owned(),
        agent_name: "Ann".to_owned(),
        messages: vec![Message::system("You are Ann."), Message::user("User: How are you?")].into(),
        stable: 0,
        tools: Vec::new(),
        tool_choice: ToolChoice::Auto,
        output: None,
        max_tokens: 4096,
        listener: Listener::default(),
        attempts: Attempts::default(),
    })
}
