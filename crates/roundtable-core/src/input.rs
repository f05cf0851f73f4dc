//! What comes in: commands of callers, and reports of the engine on what it was asked to do.

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::agent::Agent;
use crate::audience::Audience;
use crate::budget::Limits;
use crate::context_request::ContextResult;
use crate::event::{CallRecord, Change, ImportedSession, NestedPrompt, Opening, Origin};
use crate::id::{IterationId, RoundId, ToolCallId};
use crate::job::JobOutcome;
use crate::json;
use crate::message::{Attachment, Citation, Image, Reasoning, TextFile};
use crate::message_context::MessageContext;
use crate::stage::Name;
use crate::tool::ToolResult;

/// What the world looks like while a decision is taken. The core has no clock of its own.
#[derive(Debug, Clone)]
pub struct Env {
    /// The time.
    pub now: Timestamp,
    /// What running model calls have said so far: kept when a decision cuts them off.
    pub partials: BTreeMap<IterationId, String>,
}

impl Env {
    /// A world in which nothing is being said.
    pub fn at(now: Timestamp) -> Self {
        Self { now, partials: BTreeMap::new() }
    }
}

/// What to do with an input while a round is open.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OnBusy {
    /// Its round opens when the open one closes.
    #[default]
    Queue,
    /// It is refused.
    Reject,
    /// The open round is cut off.
    Interrupt,
}

/// An input that opens a round.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Say {
    /// Whose ids everything that it causes carries.
    pub context: MessageContext,
    /// Who says it.
    pub sender: String,
    /// What is said; nothing lets the agents go on by themselves.
    pub text: Option<String>,
    /// The pictures that are shown with it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub images: Vec<Image>,
    /// The text files that are sent with it. Agents get them as data.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<TextFile>,
    /// What to do while a round is open.
    pub on_busy: OnBusy,
    /// Answers to pending context requests.
    pub results: Vec<ContextResult>,
    /// What the whole session may spend from here on; limits that are not named stay as they are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limits: Option<Limits>,
    /// Who receives it, of those present when its round opens: a whisper. Everyone, where it says
    /// nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<Audience>,
}

impl Say {
    /// The wish that the agents go on by themselves. A round that is open is waited for.
    pub fn new(context: MessageContext) -> Self {
        Self {
            context,
            sender: "User".to_owned(),
            text: None,
            images: Vec::new(),
            files: Vec::new(),
            on_busy: OnBusy::Queue,
            results: Vec::new(),
            limits: None,
            to: None,
        }
    }

    /// The same with one more image or file.
    #[must_use]
    pub fn with(mut self, attachment: Attachment) -> Self {
        match attachment {
            Attachment::Image(image) => self.images.push(image),
            Attachment::File(file) => self.files.push(file),
        }
        self
    }
}

/// What a caller wants.
#[expect(clippy::large_enum_variant, reason = "most commands are messages")]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Command {
    /// Begin a session.
    Open(Box<Opening>),
    /// Begin a session as a copy of another one's past.
    Fork {
        /// Where it comes from.
        origin: Origin,
        /// The agents from here on, if others than before.
        agents: Option<Vec<Agent>>,
    },
    /// Open a round, with a message or without one.
    Say(Say),
    /// Change the text of a message that waits for its round.
    Edit {
        /// The message.
        message_id: String,
        /// What it says instead.
        text: String,
    },
    /// Take back a message that waits for its round.
    Withdraw {
        /// The message.
        message_id: String,
    },
    /// Answer context requests.
    Provide(Vec<ContextResult>),
    /// Bring in a turn that waits for the model of whoever calls.
    Contribute {
        /// The model call that it answers.
        iteration: IterationId,
        /// What that model says.
        text: String,
    },
    /// Cut the open round off.
    Stop,
    /// Open no more rounds until resumed.
    Pause,
    /// Open rounds again.
    Resume,
    /// End the session.
    Complete {
        /// Why.
        reason: String,
    },
    /// Run the last round again; the earlier take stays in the log.
    Regenerate,
    /// Let every round from this one on no longer count.
    Rewind {
        /// The first round that no longer counts.
        number: u32,
    },
    /// Let an earlier take of a round count again.
    SelectTake {
        /// The round.
        number: u32,
        /// The take.
        take: u32,
    },
    /// Give it another title, archive it or take it out of the archive; also when it is over.
    Change(Change),
    /// Do something that only the program of the session knows, also when the session is over.
    Act {
        /// What, in the program's own word.
        name: Name,
        /// What the program has to know for it.
        data: Value,
    },
    /// Begin a session as the record of one that was held elsewhere.
    Import(Box<ImportedSession>),
}

/// A tool call as a model asked for it.
#[derive(Debug, Clone, PartialEq)]
pub struct AskedCall {
    /// The tool.
    pub name: String,
    /// The arguments.
    pub arguments: Value,
    /// The provider's own id of the call.
    pub reference: Option<String>,
    /// Why the arguments do not fit the tool's schema, if they do not.
    pub misfit: Option<String>,
}

impl AskedCall {
    /// The call as it may be stored: arguments that nest too deeply become `null`, and the call
    /// cannot run.
    #[must_use]
    pub fn bounded(self) -> Self {
        match json::bounded(self.arguments) {
            Ok(arguments) => Self { arguments, ..self },
            Err(error) => {
                let shown: String = self.name.chars().take(80).collect();
                let misfit = format!(
                    "not run: the arguments of {shown} are {error}. They were not stored. Call it \
                     again with fewer levels."
                );
                Self { arguments: Value::Null, misfit: Some(misfit), ..self }
            }
        }
    }
}

/// A model's answer.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Reply {
    /// Its text.
    pub text: String,
    /// The tool calls that it asks for.
    pub calls: Vec<AskedCall>,
    /// What it thought before, for the provider that wants it back.
    pub thoughts: Vec<Reasoning>,
    /// The sources that it names.
    pub citations: Vec<Citation>,
    /// What else is known of it. Where the cost is not, it is worked out from the agent's price.
    pub record: CallRecord,
}

impl Reply {
    /// How many bytes of text it has, tool calls and reasoning included.
    pub fn bytes(&self) -> u64 {
        let calls =
            self.calls.iter().map(|call| call.name.len() + call.arguments.to_string().len());
        let thoughts = self.thoughts.iter().map(|thought| thought.text.len());
        (self.text.len() + calls.chain(thoughts).sum::<usize>()) as u64
    }
}

/// What a request to a provider came to that brought no answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unanswered {
    /// The provider refused it without output, or it was never sent.
    Refused,
    /// It was sent and broke off: it may have been billed.
    BrokenOff {
        /// How many bytes of text had arrived.
        arrived: u64,
    },
}

/// How a handler's run ended.
#[derive(Debug, Clone, PartialEq)]
pub enum Ran {
    /// It handed something back.
    Returned(ToolResult),
    /// It never began: the tool is gone, or refused before doing anything.
    Refused(String),
    /// It was cut off (timeout, panic): what it did is not known.
    CutOff(String),
}

/// What the engine reports.
#[derive(Debug, Clone, PartialEq)]
pub enum Report {
    /// A model answered.
    ModelReplied {
        /// Which call.
        iteration: IterationId,
        /// Which attempt.
        attempt: u32,
        /// What it said.
        reply: Reply,
    },
    /// A model could not answer.
    ModelFailed {
        /// Which call.
        iteration: IterationId,
        /// Which attempt.
        attempt: u32,
        /// Why.
        error: String,
        /// What its last request came to.
        unanswered: Unanswered,
    },
    /// A request to a provider failed, and another one is to be made for the same call.
    ModelRetries {
        /// Which call.
        iteration: IterationId,
        /// Which attempt.
        attempt: u32,
        /// Why.
        error: String,
        /// What the request came to.
        unanswered: Unanswered,
    },
    /// An effectful tool call is about to be made.
    EffectBegins {
        /// Which call.
        tool_call: ToolCallId,
    },
    /// A handler is done.
    ToolRan {
        /// Which call.
        tool_call: ToolCallId,
        /// Which attempt.
        attempt: u32,
        /// How it ended.
        ran: Ran,
    },
    /// A handler wants a prompt answered.
    Evaluate {
        /// Its call.
        tool_call: ToolCallId,
        /// Which of its requests, from 1.
        ordinal: u32,
        /// The prompt.
        prompt: NestedPrompt,
    },
    /// A handler publishes something.
    Publish {
        /// Its call.
        tool_call: ToolCallId,
        /// Which of its publications, from 1.
        ordinal: u32,
        /// What it is about.
        topic: String,
        /// The data.
        data: Value,
    },
    /// A job ended.
    JobRan {
        /// In which round or aside.
        round: RoundId,
        /// Which job of it.
        ordinal: u32,
        /// How.
        outcome: JobOutcome,
    },
    /// A deadline may have passed.
    Woke,
    /// Another process wrote this session before: what it had started and not finished is in doubt.
    WriterChanged,
}

/// Everything that comes in.
#[derive(Debug, Clone, PartialEq)]
pub enum Input {
    /// What a caller wants.
    Command(Arc<Command>),
    /// What the engine reports.
    Report(Box<Report>),
}

impl From<Command> for Input {
    fn from(command: Command) -> Self {
        Self::Command(Arc::new(command))
    }
}

impl From<Report> for Input {
    fn from(report: Report) -> Self {
        Self::Report(Box::new(report))
    }
}
