//! An event as one line for people.

use std::fmt;

use super::{
    Body, ContextEvent, Event, IterationEvent, IterationOutcome, RoundEvent, SessionEvent, Task,
    ToolCallEvent, TurnEvent, TurnOutcome,
};
use crate::audience::Audience;
use crate::context_request::Priority;
use crate::id::AgentId;
use crate::job::JobOutcome;
use crate::stage::Stage;
use crate::tool::ToolOutcome;

impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = &self.place;
        let inside = [place.turn.is_some(), place.iteration.is_some(), place.tool_call.is_some()];
        let depth = usize::from(place.round.is_some())
            + inside.into_iter().filter(|inside| *inside).count();
        write!(f, "{:>4}  {:indent$}{}", self.seq.0, "", self.body, indent = 2 * depth)
    }
}

impl fmt::Display for Body {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.kind())?;
        match self {
            Self::Session(event) => session(event, f),
            Self::Round(event) => round(event, f),
            Self::Turn(event) => turn(event, f),
            Self::Iteration(event) => iteration(event, f),
            Self::ToolCall(event) => tool_call(event, f),
            Self::Context(event) => context(event, f),
            Self::Unknown { version, .. } => {
                write!(f, " (version {version}: unknown to this build)")
            }
            Self::Redacted => Ok(()),
        }
    }
}

/// An outcome by its name in the log, in words.
fn word(outcome: &impl serde::Serialize) -> String {
    let name = serde_json::to_value(outcome).ok();
    name.as_ref().and_then(serde_json::Value::as_str).unwrap_or_default().replace('_', " ")
}

/// The beginning of a text, on one line, in quotes.
fn short(text: &str) -> String {
    format!("\"{}\"", line(text))
}

/// The beginning of a text, on one line.
fn line(text: &str) -> String {
    let line: String = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() <= 72 {
        return line;
    }
    format!("{}…", line.chars().take(71).collect::<String>())
}

fn session(event: &SessionEvent, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    match event {
        SessionEvent::SessionOpened(opening) => {
            let names: Vec<&str> = opening.agents.iter().map(|agent| agent.name.as_str()).collect();
            write!(f, " {} with {}", short(&opening.topic), names.join(", "))
        }
        SessionEvent::SessionForked { origin, .. } => {
            write!(f, " from {} at {}", origin.session, origin.seq)
        }
        SessionEvent::SessionInputAccepted(accepted)
        | SessionEvent::SessionInputEdited(accepted) => match &accepted.text {
            Some(text) => {
                let to = accepted.to.iter().flat_map(Audience::agents).map(AgentId::suffix);
                let to: Vec<&str> = to.collect();
                let to =
                    if to.is_empty() { String::new() } else { format!(" to {}", to.join(", ")) };
                write!(f, " {}{to}: {}", accepted.sender, short(text))
            }
            None => write!(f, " {}: continue", accepted.sender),
        },
        SessionEvent::SessionInputDropped { message_id, withdrawn } => {
            let why = if *withdrawn { " withdrawn" } else { "" };
            write!(f, " {message_id}{why}")
        }
        SessionEvent::SessionPaused | SessionEvent::SessionResumed => Ok(()),
        SessionEvent::SessionCompleted { reason } => write!(f, " {reason}"),
        SessionEvent::SessionRoundSuperseded { number, take, .. }
        | SessionEvent::SessionTakeSelected { number, take } => {
            write!(f, " round {number} take {take}")
        }
        SessionEvent::SessionImported(imported) => {
            write!(f, " {} with {} rounds", short(&imported.topic), imported.last)
        }
        SessionEvent::SessionChanged(change) => {
            let title = change.title.as_ref();
            title.map_or(Ok(()), |title| write!(f, " title {}", short(title)))?;
            let archived = |archived| if archived { " archived" } else { " not archived" };
            change.archived.map_or(Ok(()), |it| f.write_str(archived(it)))
        }
        SessionEvent::StateChanged { patch, note } => {
            write!(f, " {}", short(&patch.to_string()))?;
            note.as_ref().map_or(Ok(()), |note| write!(f, " ({note})"))
        }
    }
}

fn round(event: &RoundEvent, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    match event {
        RoundEvent::RoundOpened { number, take: 1, .. } => write!(f, " {number}"),
        RoundEvent::RoundOpened { number, take, .. } => write!(f, " {number} take {take}"),
        RoundEvent::RoundAsideOpened { number, purpose, stages, .. } => {
            let agent = stages.iter().flat_map(Stage::agents).next();
            let agent = agent.map(|agent| format!(" for {}", agent.suffix())).unwrap_or_default();
            write!(f, " {purpose} after round {number}{agent}")
        }
        RoundEvent::StagesAdded { stages, .. } => {
            let purposes: Vec<&str> = stages.iter().map(|stage| stage.purpose.as_str()).collect();
            write!(f, " {}", purposes.join(", "))
        }
        RoundEvent::JobStarted { name, ordinal } => write!(f, " {name} {ordinal}"),
        RoundEvent::JobFinished { name, ordinal, outcome, .. } => match outcome {
            JobOutcome::Done { .. } => write!(f, " {name} {ordinal}"),
            JobOutcome::Failed { error } => write!(f, " {name} {ordinal} failed: {error}"),
        },
        RoundEvent::RoundClosed { outcome, note, .. } => {
            write!(f, " {}", word(outcome))?;
            note.as_ref().map_or(Ok(()), |note| write!(f, " ({note})"))
        }
    }
}

fn turn(event: &TurnEvent, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    match event {
        TurnEvent::TurnStarted { agent, task } => match task {
            Task::Seat { .. } => write!(f, " {}", agent.suffix()),
            Task::Delegated { mission, .. } => {
                write!(f, " {} for {}", agent.suffix(), short(mission))
            }
            Task::Nested { prompt, .. } => {
                write!(f, " {} for the nested prompt {}", agent.suffix(), prompt.name)
            }
        },
        TurnEvent::TurnEnded { outcome, .. } => match outcome {
            TurnOutcome::Answered => write!(f, " answered"),
            TurnOutcome::Failed { error } => write!(f, " failed: {error}"),
            TurnOutcome::Cancelled => write!(f, " cancelled"),
            TurnOutcome::Exhausted { budget } => write!(f, " out of {}", budget.word()),
        },
    }
}

fn iteration(event: &IterationEvent, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    match event {
        IterationEvent::IterationOpened { number } => write!(f, " {number}"),
        IterationEvent::ModelCallStarted { attempt: 1, .. } => Ok(()),
        IterationEvent::ModelCallStarted { attempt, .. } => write!(f, " attempt {attempt}"),
        IterationEvent::ModelCallInterrupted { attempt, .. } => {
            write!(f, " attempt {attempt} (a possible duplicate)")
        }
        IterationEvent::ModelCallFinished { text, calls, .. } => {
            if !text.is_empty() {
                write!(f, " {}", short(text))?;
            }
            match calls {
                0 => Ok(()),
                1 => write!(f, " (1 tool call)"),
                calls => write!(f, " ({calls} tool calls)"),
            }
        }
        IterationEvent::ModelCallFailed { error, .. }
        | IterationEvent::ModelCallRetried { error, .. } => write!(f, " {error}"),
        IterationEvent::ModelCallCancelled { partial, .. } => {
            write!(f, " after {}", short(partial))
        }
        IterationEvent::IterationClosed { outcome } => match outcome {
            IterationOutcome::Exhausted { budget } => write!(f, " out of {}", budget.word()),
            outcome => write!(f, " {}", word(outcome)),
        },
    }
}

fn tool_call(event: &ToolCallEvent, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    match event {
        ToolCallEvent::ToolCallRequested { name, arguments, .. } => {
            write!(f, " {name} {}", line(&arguments.to_string()))
        }
        ToolCallEvent::ToolCallStarted { attempt: 1 } => Ok(()),
        ToolCallEvent::ToolCallStarted { attempt }
        | ToolCallEvent::ToolCallInterrupted { attempt } => {
            write!(f, " attempt {attempt}")
        }
        ToolCallEvent::ToolCallPublished { topic, data, .. } => {
            write!(f, " {topic} {}", line(&data.to_string()))
        }
        ToolCallEvent::ToolCallFinished(outcome) => match outcome {
            ToolOutcome::Returned(result) if result.success => {
                write!(f, " {}", short(&result.message))
            }
            ToolOutcome::Returned(result) => write!(f, " failed: {}", short(&result.message)),
            ToolOutcome::Answered { .. } => write!(f, " with the delegate's answer"),
            ToolOutcome::Cancelled => write!(f, " cancelled"),
            ToolOutcome::Unknown { request } => write!(f, " unknown, asked in {request}"),
            ToolOutcome::NotRun { reason } => write!(f, " {reason}"),
        },
    }
}

fn context(event: &ContextEvent, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    match event {
        ContextEvent::ContextRequested(request) => {
            let optional = if request.priority == Priority::Optional { " (optional)" } else { "" };
            write!(
                f,
                " {} by {}: {}{optional}",
                request.id,
                request.agent.suffix(),
                short(&request.query)
            )
        }
        ContextEvent::ContextProvided(result) => {
            write!(f, " {}: {}", result.request, short(&result.shown()))
        }
        ContextEvent::ContextWithdrawn { request } => write!(f, " {request}"),
    }
}
