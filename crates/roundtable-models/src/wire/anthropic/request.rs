//! A request for `/v1/messages`.

use roundtable_core::message::{Image, ImageSource};
use roundtable_ports::{ModelError, ModelRequest};
use serde_json::{Map, Value, json};

use crate::catalog::{EffortStyle, Profile};
use crate::output::Shape;
use crate::wire::Outgoing;
use crate::wire::offer::{Choice, Offer, OfferedTool};
use crate::wire::turns::{Content, Piece, Speaker, Turn};

/// The least that thinking may be given.
const LEAST_THINKING: u32 = 1_024;

/// The request.
pub fn request(
    request: &ModelRequest,
    profile: &Profile,
    shape: &Shape,
) -> Result<Outgoing, ModelError> {
    let offer = Offer::new(request, profile, shape);
    let max_tokens = profile.reply_tokens(request);
    let mut marks = Marks::new(request, profile);
    let leading =
        offer.turns.iter().take_while(|turn| turn.speaker == Speaker::System).collect::<Vec<_>>();
    let system: Vec<Value> = leading.iter().flat_map(|turn| marks.blocks(turn)).collect();
    let messages = messages(&offer.turns[leading.len()..], &mut marks);
    let mut body = Map::new();
    let mut set = |name: &str, value: Value| {
        body.insert(name.to_owned(), value);
    };
    set("model", json!(profile.model));
    set("max_tokens", json!(max_tokens));
    set("stream", json!(true));
    set("messages", messages.into());
    if !system.is_empty() {
        set("system", system.into());
    }
    if let Some(choice) = &offer.choice {
        set("tools", offer.tools.iter().map(tool).collect());
        set("tool_choice", choice_of(choice));
    }
    let mut output = Map::new();
    if let Some(held) = shape.native() {
        let format = json!({"type": "json_schema", "schema": held.schema});
        output.insert("format".to_owned(), format);
    }
    if let Some(thinking) = thinking(profile, &offer, max_tokens) {
        set("thinking", thinking);
        if let (EffortStyle::Adaptive, Some(effort)) =
            (profile.quirks.effort, profile.tuning.effort)
        {
            output.insert("effort".to_owned(), json!(effort.word()));
        }
    } else if let Some(temperature) = profile.temperature() {
        // Thinking and a temperature exclude each other.
        set("temperature", json!(temperature));
    }
    if !output.is_empty() {
        set("output_config", Value::Object(output));
    }
    let headers = vec![("anthropic-version", "2023-06-01")];
    Ok(Outgoing { headers, ..Outgoing::new(&body)? })
}

/// How the model thinks, if it may.
fn thinking(profile: &Profile, offer: &Offer, max_tokens: u32) -> Option<Value> {
    let effort = profile.tuning.effort?;
    let forced = matches!(offer.choice, Some(Choice::Required | Choice::Named(_)));
    match profile.quirks.effort {
        EffortStyle::Adaptive if !forced => Some(json!({"type": "adaptive"})),
        EffortStyle::Budget if !forced && !calls_without_thought(&offer.turns) => {
            // The reply has to fit behind the thoughts.
            let budget = effort.tokens().min(max_tokens / 2);
            (budget >= LEAST_THINKING).then(|| json!({"type": "enabled", "budget_tokens": budget}))
        }
        _ => None,
    }
}

/// Whether the last thing that the model said is a tool call without the thought that led to it,
/// because another model said it: then it may not go on thinking.
fn calls_without_thought(turns: &[Turn]) -> bool {
    let open = turns.last().is_some_and(|turn| turn.speaker == Speaker::Tools);
    let said = turns.iter().rfind(|turn| turn.speaker == Speaker::Assistant);
    let thinks = |turn: &Turn| turn.pieces.iter().any(|p| matches!(p.said, Content::Reasoning(_)));
    open && said.is_some_and(|turn| !thinks(turn))
}

fn tool(tool: &OfferedTool) -> Value {
    json!({
        "name": tool.name,
        "description": tool.description,
        "input_schema": tool.schema,
    })
}

fn choice_of(choice: &Choice) -> Value {
    match choice {
        Choice::Auto => json!({"type": "auto"}),
        Choice::None => json!({"type": "none"}),
        Choice::Required => json!({"type": "any"}),
        Choice::Named(name) => json!({"type": "tool", "name": name}),
    }
}

/// Turns as messages; tool results and what a person says next are one message here.
fn messages(turns: &[Turn], marks: &mut Marks) -> Vec<Value> {
    let mut messages: Vec<(&str, Vec<Value>)> = Vec::new();
    for turn in turns {
        let role = match turn.speaker {
            Speaker::Assistant => "assistant",
            Speaker::System | Speaker::User | Speaker::Tools => "user",
        };
        let blocks = marks.blocks(turn);
        match messages.last_mut() {
            Some((last, all)) if *last == role => all.extend(blocks),
            _ => messages.push((role, blocks)),
        }
    }
    marks.close(&mut messages);
    let message = |(role, content)| json!({"role": role, "content": content});
    messages.into_iter().map(message).collect()
}

/// Where the vendor is told that a prefix is worth keeping: at the end of what all agents share,
/// and at the end of the prompt while tools may make the turn go on.
struct Marks {
    /// The message that ends the shared part.
    last: Option<usize>,
    at_end: bool,
}

impl Marks {
    fn new(request: &ModelRequest, profile: &Profile) -> Self {
        let wanted = profile.quirks.cache_breakpoints;
        let stable = request.stable.min(request.messages.len());
        Self {
            last: stable.checked_sub(1).filter(|_| wanted),
            at_end: wanted && !request.tools.is_empty(),
        }
    }

    /// The blocks of a turn, with a mark on the last one that is shared. When more of the shared
    /// part follows, both marks are right: the vendor takes the longest prefix that it knows.
    fn blocks(&mut self, turn: &Turn) -> Vec<Value> {
        let last = self.last;
        let shared = |piece: &Piece| last.is_some_and(|last| piece.message <= last);
        let ends = |piece: &Piece| last == Some(piece.message);
        let mark = turn.pieces.iter().rposition(|piece| shared(piece) && markable(&piece.said));
        let ends = turn.pieces.iter().any(ends);
        let block = |(at, piece): (usize, &Piece)| {
            let mut block = block(&piece.said)?;
            if ends && mark == Some(at) {
                block["cache_control"] = json!({"type": "ephemeral"});
            }
            Some(block)
        };
        turn.pieces.iter().enumerate().filter_map(block).collect()
    }

    fn close(&self, messages: &mut [(&str, Vec<Value>)]) {
        let last = messages.last_mut().and_then(|(_, blocks)| blocks.last_mut());
        if let Some(block) = last.filter(|_| self.at_end) {
            block["cache_control"] = json!({"type": "ephemeral"});
        }
    }
}

fn markable(said: &Content) -> bool {
    !matches!(said, Content::Reasoning(_))
}

fn block(said: &Content) -> Option<Value> {
    match said {
        Content::Text(text) => Some(json!({"type": "text", "text": text})),
        Content::Image(image) => Some(json!({"type": "image", "source": source(image)})),
        Content::Reasoning(thought) => thought.payload.is_object().then(|| thought.payload.clone()),
        Content::Call { id, name, arguments } => {
            // Arguments that were no JSON came back as text; an object is wanted here.
            let input = if arguments.is_object() { (*arguments).clone() } else { json!({}) };
            Some(json!({"type": "tool_use", "id": id, "name": name, "input": input}))
        }
        Content::Result { id, content, success, .. } => {
            let mut block = json!({"type": "tool_result", "tool_use_id": id, "content": content});
            if !success {
                block["is_error"] = json!(true);
            }
            Some(block)
        }
    }
}

fn source(image: &Image) -> Value {
    match &image.source {
        ImageSource::Url(url) => json!({"type": "url", "url": url}),
        ImageSource::Base64(data) => {
            json!({"type": "base64", "media_type": image.media_type, "data": data})
        }
    }
}
