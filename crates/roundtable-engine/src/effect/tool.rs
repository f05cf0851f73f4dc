//! Running a tool.

use std::sync::Arc;

use roundtable_core::id::ToolCallId;
use roundtable_core::input::{Ran, Report};
use roundtable_core::prompt::{Prompt, RenderedPrompt};
use roundtable_core::tool::ToolResult;
use roundtable_ports::{
    Adapter, EventBus, RunScope, SessionReader, ToolContext, ToolError, Toolkit,
};
use serde_json::Value;

use crate::adapter::SessionBus;
use crate::engine::Engine;
use crate::permit::Slot;

/// A tool call.
pub(crate) struct ToolRun {
    pub engine: Engine,
    pub tool_call: ToolCallId,
    pub attempt: u32,
    pub name: String,
    pub arguments: Value,
    pub bus: Arc<SessionBus>,
    pub prompt: Arc<Prompt>,
    pub rendered: Option<Arc<RenderedPrompt>>,
    pub adapter: Arc<dyn Adapter>,
    pub session: Arc<dyn SessionReader>,
    pub scope: RunScope,
}

impl ToolRun {
    /// Runs the call. Whatever goes wrong is data for the model.
    pub async fn run(self) -> Report {
        let (tool_call, attempt) = (self.tool_call.clone(), self.attempt);
        let ran = self.carry_out().await;
        Report::ToolRan { tool_call, attempt, ran }
    }

    async fn carry_out(self) -> Ran {
        let Some((tool, spec)) = self.engine.parts().tools.find(&self.name) else {
            return Ran::Refused(format!("the tool \"{}\" is no longer available", self.name));
        };
        let slot = Slot::acquire(self.engine.permits().clone()).await;
        let _seat = self.bus.seat(&self.tool_call, slot);
        // Built for this call, right before it, and dropped after it (R002-4, R002-7).
        let event_bus = EventBus::new(self.bus, self.tool_call);
        let context = ToolContext::new(
            self.prompt,
            self.rendered,
            self.adapter,
            self.session,
            event_bus,
            self.scope,
        );
        // Bound to the agent whose turn made the call (R000-14).
        let toolkit = Toolkit::new(context.scope.ids.agent.clone(), [tool.clone()]);
        let running = toolkit.run(&self.name, self.arguments, None, context);
        match tokio::time::timeout(spec.timeout, running).await {
            Ok(Ok(result)) => {
                let most = self.engine.parts().config.max_reply_bytes;
                Ran::Returned(result.bounded(most))
            }
            Ok(Err(ToolError::Failed(error))) => Ran::Returned(ToolResult::failed(error)),
            Ok(Err(ToolError::Unknown(why))) => Ran::CutOff(why),
            Err(_) => {
                Ran::CutOff(format!("{} took longer than {} s", self.name, spec.timeout.as_secs()))
            }
        }
    }
}
