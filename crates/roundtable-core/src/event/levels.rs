//! How deep the values in an event nest: those that came from outside, each checked on its own.

use serde_json::Value;

use super::{Body, IterationEvent, SessionEvent, Task, ToolCallEvent, TurnEvent};
use crate::agent::Agent;
use crate::json::{self, TooDeep};

impl Body {
    /// Refuses a body with a value that nests too deeply.
    ///
    /// # Errors
    /// [`TooDeep`] for the first such value.
    pub fn check_levels(&self) -> Result<(), TooDeep> {
        self.values().into_iter().try_for_each(json::check)
    }

    /// The values in it whose form is not ours.
    fn values(&self) -> Vec<&Value> {
        match self {
            Self::Session(SessionEvent::SessionOpened(opening)) => schemas(&opening.agents),
            Self::Session(SessionEvent::SessionForked { agents, .. }) => schemas(agents),
            Self::Turn(TurnEvent::TurnStarted { task: Task::Nested { prompt, .. }, .. }) => {
                prompt.output.iter().map(|output| &output.schema).collect()
            }
            Self::Iteration(IterationEvent::ModelCallFinished { thoughts, .. }) => {
                thoughts.iter().map(|thought| &thought.payload).collect()
            }
            Self::ToolCall(ToolCallEvent::ToolCallRequested { arguments, .. }) => vec![arguments],
            Self::ToolCall(ToolCallEvent::ToolCallPublished { data, .. }) => vec![data],
            Self::ToolCall(ToolCallEvent::ToolCallFinished(outcome)) => {
                outcome.value().into_iter().collect()
            }
            Self::Unknown { data, .. } => vec![data],
            Self::Session(_)
            | Self::Round(_)
            | Self::Turn(_)
            | Self::Iteration(_)
            | Self::ToolCall(_)
            | Self::Context(_)
            | Self::Redacted => Vec::new(),
        }
    }
}

fn schemas(agents: &[Agent]) -> Vec<&Value> {
    let outputs = agents.iter().filter_map(|agent| agent.output.as_ref());
    outputs.map(|output| &output.schema).collect()
}
