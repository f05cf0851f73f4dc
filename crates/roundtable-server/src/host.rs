//! The model of whoever calls. Where the operator configures it, an agent's turn waits until the caller
//! has answered its prompt and brings the answer in; no key is needed.
//!
//! That a turn waits is in the log, and its prompt is made of the log. So every process finds it, before a
//! restart and after one, and takes the answer; whoever drives the session commits it, once.

use async_trait::async_trait;
pub use roundtable::core::agent::HOST;
use roundtable::core::id::{AgentId, IterationId};
use roundtable::core::message::{Message, Role};
use roundtable::core::prompt::RenderedPrompt;
use roundtable::debate::Debate;
use roundtable::ports::{Model, ModelError, ModelRequest, ModelStream};
use schemars::JsonSchema;
use serde::Serialize;

use crate::problem::Problem;

/// A turn that the caller's own model has to answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Turn")]
pub(crate) struct HostTurn {
    /// Send it together with contribution.
    pub turn_token: IterationId,
    pub agent_id: AgentId,
    pub agent_name: String,
    /// The complete prompt of the agent. Answer it as that agent, not as yourself.
    pub prompt: String,
}

/// The turn of a debate that waits the longest, if one does.
pub(crate) async fn find(debate: &Debate) -> Result<Option<HostTurn>, Problem> {
    let session = debate.session();
    let state = session.state().await?;
    let waiting = state.host_turns().next();
    let Some((turn, iteration)) = waiting.and_then(|turn| Some((turn, turn.iteration.as_ref()?)))
    else {
        return Ok(None);
    };
    // It may have been brought in since.
    let Some(prompt) = session.prompt(&turn.id).await? else { return Ok(None) };
    let agent = state.find_agent(&turn.agent);
    Ok(Some(HostTurn {
        turn_token: iteration.id.clone(),
        agent_id: turn.agent.clone(),
        agent_name: agent.map(|agent| agent.name.clone()).unwrap_or_default(),
        prompt: text(&prompt),
    }))
}

/// The caller's own model, to be registered with the engine as [`HOST`].
#[derive(Debug, Clone, Copy, Default)]
pub struct HostModel;

#[async_trait]
impl Model for HostModel {
    async fn stream(&self, _: &ModelRequest) -> Result<ModelStream, ModelError> {
        let what = "the caller's own model cannot be called; the caller sends its turns";
        Err(ModelError::BadRequest(what.to_owned()))
    }
}

/// All that a model would be given, as one text.
fn text(prompt: &RenderedPrompt) -> String {
    let part = |message: &Message| {
        let heading = match message.role {
            Role::System => "# Your instructions",
            Role::User => "# What was said",
            Role::Assistant => "# What you said before",
        };
        format!("{heading}\n\n{}", message.text())
    };
    let mut parts: Vec<String> = prompt.messages.iter().map(part).collect();
    if let Some(output) = &prompt.output {
        let schema = &output.schema;
        parts.push(format!(
            "# The form of your answer\n\nAnswer only with JSON that matches this schema:\n{schema}"
        ));
    }
    parts.join("\n\n")
}
