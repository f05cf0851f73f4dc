//! A set of tools bound to one agent. It is a value: nothing can be set on it afterwards.

use std::collections::BTreeMap;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use futures_util::FutureExt as _;
use roundtable_core::id::AgentId;
use roundtable_core::tool::ToolResult;
use serde_json::Value;

use crate::tool::{DynTool, ToolError, ToolSpec};
use crate::tool_context::ToolContext;

/// Tools, bound to the agent that may call them.
#[derive(Clone)]
pub struct Toolkit {
    agent: AgentId,
    tools: Arc<BTreeMap<String, Arc<dyn DynTool>>>,
}

impl Toolkit {
    /// These tools, for this agent.
    pub fn new(agent: AgentId, tools: impl IntoIterator<Item = Arc<dyn DynTool>>) -> Self {
        let tools = tools.into_iter().map(|tool| (tool.spec().name, tool)).collect();
        Self { agent, tools: Arc::new(tools) }
    }

    /// The same tools, for another agent.
    pub fn bind(&self, agent: AgentId) -> Self {
        Self { agent, tools: self.tools.clone() }
    }

    /// The agent that it is bound to.
    pub fn agent(&self) -> &AgentId {
        &self.agent
    }

    /// The tools, as models are told of them.
    pub fn specs(&self) -> Vec<ToolSpec> {
        self.tools.values().map(|tool| tool.spec()).collect()
    }

    /// The tool with this name.
    pub fn find(&self, name: &str) -> Option<&Arc<dyn DynTool>> {
        self.tools.get(name)
    }

    /// Runs a tool for the agent that calls it; without one, for the agent that the toolkit is
    /// bound to (R000-14). Whatever goes wrong is a result for the model.
    pub async fn execute_tool(
        &self,
        name: &str,
        input: Value,
        agent: Option<&AgentId>,
        context: ToolContext,
    ) -> ToolResult {
        match self.run(name, input, agent, context).await {
            Ok(result) => result,
            Err(error) => ToolResult::failed(error.message()),
        }
    }

    /// The same for a caller who has to know whether a call that went wrong may have had effects:
    /// this is how the engine runs every tool.
    ///
    /// # Errors
    /// [`ToolError`] when the tool fails, panics or does not exist.
    pub async fn run(
        &self,
        name: &str,
        input: Value,
        agent: Option<&AgentId>,
        mut context: ToolContext,
    ) -> Result<ToolResult, ToolError> {
        let Some(tool) = self.find(name) else {
            let names: Vec<&str> = self.tools.keys().map(String::as_str).collect();
            return Err(ToolError::Failed(format!(
                "unknown tool \"{name}\"; available: {}",
                names.join(", ")
            )));
        };
        context.scope.ids.agent = agent.unwrap_or(&self.agent).clone();
        // A handler may panic before it returns a future.
        let running = async { tool.run_json(input, &context).await };
        match AssertUnwindSafe(running).catch_unwind().await {
            Ok(result) => result,
            Err(_) => Err(ToolError::Unknown(format!("{name} panicked"))),
        }
    }
}
