//! A tool handler wants a prompt answered: a child turn, keyed by tool call and ordinal.

use crate::event::{Body, NestedPrompt, Task, TurnEvent};
use crate::id::ToolCallId;
use crate::input::{Env, Ran};
use crate::prompt::OutputSchema;
use crate::reject::Reject;
use crate::session::{Draft, Session};

impl Session {
    /// A child that exists is not started again: the handler receives what is recorded of it.
    /// The same ordinal with another prompt means that the handler does not do the same twice,
    /// and then nothing recorded can be trusted to fit: the call fails.
    pub(crate) fn evaluate(
        &self,
        id: &ToolCallId,
        ordinal: u32,
        prompt: &NestedPrompt,
        env: &Env,
    ) -> Result<Vec<Draft>, Reject> {
        let (round, turn, call) = self.running_call(id)?;
        if let Some(child) = call.find_child(ordinal) {
            if child.digest.as_ref() == Some(&prompt.digest()) {
                return Ok(Vec::new());
            }
            let why = format!(
                "nested prompt {ordinal} of {} differs from the recorded one; a handler must ask \
                 the same prompts in the same order",
                call.name
            );
            return self.tool_ran(id, call.attempts, &Ran::CutOff(why), env);
        }
        self.check_depth(turn).map_err(|what| Reject::Invalid { what })?;
        self.check_bytes("the nested prompt", prompt.system.len() + prompt.input.len())?;
        prompt.output.as_ref().map_or(Ok(()), OutputSchema::check)?;
        let task = Task::Nested { tool_call: id.clone(), ordinal, prompt: prompt.clone() };
        let place = round.place().turn(&task.turn_id(round.id.as_str()));
        Ok(vec![(place, Body::Turn(TurnEvent::TurnStarted { agent: turn.agent.clone(), task }))])
    }
}
