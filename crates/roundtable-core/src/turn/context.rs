//! A turn's record: what was said in which iteration. It stores nothing else (R004-14), and every
//! operation returns a new value (R004-12). Time comes in as a parameter.

use std::sync::Arc;

use jiff::Timestamp;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};

use crate::event::CallRecord;
use crate::message::{Message, Part, Reasoning, ToolAnswer, ToolRequest};

/// A tool call of an iteration, with its result once there is one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolCallRecord {
    /// What was asked for.
    #[serde(flatten)]
    pub request: ToolRequest,
    /// What came of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<ToolAnswer>,
}

/// One model call and the tool calls that it asked for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Iteration {
    /// From 1.
    pub number: u32,
    /// What was said, in order.
    pub messages: Vec<Message>,
    /// The tool calls; empty when there are none, never absent.
    pub tool_calls: Vec<ToolCallRecord>,
    /// When it began.
    pub started_at: Timestamp,
    /// When it ended.
    pub completed_at: Option<Timestamp>,
    /// What is known of its model call; see [`Iteration::metadata`].
    #[serde(rename = "metadata", serialize_with = "as_metadata", deserialize_with = "of_metadata")]
    pub call: Option<CallRecord>,
}

impl Iteration {
    fn open(number: u32, messages: Vec<Message>, at: Timestamp) -> Self {
        Self {
            number,
            messages,
            tool_calls: Vec::new(),
            started_at: at,
            completed_at: None,
            call: None,
        }
    }

    /// Model, latency, usage, cost and stop reason; empty while its model has not answered.
    pub fn metadata(&self) -> Map<String, Value> {
        match serde_json::to_value(&self.call) {
            Ok(Value::Object(map)) => map,
            Ok(_) | Err(_) => Map::new(),
        }
    }
}

/// As JSON, metadata that is not known yet is an empty object.
fn as_metadata<S: Serializer>(call: &Option<CallRecord>, to: S) -> Result<S::Ok, S::Error> {
    match call {
        Some(call) => call.serialize(to),
        None => Map::<String, Value>::new().serialize(to),
    }
}

fn of_metadata<'de, D: Deserializer<'de>>(from: D) -> Result<Option<CallRecord>, D::Error> {
    let map = Map::deserialize(from)?;
    if map.is_empty() {
        return Ok(None);
    }
    CallRecord::deserialize(Value::Object(map)).map(Some).map_err(D::Error::custom)
}

/// The two data fields, as `create` and `update` take them (R004-1).
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Attributes {
    /// The iterations.
    pub iterations: Vec<Arc<Iteration>>,
    /// The number of the one under way; 0 before the first.
    pub current_iteration: u32,
}

/// A turn's record.
///
/// ```
/// use roundtable_core::turn::Context;
/// # let now = jiff::Timestamp::UNIX_EPOCH;
/// let asked = Context::new("What is the weather?", Some("You are helpful."), now);
/// let answered = asked.add_assistant_message("Sunny.", Vec::new(), now);
/// assert_eq!(asked.to_messages().len(), 2);
/// assert_eq!(answered.to_messages().len(), 3);
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Context {
    /// Shared with earlier values of the same record: an operation copies only what it changes.
    iterations: Vec<Arc<Iteration>>,
    current_iteration: u32,
    created_at: Timestamp,
    updated_at: Timestamp,
}

impl Context {
    /// A turn that begins with an input, and with instructions if there are any (R004-3).
    pub fn new(input: &str, system_prompt: Option<&str>, at: Timestamp) -> Self {
        let mut messages: Vec<Message> = system_prompt.map(Message::system).into_iter().collect();
        messages.push(Message::user(input));
        Self::create(
            Attributes {
                iterations: vec![Arc::new(Iteration::open(1, messages, at))],
                current_iteration: 1,
            },
            at,
        )
    }

    /// A record with these fields.
    pub fn create(attributes: Attributes, at: Timestamp) -> Self {
        Self {
            iterations: attributes.iterations,
            current_iteration: attributes.current_iteration,
            created_at: at,
            updated_at: at,
        }
    }

    /// The same record with other fields.
    #[must_use]
    pub fn update(&self, attributes: Attributes, at: Timestamp) -> Self {
        Self { created_at: self.created_at, ..Self::create(attributes, at) }
    }

    /// The model's words, with the tool calls that it asked for, in the current iteration (R004-5).
    #[must_use]
    pub fn add_assistant_message(
        &self,
        content: &str,
        tool_calls: Vec<ToolRequest>,
        at: Timestamp,
    ) -> Self {
        self.clone().reply(content, Vec::new(), tool_calls, at)
    }

    /// All results in one message; the iteration is done and the next one opens (R004-6).
    #[must_use]
    pub fn add_tool_results(&self, results: Vec<ToolAnswer>, at: Timestamp) -> Self {
        self.clone().answer_calls(results, at)
    }

    /// The tool calls that the last message of the current iteration asks for (R004-9).
    pub fn extract_tool_calls(&self) -> Vec<&ToolRequest> {
        let last = self
            .get_iteration(self.current_iteration)
            .and_then(|iteration| iteration.messages.last());
        last.map(|message| message.tool_calls().collect()).unwrap_or_default()
    }

    /// Everything said in the turn, for the model (R004-10).
    pub fn to_messages(&self) -> Vec<&Message> {
        self.iterations.iter().flat_map(|iteration| &iteration.messages).collect()
    }

    /// Whether the limit is reached (R004-7). Asked only when a reply contains tool calls, so a
    /// limit of N allows N model calls.
    pub fn exceeded_max_iterations(&self, max_iterations: u32) -> bool {
        exceeded(self.current_iteration, max_iterations)
    }

    /// What happened in iteration `number` (R004-11).
    pub fn get_iteration(&self, number: u32) -> Option<&Iteration> {
        self.iterations.iter().find(|iteration| iteration.number == number).map(Arc::as_ref)
    }

    /// What was said in iteration `number`.
    pub fn get_iteration_messages(&self, number: u32) -> &[Message] {
        self.get_iteration(number).map_or(&[], |iteration| &iteration.messages)
    }

    /// The same as [`Context::to_messages`], under the name that people who look things up expect.
    pub fn get_all_messages(&self) -> Vec<&Message> {
        self.to_messages()
    }

    /// The turn is over: its last iteration is complete, with what is known of it.
    #[must_use]
    pub fn complete(&self, at: Timestamp) -> Self {
        self.clone().end(at)
    }

    /// The iterations, in order.
    pub fn iterations(&self) -> &[Arc<Iteration>] {
        &self.iterations
    }

    /// The number of the current iteration.
    pub fn current_iteration(&self) -> u32 {
        self.current_iteration
    }

    /// When the turn began.
    pub fn created_at(&self) -> Timestamp {
        self.created_at
    }

    /// When it last changed.
    pub fn updated_at(&self) -> Timestamp {
        self.updated_at
    }

    /// Copies the current iteration only if someone else has this record too.
    fn change(mut self, at: Timestamp, change: impl FnOnce(&mut Iteration)) -> Self {
        self.updated_at = at;
        let current = self.current_iteration;
        if let Some(iteration) =
            self.iterations.iter_mut().find(|iteration| iteration.number == current)
        {
            change(Arc::make_mut(iteration));
        }
        self
    }

    fn open_next(mut self, at: Timestamp) -> Self {
        self.current_iteration += 1;
        self.iterations.push(Arc::new(Iteration::open(self.current_iteration, Vec::new(), at)));
        self
    }
}

/// The same operations for whoever owns the record and has no use for the value before: nothing is
/// copied.
impl Context {
    /// Changes a record where it is.
    pub(crate) fn replace(&mut self, change: impl FnOnce(Self) -> Self) {
        let nothing = Self::create(Attributes::default(), self.updated_at);
        *self = change(std::mem::replace(self, nothing));
    }

    /// [`Context::add_assistant_message`], after what the model thought.
    pub(crate) fn reply(
        self,
        content: &str,
        thoughts: Vec<Reasoning>,
        tool_calls: Vec<ToolRequest>,
        at: Timestamp,
    ) -> Self {
        self.change(at, |iteration| {
            let records = tool_calls
                .iter()
                .map(|call| ToolCallRecord { request: call.clone(), result: None });
            iteration.tool_calls.extend(records);
            let mut message = Message::assistant(content, tool_calls);
            message.parts.splice(0..0, thoughts.into_iter().map(Part::Reasoning));
            iteration.messages.push(message);
        })
    }

    /// [`Context::add_tool_results`].
    pub(crate) fn answer_calls(self, results: Vec<ToolAnswer>, at: Timestamp) -> Self {
        let answered = self.change(at, |iteration| {
            for result in &results {
                if let Some(call) =
                    iteration.tool_calls.iter_mut().find(|call| call.request.id == result.id)
                {
                    call.result = Some(result.clone());
                }
            }
            iteration.messages.push(Message::tool_results(results));
            iteration.completed_at = Some(at);
        });
        answered.open_next(at)
    }

    /// [`Context::complete`].
    pub(crate) fn end(self, at: Timestamp) -> Self {
        self.change(at, |iteration| iteration.completed_at = iteration.completed_at.or(Some(at)))
    }

    /// The same record with what is known of the current iteration's model call.
    pub(crate) fn with_call(self, call: CallRecord, at: Timestamp) -> Self {
        self.change(at, |iteration| iteration.call = Some(call))
    }

    /// The same record with pictures beside its input.
    pub(crate) fn showing(self, images: Vec<Part>) -> Self {
        let at = self.updated_at;
        self.change(at, |iteration| {
            if let Some(message) = iteration.messages.last_mut() {
                message.parts.extend(images);
            }
        })
    }
}

/// The rule of R004-7, in one place for the record and for the machine that decides.
pub(crate) fn exceeded(current: u32, max_iterations: u32) -> bool {
    current >= max_iterations
}
