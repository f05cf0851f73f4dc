//! Replies that are data: how a model is held to a schema, and how what it says is checked and
//! mended. Pure; the wires spell out what is decided here.

use std::collections::VecDeque;

use jsonschema::Validator;
use roundtable_core::event::StopReason;
use roundtable_core::{extract_json, json};
use roundtable_ports::{Chunk, ModelError, ModelRequest, ToolChoice};
use serde_json::Value;

use crate::catalog::{OutputMode, Profile};
use crate::wire::Wire;

/// What a reply has to look like.
#[derive(Debug)]
pub enum Shape {
    /// As the model likes.
    Free,
    /// Like this.
    Held(Box<Held>),
}

/// A schema, and how a reply is held to it.
#[derive(Debug)]
pub struct Held {
    /// How.
    pub mode: OutputMode,
    /// What the data is called; for [`OutputMode::Tool`], the tool's name.
    pub name: String,
    /// The schema.
    pub schema: Value,
    /// Whether prose will do when there is no such data.
    pub or_text: bool,
    validator: Validator,
}

impl Shape {
    /// What the reply to a request has to look like.
    ///
    /// # Errors
    /// [`ModelError::BadRequest`] when the schema is none.
    pub fn choose(request: &ModelRequest, profile: &Profile) -> Result<Self, ModelError> {
        let Some(output) = &request.output else { return Ok(Self::Free) };
        let validator = jsonschema::validator_for(&output.schema)
            .map_err(|error| ModelError::BadRequest(format!("invalid output schema: {error}")))?;
        let mode = mode(request, profile, &output.schema);
        let taken = request.tools.iter().any(|tool| tool.name == output.name);
        let name = if taken { format!("{}_output", output.name) } else { output.name.clone() };
        Ok(Self::Held(Box::new(Held {
            mode,
            name,
            schema: output.schema.clone(),
            or_text: output.or_text,
            validator,
        })))
    }

    /// The schema, if the vendor itself is to hold the reply to it.
    pub fn native(&self) -> Option<&Held> {
        self.held(OutputMode::Schema)
    }

    /// The name of the tool that the reply is given through, if it is.
    pub fn tool(&self) -> Option<&str> {
        self.held(OutputMode::Tool).map(|held| held.name.as_str())
    }

    /// The tool that the reply is given through, if it is.
    pub fn forced(&self) -> Option<&Held> {
        self.held(OutputMode::Tool)
    }

    /// What the model is told, if it is only told.
    pub fn instruction(&self) -> Option<String> {
        let held = self.held(OutputMode::Instruction)?;
        Some(format!("Answer only with JSON that matches this JSON Schema:\n{}", held.schema))
    }

    fn held(&self, mode: OutputMode) -> Option<&Held> {
        match self {
            Self::Held(held) if held.mode == mode => Some(held),
            _ => None,
        }
    }
}

impl Held {
    /// Whether the schema is closed everywhere, as vendors' strict modes want it.
    pub fn is_closed(&self) -> bool {
        is_closed(&self.schema)
    }
}

fn mode(request: &ModelRequest, profile: &Profile, schema: &Value) -> OutputMode {
    let quirks = &profile.quirks;
    let no_tools = request.tools.is_empty() || !quirks.tools;
    // A model that has to use a tool of ours cannot be made to use another one.
    let free = matches!(request.tool_choice, ToolChoice::Auto | ToolChoice::None);
    let thinks = profile.wire == Wire::Anthropic && profile.tuning.effort.is_some();
    let tool = quirks.tools && quirks.forced_tools && free && !thinks;
    // Anthropic refuses schemas that leave anything open.
    let native = profile.wire != Wire::Anthropic || is_closed(schema);
    match quirks.output {
        OutputMode::Schema if native && (no_tools || quirks.output_with_tools) => {
            OutputMode::Schema
        }
        OutputMode::Schema | OutputMode::Tool if tool => OutputMode::Tool,
        OutputMode::Schema | OutputMode::Tool | OutputMode::Instruction => OutputMode::Instruction,
    }
}

/// Whether every object in a schema names all of its properties and requires them.
fn is_closed(schema: &Value) -> bool {
    match schema {
        Value::Object(map) => {
            let object = map.get("type").is_some_and(|kind| kind == "object");
            let empty = serde_json::Map::new();
            let properties = map.get("properties").and_then(Value::as_object).unwrap_or(&empty);
            let required = map.get("required").and_then(Value::as_array);
            let requires =
                |name: &String| required.is_some_and(|all| all.iter().any(|one| one == name));
            let closed = map.get("additionalProperties") == Some(&Value::Bool(false))
                && properties.keys().all(requires);
            (!object || closed) && map.values().all(is_closed)
        }
        Value::Array(all) => all.iter().all(is_closed),
        _ => true,
    }
}

/// Looks at every chunk of an answer: holds data back until it is checked, and refuses an answer
/// that says nothing.
#[derive(Debug)]
pub struct Shaper {
    shape: Shape,
    text: String,
    given: Option<Value>,
    said: bool,
    called: bool,
}

impl Shaper {
    /// For a reply of this shape.
    pub fn new(shape: Shape) -> Self {
        Self { shape, text: String::new(), given: None, said: false, called: false }
    }

    /// Whether text is held back until the answer is whole.
    pub fn holds(&self) -> bool {
        matches!(self.shape, Shape::Held(_))
    }

    /// Takes a chunk, and hands on those that may go on.
    ///
    /// # Errors
    /// [`ModelError::Broken`] when the answer is empty, or does not fit and cannot be mended.
    pub fn take(&mut self, chunk: Chunk, on: &mut VecDeque<Chunk>) -> Result<(), ModelError> {
        match chunk {
            Chunk::Text(text) if matches!(self.shape, Shape::Free) => {
                self.said = true;
                on.push_back(Chunk::Text(text));
            }
            Chunk::Text(text) => self.text.push_str(&text),
            Chunk::ToolCall { name, arguments, .. } if self.shape.tool() == Some(&name) => {
                self.given.get_or_insert(arguments);
            }
            Chunk::ToolCall { .. } => {
                self.called = true;
                on.push_back(chunk);
            }
            Chunk::Reasoning(_) | Chunk::Citation(_) => on.push_back(chunk),
            Chunk::Done(mut record) => {
                on.extend(self.reply(record.stop)?);
                if self.given.is_some() && !self.called && record.stop == StopReason::ToolCalls {
                    record.stop = StopReason::End;
                }
                on.push_back(Chunk::Done(record));
            }
        }
        Ok(())
    }

    fn reply(&self, stop: StopReason) -> Result<Option<Chunk>, ModelError> {
        let Shape::Held(held) = &self.shape else {
            if stop == StopReason::End && !self.said && !self.called {
                return Err(ModelError::Broken("the response is empty".to_owned()));
            }
            return Ok(None);
        };
        // An answer that asks for tools first, or that is refused, is no data yet.
        if self.called || stop == StopReason::Refused {
            let text = (!self.text.is_empty()).then(|| Chunk::Text(self.text.clone()));
            return Ok(text);
        }
        let data = self.data(held, stop);
        if data.is_err() && held.or_text && !self.text.trim().is_empty() {
            return Ok(Some(Chunk::Text(self.text.clone())));
        }
        data.map(|data| Some(Chunk::Text(data.to_string())))
    }

    /// The data of the reply, if it is whole and fits.
    fn data(&self, held: &Held, stop: StopReason) -> Result<Value, ModelError> {
        if stop == StopReason::MaxTokens {
            return Err(ModelError::Broken("the output was cut off at the token limit".to_owned()));
        }
        let given = self.given.clone().or_else(|| extract_json(&self.text));
        let Some(given) = given else {
            return Err(ModelError::Broken("the response is not JSON".to_owned()));
        };
        json::check(&given)
            .map_err(|error| ModelError::Broken(format!("the response is {error}")))?;
        fit(given, &held.validator)
    }
}

/// The value if it fits, or what it wraps if that fits: models like to put the data under a name.
fn fit(value: Value, validator: &Validator) -> Result<Value, ModelError> {
    let Err(misfit) = validator.validate(&value) else { return Ok(value) };
    let inner = match &value {
        Value::Object(map) if map.len() == 1 => map.values().next(),
        _ => None,
    };
    match inner {
        Some(inner) if validator.is_valid(inner) => Ok(inner.clone()),
        _ => Err(ModelError::Broken(format!("the response does not match its schema: {misfit}"))),
    }
}

#[cfg(test)]
mod tests;
