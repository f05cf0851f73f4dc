//! What happened: the only thing that is ever stored. One enum per scope, in the past tense.

pub mod chain;
mod display;
mod kind;
pub mod legacy;
mod levels;
mod wire;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::agent::Agent;
use crate::audience::Audience;
use crate::budget::{Charge, Exhausted, Limits, Spend, Usage};
use crate::context_request::{ContextRequest, ContextResult};
use crate::digest::Digest;
use crate::id::{AgentId, ContextRequestId, SessionId, ToolCallId, TurnId};
use crate::job::JobOutcome;
use crate::message::{Citation, Image, Reasoning, TextFile};
use crate::message_context::MessageContext;
use crate::prompt::OutputSchema;
use crate::scope::Place;
use crate::settings::Settings;
use crate::stage::{Name, Stage};
use crate::tool::{Effect, ToolOutcome};

/// A position in a session's log: 1 is the first event, 0 is before it.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Seq(pub u64);

impl Seq {
    /// The position after this one.
    #[must_use]
    pub fn next(self) -> Self {
        Self(self.0.saturating_add(1))
    }
}

impl std::fmt::Display for Seq {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

/// An event in the log.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Event {
    /// Its position.
    pub seq: Seq,
    /// When it was decided.
    pub at: Timestamp,
    /// Where it happened.
    #[serde(flatten)]
    pub place: Place,
    /// What happened.
    #[serde(flatten)]
    pub body: Body,
}

/// What happened, by scope.
#[derive(Debug, Clone, PartialEq)]
pub enum Body {
    /// To the session as a whole.
    Session(SessionEvent),
    /// To a round.
    Round(RoundEvent),
    /// To a turn.
    Turn(TurnEvent),
    /// To an iteration or its model call.
    Iteration(IterationEvent),
    /// To a tool call.
    ToolCall(ToolCallEvent),
    /// To a context request.
    Context(ContextEvent),
    /// Something that this version does not know. It is kept as it is, and the session can be
    /// read but not written.
    Unknown {
        /// Its kind.
        kind: String,
        /// Its version.
        version: u32,
        /// Its data, untouched.
        data: Value,
    },
    /// The body was erased on a person's request; the header stays.
    Redacted,
}

/// Where a fork comes from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Origin {
    /// The session that was forked.
    pub session: SessionId,
    /// The last event that the two share.
    pub seq: Seq,
}

/// How a session begins.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Opening {
    /// What kind of session it is: the name of its product.
    pub kind: Name,
    /// The topic or title.
    pub topic: String,
    /// Who takes part, in seat order.
    pub agents: Vec<Agent>,
    /// How it runs.
    pub settings: Settings,
    /// On whose behalf.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub actor: Option<String>,
    /// For which tenant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tenant: Option<String>,
}

/// The record of a session that was held elsewhere.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ImportedSession {
    /// The program that can read it; also what kind of session it is.
    pub program: Name,
    /// The topic or title.
    pub topic: String,
    /// After how many rounds it was to be over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total_rounds: Option<u32>,
    /// How many rounds were completed.
    pub completed: u32,
    /// The number of the last round.
    pub last: u32,
    /// The record, as its program writes it.
    pub data: Value,
}

/// Something that opens a round: a message, or the wish to go on without one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AcceptedInput {
    /// Whose ids everything that it causes carries.
    pub context: MessageContext,
    /// Who says it.
    pub sender: String,
    /// What is said; nothing when the agents go on by themselves.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// The pictures that are shown with it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub images: Vec<Image>,
    /// The text files that are sent with it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<TextFile>,
    /// What the whole session may spend from here on, where the input changes that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limits: Option<Limits>,
    /// Who of those present receives it; everyone, where it says nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<Audience>,
}

/// How a session is listed from here on. What is absent stays as it is.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Change {
    /// What people call it. Prompts depend on the topic, which never changes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Whether lists leave it out unless they are asked for archived sessions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub archived: Option<bool>,
}

/// What happens to a session as a whole.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", content = "data", rename_all = "snake_case")]
pub enum SessionEvent {
    /// It began.
    SessionOpened(Box<Opening>),
    /// It began as a copy of another one's past.
    SessionForked {
        /// Where it comes from.
        origin: Origin,
        /// The agents from here on.
        agents: Vec<Agent>,
        /// Who of them speaks in every round; empty means everyone.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        seats: Vec<AgentId>,
    },
    /// An input was acknowledged; its round opens when it is its turn.
    SessionInputAccepted(AcceptedInput),
    /// An input that waits was changed before its round opened. It has the same ids.
    SessionInputEdited(AcceptedInput),
    /// An acknowledged input will open no round: the session ended first, or it was withdrawn.
    SessionInputDropped {
        /// The message.
        message_id: String,
        /// Whether whoever sent it took it back.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        withdrawn: bool,
    },
    /// No round opens until it is resumed.
    SessionPaused,
    /// Rounds open again.
    SessionResumed,
    /// It is over.
    SessionCompleted {
        /// Why, in words.
        reason: String,
    },
    /// A round's take no longer counts; it stays in the log.
    SessionRoundSuperseded {
        /// The round's number.
        number: u32,
        /// The take that no longer counts.
        take: u32,
        /// Whether the round is to be run again at once.
        redo: bool,
    },
    /// An earlier take of a round counts again.
    SessionTakeSelected {
        /// The round's number.
        number: u32,
        /// The take that counts.
        take: u32,
    },
    /// It began, and is over, as the record of one that was held elsewhere.
    SessionImported(Box<ImportedSession>),
    /// Its title changed, or whether it is archived.
    SessionChanged(Change),
    /// The state of its program changed; in a round or an aside where the place says so.
    StateChanged {
        /// What changed, as a merge patch (RFC 7396).
        patch: Value,
        /// What was not recorded of the change, and why.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        note: Option<String>,
    },
}

/// How a round ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RoundOutcome {
    /// Every seat had its turn, and someone answered.
    Completed,
    /// It was stopped or left; what exists is kept.
    Incomplete,
    /// No participant could answer.
    Failed,
}

/// A message of the session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct MessageRef {
    /// Its number in the session.
    pub number: u64,
    /// The event that holds its text.
    pub seq: Seq,
}

/// What happens to a round.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", content = "data", rename_all = "snake_case")]
pub enum RoundEvent {
    /// It began.
    RoundOpened {
        /// Its number, from 1.
        number: u32,
        /// Which take of that number, from 1.
        take: u32,
        /// The stages that are known when it opens, one after another.
        stages: Vec<Stage>,
        /// The input that opened it.
        input: MessageContext,
        /// The input's message, when it says something.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        said: Option<MessageRef>,
        /// Who is present: nobody else receives what is said. Everyone, where it says nothing.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        audience: Option<Audience>,
    },
    /// Something is done beside the rounds, for the session and not in it: it has no number of its
    /// own and no message, and holds nobody up.
    RoundAsideOpened {
        /// The round that it is about.
        number: u32,
        /// The take of that round.
        take: u32,
        /// What it is for, in the program's own word.
        purpose: Name,
        /// Its stages.
        stages: Vec<Stage>,
        /// The ids that everything it causes carries.
        input: MessageContext,
    },
    /// It goes on with these stages, decided on what was said before.
    StagesAdded {
        /// The stages, one after another.
        stages: Vec<Stage>,
        /// Who is present from here on; those who were, where it says nothing.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        audience: Option<Audience>,
    },
    /// Something has to be computed for it.
    JobStarted {
        /// What, in the program's own word.
        name: Name,
        /// Which job of this round or aside, from 1.
        ordinal: u32,
    },
    /// That was computed, or could not be.
    JobFinished {
        /// What, in the program's own word.
        name: Name,
        /// Which job of this round or aside.
        ordinal: u32,
        /// How it ended.
        #[serde(flatten)]
        outcome: JobOutcome,
        /// Why the session ends with the round. Only rounds of the first log format say it here.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        ends: Option<String>,
    },
    /// It ended.
    RoundClosed {
        /// How.
        outcome: RoundOutcome,
        /// Why the session ends with it, if it does.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        ends: Option<String>,
        /// What people should know of how it went.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        note: Option<String>,
    },
}

/// Why a turn takes place.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "task", rename_all = "snake_case")]
pub enum Task {
    /// It is the agent's seat in the round.
    Seat {
        /// The stage.
        stage: u32,
        /// The seat in the stage.
        seat: u32,
    },
    /// Another agent delegated it.
    Delegated {
        /// The tool call that waits for it.
        tool_call: ToolCallId,
        /// What is to be done.
        mission: String,
        /// Why this agent.
        rationale: String,
    },
    /// A tool handler asked for it.
    Nested {
        /// The tool call that waits for it.
        tool_call: ToolCallId,
        /// Which of the handler's requests it is, from 1.
        ordinal: u32,
        /// The prompt.
        prompt: NestedPrompt,
    },
}

/// A prompt that a tool handler wants answered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NestedPrompt {
    /// Its name.
    pub name: String,
    /// Its instructions.
    pub system: String,
    /// What is asked.
    pub input: String,
    /// The tools that it offers, by name; of the agent's own.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<String>,
    /// What the answer has to look like.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<OutputSchema>,
}

impl NestedPrompt {
    /// What has to stay the same when a handler runs again.
    pub fn digest(&self) -> Digest {
        Digest::of_json(self)
    }
}

/// How a turn ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub enum TurnOutcome {
    /// With an answer: the text of its last iteration.
    Answered,
    /// With an error.
    Failed {
        /// What went wrong.
        error: String,
    },
    /// It was stopped.
    Cancelled,
    /// A budget was spent; what there is counts as a partial answer.
    Exhausted {
        /// Which one.
        budget: Exhausted,
    },
}

/// What happens to a turn.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", content = "data", rename_all = "snake_case")]
pub enum TurnEvent {
    /// It began.
    TurnStarted {
        /// Whose turn it is.
        agent: AgentId,
        /// Why.
        #[serde(flatten)]
        task: Task,
    },
    /// It ended.
    TurnEnded {
        /// How.
        #[serde(flatten)]
        outcome: TurnOutcome,
        /// Its message, when it is one of the session's own.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        said: Option<MessageRef>,
    },
}

/// What a prompt was made of: enough to make the same one again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PromptRecord {
    /// The digest of its messages.
    pub hash: Digest,
    /// The first event that it drew on.
    pub from: Seq,
    /// The last one.
    pub to: Seq,
    /// The version of the templates.
    pub template: u32,
    /// How many of the oldest rounds were left out, because the model's window has no room.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub left_out: u32,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it with a reference")]
fn is_zero(count: &u32) -> bool {
    *count == 0
}

/// How an iteration ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum IterationOutcome {
    /// With the turn's answer.
    Answered,
    /// Its tool calls are done; the next one follows.
    ToolsDone,
    /// It asked for tool calls that the iteration limit does not allow.
    LimitReached,
    /// The model could not answer.
    Failed,
    /// It was stopped.
    Cancelled,
    /// A budget was spent.
    Exhausted {
        /// Which one.
        budget: Exhausted,
    },
}

/// Why a model stopped.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StopReason {
    /// It was done.
    #[default]
    End,
    /// It wants tools.
    ToolCalls,
    /// It reached its token limit.
    MaxTokens,
    /// It would not say.
    Refused,
}

/// What is known of a finished model call besides its text: the iteration's metadata.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallRecord {
    /// The model that answered, as the provider names it.
    pub model: String,
    /// How long it took.
    pub latency_ms: u64,
    /// The tokens, where the provider counts them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    /// The cost in millionths of a dollar, where the price is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<u64>,
    /// Why it stopped.
    pub stop: StopReason,
    /// In logs of earlier versions: how many attempts before it broke off. Each counts as much as was
    /// reserved for the call. Today every attempt has an event of its own.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub broken_off: u32,
    /// What people should know of the answer, whatever it says: that a demonstration model gave it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub notice: Option<String>,
}

/// What happens to an iteration and its model call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", content = "data", rename_all = "snake_case")]
pub enum IterationEvent {
    /// It began; its model call waits for room in the budgets.
    IterationOpened {
        /// Its number in the turn, from 1.
        number: u32,
    },
    /// Its model call is being made.
    ModelCallStarted {
        /// Which attempt, from 1.
        attempt: u32,
        /// What is set aside for it.
        reserved: Spend,
        /// What the prompt was made of.
        prompt: PromptRecord,
    },
    /// The process that made the call is gone. It is made again, and this one may have been billed.
    ModelCallInterrupted {
        /// Which attempt.
        attempt: u32,
        /// What had been said when it was last noted.
        partial: String,
        /// Always true: no provider sells exactly-once, and it is never hidden.
        possible_duplicate: bool,
        /// What is booked for it; absent in logs of earlier versions, which book the reservation.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        charge: Option<Charge>,
    },
    /// A request to the provider failed, and the call is made again at once.
    ModelCallRetried {
        /// Which attempt of the session; requests within it are not numbered.
        attempt: u32,
        /// What went wrong.
        error: String,
        /// What is booked for the request that failed.
        charge: Charge,
    },
    /// The model answered.
    ModelCallFinished {
        /// Which attempt.
        attempt: u32,
        /// Its text.
        text: String,
        /// How many tool calls it asked for; they follow as events of their own.
        calls: u32,
        /// What it thought before; a provider may want it back with the results of the calls.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        thoughts: Vec<Reasoning>,
        /// The sources that it names.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        citations: Vec<Citation>,
        /// What else is known of it.
        record: CallRecord,
        /// What is booked for it, where the provider does not count; absent in logs of earlier
        /// versions, which book the reservation.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        charge: Option<Charge>,
    },
    /// The model could not answer.
    ModelCallFailed {
        /// Which attempt.
        attempt: u32,
        /// What went wrong.
        error: String,
        /// What is booked for its last request; absent in logs of earlier versions, which book the
        /// reservation.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        charge: Option<Charge>,
    },
    /// The call was given up before it finished.
    ModelCallCancelled {
        /// Which attempt.
        attempt: u32,
        /// What had been said.
        partial: String,
        /// What is booked for it; absent in logs of earlier versions, which book the reservation.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        charge: Option<Charge>,
    },
    /// It ended.
    IterationClosed {
        /// How.
        outcome: IterationOutcome,
    },
}

/// What happens to a tool call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", content = "data", rename_all = "snake_case")]
pub enum ToolCallEvent {
    /// The model asked for it.
    ToolCallRequested {
        /// The tool.
        name: String,
        /// The arguments.
        arguments: Value,
        /// What repeating it would do.
        effect: Effect,
        /// The provider's own id of the call, if it has one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reference: Option<String>,
    },
    /// It is being run.
    ToolCallStarted {
        /// Which attempt, from 1.
        attempt: u32,
    },
    /// The handler published something.
    ToolCallPublished {
        /// Which of its publications, from 1.
        ordinal: u32,
        /// What it is about.
        topic: String,
        /// The data.
        data: Value,
    },
    /// The process that ran it is gone; it may be repeated under the same key, and is.
    ToolCallInterrupted {
        /// Which attempt.
        attempt: u32,
    },
    /// It ended.
    ToolCallFinished(ToolOutcome),
}

/// What happens to a context request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", content = "data", rename_all = "snake_case")]
pub enum ContextEvent {
    /// It was raised.
    ContextRequested(ContextRequest),
    /// It was answered, and so it is no longer pending.
    ContextProvided(ContextResult),
    /// What it was about has ended, so the answer would change nothing.
    ContextWithdrawn {
        /// The request.
        request: ContextRequestId,
    },
}

/// The turn that answers a tool call.
impl Task {
    /// The tool call that waits for the turn, if one does.
    pub fn tool_call(&self) -> Option<&ToolCallId> {
        match self {
            Self::Seat { .. } => None,
            Self::Delegated { tool_call, .. } | Self::Nested { tool_call, .. } => Some(tool_call),
        }
    }

    /// The id of the turn.
    pub(crate) fn turn_id(&self, round: &str) -> TurnId {
        match self {
            Self::Seat { stage, seat } => TurnId::derive(round, format_args!("{stage}.{seat}")),
            Self::Delegated { tool_call, .. } => TurnId::derive(tool_call.as_str(), 0),
            Self::Nested { tool_call, ordinal, .. } => TurnId::derive(tool_call.as_str(), ordinal),
        }
    }
}
