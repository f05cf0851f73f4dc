//! A request for `/chat/completions`.

use std::borrow::Cow;

use roundtable_core::message::{Image, ImageSource};
use roundtable_ports::{ModelError, ModelRequest};
use serde::ser::{SerializeMap as _, SerializeSeq as _};
use serde::{Serialize, Serializer};
use serde_json::{Value, json};

use crate::catalog::{EffortStyle, Profile, Quirks};
use crate::output::Shape;
use crate::wire::Outgoing;
use crate::wire::offer::{Choice, Offer, OfferedTool};
use crate::wire::turns::{Content, Piece, Speaker, Turn};

/// The request. Its body is written straight from what it is made of: most of it is a transcript
/// that may be long.
pub fn request(
    request: &ModelRequest,
    profile: &Profile,
    shape: &Shape,
) -> Result<Outgoing, ModelError> {
    let offer = Offer::new(request, profile, shape);
    Outgoing::new(&Body { request, profile, shape, offer })
}

struct Body<'a> {
    request: &'a ModelRequest,
    profile: &'a Profile,
    shape: &'a Shape,
    offer: Offer<'a>,
}

impl Serialize for Body<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let Self { request, profile, shape, offer } = self;
        let quirks = &profile.quirks;
        let mut body = to.serialize_map(None)?;
        body.serialize_entry("model", &profile.model)?;
        body.serialize_entry("messages", &Messages { turns: &offer.turns, quirks })?;
        body.serialize_entry("stream", &true)?;
        body.serialize_entry(&quirks.max_tokens_field, &profile.reply_tokens(request))?;
        if quirks.stream_usage {
            body.serialize_entry("stream_options", &json!({"include_usage": true}))?;
        }
        if let Some(choice) = &offer.choice {
            let tools: Vec<Tool> = offer.tools.iter().map(Tool::of).collect();
            body.serialize_entry("tools", &tools)?;
            body.serialize_entry("tool_choice", &choice_of(choice, quirks))?;
            if let Some(parallel) = quirks.parallel_tools {
                body.serialize_entry("parallel_tool_calls", &parallel)?;
            }
        }
        if let Some(held) = shape.native() {
            let strict = held.is_closed();
            let schema = json!({"name": held.name, "schema": held.schema, "strict": strict});
            let format = json!({"type": "json_schema", "json_schema": schema});
            body.serialize_entry("response_format", &format)?;
        }
        if let (Some(effort), EffortStyle::Word) = (profile.tuning.effort, quirks.effort) {
            body.serialize_entry("reasoning_effort", effort.word())?;
        }
        if let Some(temperature) = profile.temperature() {
            body.serialize_entry("temperature", &temperature)?;
        }
        if quirks.cache_key {
            body.serialize_entry("prompt_cache_key", request.scope.session.as_str())?;
        }
        body.end()
    }
}

#[derive(Serialize)]
struct Tool<'a> {
    r#type: &'static str,
    function: Function<'a>,
}

#[derive(Serialize)]
struct Function<'a> {
    name: &'a str,
    description: &'a str,
    parameters: &'a Value,
}

impl<'a> Tool<'a> {
    fn of(tool: &'a OfferedTool<'_>) -> Self {
        let OfferedTool { name, description, schema } = tool;
        Self { r#type: "function", function: Function { name, description, parameters: schema } }
    }
}

fn choice_of(choice: &Choice, quirks: &Quirks) -> Value {
    match choice {
        Choice::Auto => json!("auto"),
        Choice::None => json!("none"),
        Choice::Required => json!(quirks.required_word),
        Choice::Named(name) => json!({"type": "function", "function": {"name": name}}),
    }
}

struct Messages<'a> {
    turns: &'a [Turn<'a>],
    quirks: &'a Quirks,
}

/// What the system or a person says in words.
#[derive(Serialize)]
struct Plain<'a> {
    role: &'static str,
    content: Cow<'a, str>,
}

impl Serialize for Messages<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut messages = to.serialize_seq(None)?;
        for turn in self.turns {
            match turn.speaker {
                Speaker::System => {
                    messages.serialize_element(&Plain { role: "system", content: turn.text() })?
                }
                Speaker::User if turn.has_image() => {
                    let parts: Vec<Value> = { turn.pieces.iter() }.filter_map(part).collect();
                    messages.serialize_element(&json!({"role": "user", "content": parts}))?;
                }
                Speaker::User => {
                    messages.serialize_element(&Plain { role: "user", content: turn.text() })?
                }
                Speaker::Assistant => {
                    messages.serialize_element(&AssistantMessage { turn, quirks: self.quirks })?;
                }
                Speaker::Tools => {
                    for answer in turn.pieces.iter().filter_map(Answer::of) {
                        messages.serialize_element(&answer)?;
                    }
                }
            }
        }
        messages.end()
    }
}

fn part(piece: &Piece<'_>) -> Option<Value> {
    match &piece.said {
        Content::Text(text) => Some(json!({"type": "text", "text": text})),
        Content::Image(image) => {
            Some(json!({"type": "image_url", "image_url": {"url": address(image)}}))
        }
        Content::Reasoning(_) | Content::Call { .. } | Content::Result { .. } => None,
    }
}

/// A picture as an address; one that is here becomes a `data:` address.
pub fn address(image: &Image) -> String {
    match &image.source {
        ImageSource::Url(url) => url.clone(),
        ImageSource::Base64(data) => format!("data:{};base64,{data}", image.media_type),
    }
}

/// What the model said, and what it asked for.
struct AssistantMessage<'a> {
    turn: &'a Turn<'a>,
    quirks: &'a Quirks,
}

#[derive(Serialize)]
struct Call<'a> {
    id: &'a str,
    r#type: &'static str,
    function: Called<'a>,
}

#[derive(Serialize)]
struct Called<'a> {
    name: &'a str,
    arguments: String,
}

impl<'a> Call<'a> {
    fn of(piece: &'a Piece<'_>) -> Option<Self> {
        let Content::Call { id, name, arguments } = &piece.said else { return None };
        let function = Called { name, arguments: arguments.to_string() };
        Some(Self { id, r#type: "function", function })
    }
}

impl Serialize for AssistantMessage<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let Self { turn, quirks } = self;
        let calls: Vec<Call> = turn.pieces.iter().filter_map(Call::of).collect();
        let text = turn.text();
        let mut message = to.serialize_map(None)?;
        message.serialize_entry("role", "assistant")?;
        // A message with neither text nor calls is refused; one with calls alone has no text.
        let content = Some(text).filter(|text| !text.is_empty() || calls.is_empty());
        message.serialize_entry("content", &content)?;
        if calls.is_empty() {
            return message.end();
        }
        message.serialize_entry("tool_calls", &calls)?;
        // Thoughts go back beside the calls that they led to, and nowhere else: vendors that want
        // them ignore or refuse them anywhere else.
        if let Some(field) = &quirks.reasoning_back {
            let mut thoughts = turn.pieces.iter().filter_map(|piece| match &piece.said {
                Content::Reasoning(thought) => thought.payload.get(field),
                _ => None,
            });
            match thoughts.next() {
                Some(thought) => message.serialize_entry(field, thought)?,
                None if quirks.reasoning_back_required => message.serialize_entry(field, "")?,
                None => {}
            }
        }
        message.end()
    }
}

/// What a tool answered.
#[derive(Serialize)]
struct Answer<'a> {
    role: &'static str,
    tool_call_id: &'a str,
    name: &'a str,
    content: Cow<'a, str>,
}

impl<'a> Answer<'a> {
    fn of(piece: &'a Piece<'_>) -> Option<Self> {
        let Content::Result { id, name, content, success } = &piece.said else { return None };
        let content = match success {
            true => Cow::Borrowed(content.as_ref()),
            false => Cow::Owned(format!("Error: {content}")),
        };
        Some(Self { role: "tool", tool_call_id: id, name, content })
    }
}
