//! The kinds of events: their names in the log, their versions, and how an older version becomes the
//! newest one.
//!
//! A field that changes what a fold, a prompt or a decision does makes a new version of its kind,
//! also when the field is optional: an older build then sees a version that it does not know, and
//! reads that session without writing to it. Fields that only people read are added within a
//! version.

use serde::Deserialize as _;
use serde_json::Value;

use super::{
    Body, ContextEvent, IterationEvent, RoundEvent, SessionEvent, ToolCallEvent, TurnEvent, legacy,
};

/// Turns the data of one version into the data of the next.
type Upcast = fn(Value) -> Value;

/// A kind of event.
pub(super) struct Kind {
    name: &'static str,
    /// Reads the newest version.
    pub read: fn(Value) -> Result<Body, serde_json::Error>,
    /// One for each earlier version, oldest first.
    upcasts: &'static [Upcast],
}

impl Kind {
    const fn new(name: &'static str, read: fn(Value) -> Result<Body, serde_json::Error>) -> Self {
        Self { name, read, upcasts: &[] }
    }

    /// The same kind after earlier versions.
    const fn after(self, upcasts: &'static [Upcast]) -> Self {
        Self { upcasts, ..self }
    }

    /// The version that this build writes.
    pub fn newest(&self) -> u32 {
        u32::try_from(self.upcasts.len()).unwrap_or(u32::MAX).saturating_add(1)
    }

    /// Whether this build can read that version.
    pub fn has(&self, version: u32) -> bool {
        (1..=self.newest()).contains(&version)
    }

    /// The data of that version as the newest one has it.
    pub fn upcast(&self, version: u32, data: Value) -> Value {
        let earlier = usize::try_from(version.saturating_sub(1)).unwrap_or(usize::MAX);
        self.upcasts.iter().skip(earlier).fold(data, |data, upcast| upcast(data))
    }
}

/// The kind with this name.
pub(super) fn find(name: &str) -> Option<&'static Kind> {
    KINDS.iter().find(|kind| kind.name == name)
}

/// Fields were added; where they are absent, the rule of before holds.
fn same(data: Value) -> Value {
    data
}

fn session(value: Value) -> Result<Body, serde_json::Error> {
    SessionEvent::deserialize(value).map(Body::Session)
}

fn round(value: Value) -> Result<Body, serde_json::Error> {
    RoundEvent::deserialize(value).map(Body::Round)
}

/// Read, never written: what was measured in rounds of the first log format is the result of a job.
fn measured(value: Value) -> Result<Body, serde_json::Error> {
    round(legacy::round_measured(value))
}

fn turn(value: Value) -> Result<Body, serde_json::Error> {
    TurnEvent::deserialize(value).map(Body::Turn)
}

fn iteration(value: Value) -> Result<Body, serde_json::Error> {
    IterationEvent::deserialize(value).map(Body::Iteration)
}

fn tool_call(value: Value) -> Result<Body, serde_json::Error> {
    ToolCallEvent::deserialize(value).map(Body::ToolCall)
}

fn context(value: Value) -> Result<Body, serde_json::Error> {
    ContextEvent::deserialize(value).map(Body::Context)
}

static KINDS: [Kind; 38] = [
    Kind::new("session_opened", session).after(&[legacy::session_opened]),
    Kind::new("session_forked", session),
    Kind::new("session_input_accepted", session).after(&[same, same, same]),
    Kind::new("session_input_edited", session).after(&[same]),
    Kind::new("session_input_dropped", session),
    Kind::new("session_paused", session),
    Kind::new("session_resumed", session),
    Kind::new("session_completed", session),
    Kind::new("session_round_superseded", session),
    Kind::new("session_take_selected", session),
    Kind::new("session_imported", session).after(&[legacy::session_imported]),
    Kind::new("session_changed", session),
    Kind::new("state_changed", session),
    Kind::new("round_opened", round).after(&[legacy::round_opened, same]),
    Kind::new("round_aside_opened", round).after(&[legacy::round_aside_opened, same]),
    Kind::new("stages_added", round).after(&[same]),
    Kind::new("round_measured", measured),
    Kind::new("job_started", round),
    Kind::new("job_finished", round),
    Kind::new("round_closed", round).after(&[same]),
    Kind::new("turn_started", turn),
    Kind::new("turn_ended", turn),
    Kind::new("iteration_opened", iteration),
    Kind::new("iteration_closed", iteration),
    Kind::new("model_call_started", iteration),
    Kind::new("model_call_retried", iteration),
    Kind::new("model_call_interrupted", iteration).after(&[same]),
    Kind::new("model_call_finished", iteration).after(&[same]),
    Kind::new("model_call_failed", iteration).after(&[same]),
    Kind::new("model_call_cancelled", iteration).after(&[same]),
    Kind::new("tool_call_requested", tool_call),
    Kind::new("tool_call_started", tool_call),
    Kind::new("tool_call_published", tool_call),
    Kind::new("tool_call_interrupted", tool_call),
    Kind::new("tool_call_finished", tool_call),
    Kind::new("context_requested", context).after(&[same, same]),
    Kind::new("context_provided", context).after(&[same]),
    Kind::new("context_withdrawn", context),
];

impl Body {
    /// The kind of the event, as it stands in the log.
    pub fn kind(&self) -> &str {
        match self {
            Self::Session(event) => event.kind(),
            Self::Round(event) => event.kind(),
            Self::Turn(event) => event.kind(),
            Self::Iteration(event) => event.kind(),
            Self::ToolCall(event) => event.kind(),
            Self::Context(event) => event.kind(),
            Self::Unknown { kind, .. } => kind,
            Self::Redacted => "redacted",
        }
    }
}

impl SessionEvent {
    fn kind(&self) -> &'static str {
        match self {
            Self::SessionOpened(_) => "session_opened",
            Self::SessionForked { .. } => "session_forked",
            Self::SessionInputAccepted(_) => "session_input_accepted",
            Self::SessionInputEdited(_) => "session_input_edited",
            Self::SessionInputDropped { .. } => "session_input_dropped",
            Self::SessionPaused => "session_paused",
            Self::SessionResumed => "session_resumed",
            Self::SessionCompleted { .. } => "session_completed",
            Self::SessionRoundSuperseded { .. } => "session_round_superseded",
            Self::SessionTakeSelected { .. } => "session_take_selected",
            Self::SessionImported(_) => "session_imported",
            Self::SessionChanged(_) => "session_changed",
            Self::StateChanged { .. } => "state_changed",
        }
    }
}

impl RoundEvent {
    fn kind(&self) -> &'static str {
        match self {
            Self::RoundOpened { .. } => "round_opened",
            Self::RoundAsideOpened { .. } => "round_aside_opened",
            Self::StagesAdded { .. } => "stages_added",
            Self::JobStarted { .. } => "job_started",
            Self::JobFinished { .. } => "job_finished",
            Self::RoundClosed { .. } => "round_closed",
        }
    }
}

impl TurnEvent {
    fn kind(&self) -> &'static str {
        match self {
            Self::TurnStarted { .. } => "turn_started",
            Self::TurnEnded { .. } => "turn_ended",
        }
    }
}

impl IterationEvent {
    fn kind(&self) -> &'static str {
        match self {
            Self::IterationOpened { .. } => "iteration_opened",
            Self::IterationClosed { .. } => "iteration_closed",
            Self::ModelCallStarted { .. } => "model_call_started",
            Self::ModelCallRetried { .. } => "model_call_retried",
            Self::ModelCallInterrupted { .. } => "model_call_interrupted",
            Self::ModelCallFinished { .. } => "model_call_finished",
            Self::ModelCallFailed { .. } => "model_call_failed",
            Self::ModelCallCancelled { .. } => "model_call_cancelled",
        }
    }
}

impl ToolCallEvent {
    fn kind(&self) -> &'static str {
        match self {
            Self::ToolCallRequested { .. } => "tool_call_requested",
            Self::ToolCallStarted { .. } => "tool_call_started",
            Self::ToolCallPublished { .. } => "tool_call_published",
            Self::ToolCallInterrupted { .. } => "tool_call_interrupted",
            Self::ToolCallFinished(_) => "tool_call_finished",
        }
    }
}

impl ContextEvent {
    fn kind(&self) -> &'static str {
        match self {
            Self::ContextRequested(_) => "context_requested",
            Self::ContextProvided(_) => "context_provided",
            Self::ContextWithdrawn { .. } => "context_withdrawn",
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// A kind with three versions: `how` was called `end` once, and `well` was a number.
    const CHANGED: Kind = Kind {
        name: "round_closed",
        read: round,
        upcasts: &[
            |data| json!({ "how": data["end"] }),
            |data| json!({ "how": data["how"], "well": 1 }),
        ],
    };

    #[test]
    fn data_of_any_earlier_version_becomes_the_newest_step_by_step() {
        assert_eq!(CHANGED.newest(), 3);
        let newest = json!({ "how": "so", "well": 1 });
        assert_eq!(CHANGED.upcast(1, json!({ "end": "so" })), newest);
        assert_eq!(CHANGED.upcast(2, json!({ "how": "so" })), newest);
        let own = json!({ "how": "so", "well": 7 });
        assert_eq!(CHANGED.upcast(3, own.clone()), own);
    }

    #[test]
    fn only_versions_up_to_the_newest_are_known() {
        assert_eq!(
            [0, 1, 2, 3, 4].map(|version| CHANGED.has(version)),
            [false, true, true, true, false]
        );
    }

    #[test]
    fn every_kind_has_a_name_of_its_own() {
        for (index, kind) in KINDS.iter().enumerate() {
            assert!(KINDS[..index].iter().all(|other| other.name != kind.name), "{}", kind.name);
        }
    }
}
