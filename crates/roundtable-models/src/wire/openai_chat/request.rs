//! A request for `/chat/completions`.

use roundtable_core::message::{Image, ImageSource};
use roundtable_ports::ModelRequest;
use serde_json::{Map, Value, json};

use crate::catalog::{EffortStyle, Profile, Quirks};
use crate::output::Shape;
use crate::wire::Outgoing;
use crate::wire::offer::{Choice, Offer, Offered};
use crate::wire::turns::{Said, Speaker, Turn};

/// The request.
pub fn request(request: &ModelRequest, profile: &Profile, shape: &Shape) -> Outgoing {
    let offer = Offer::new(request, profile, shape);
    let quirks = &profile.quirks;
    let messages: Vec<Value> = offer.turns.iter().flat_map(|turn| turn_of(turn, quirks)).collect();
    let mut body = Map::new();
    let mut set = |name: &str, value: Value| {
        body.insert(name.to_owned(), value);
    };
    set("model", json!(profile.model));
    set("messages", json!(messages));
    set("stream", json!(true));
    set(&quirks.max_tokens_field, json!(profile.reply_tokens(request)));
    if quirks.stream_usage {
        set("stream_options", json!({"include_usage": true}));
    }
    if let Some(choice) = &offer.choice {
        set("tools", offer.tools.iter().map(tool).collect());
        set("tool_choice", choice_of(choice, quirks));
        if let Some(parallel) = quirks.parallel_tools {
            set("parallel_tool_calls", json!(parallel));
        }
    }
    if let Some(held) = shape.native() {
        let strict = held.is_closed();
        let schema = json!({"name": held.name, "schema": held.schema, "strict": strict});
        set("response_format", json!({"type": "json_schema", "json_schema": schema}));
    }
    if let (Some(effort), EffortStyle::Word) = (profile.tuning.effort, quirks.effort) {
        set("reasoning_effort", json!(effort.word()));
    }
    if let Some(temperature) = profile.temperature() {
        set("temperature", json!(temperature));
    }
    if quirks.cache_key {
        set("prompt_cache_key", json!(request.scope.session.as_str()));
    }
    Outgoing { headers: vec![], body: Value::Object(body) }
}

fn tool(tool: &Offered) -> Value {
    let function = json!({
        "name": tool.name,
        "description": tool.description,
        "parameters": tool.schema,
    });
    json!({"type": "function", "function": function})
}

fn choice_of(choice: &Choice, quirks: &Quirks) -> Value {
    match choice {
        Choice::Auto => json!("auto"),
        Choice::None => json!("none"),
        Choice::Required => json!(quirks.required_word),
        Choice::Named(name) => json!({"type": "function", "function": {"name": name}}),
    }
}

fn turn_of(turn: &Turn, quirks: &Quirks) -> Vec<Value> {
    match turn.speaker {
        Speaker::System => vec![json!({"role": "system", "content": turn.text()})],
        Speaker::User if turn.has_image() => {
            let parts: Vec<Value> = turn.pieces.iter().filter_map(|p| part(&p.said)).collect();
            vec![json!({"role": "user", "content": parts})]
        }
        Speaker::User => vec![json!({"role": "user", "content": turn.text()})],
        Speaker::Assistant => vec![assistant(turn, quirks)],
        Speaker::Tools => turn.pieces.iter().filter_map(|piece| result(&piece.said)).collect(),
    }
}

fn part(said: &Said) -> Option<Value> {
    match said {
        Said::Text(text) => Some(json!({"type": "text", "text": text})),
        Said::Image(image) => {
            Some(json!({"type": "image_url", "image_url": {"url": address(image)}}))
        }
        Said::Reasoning(_) | Said::Call { .. } | Said::Result { .. } => None,
    }
}

/// A picture as an address; one that is here becomes a `data:` address.
pub fn address(image: &Image) -> String {
    match &image.source {
        ImageSource::Url(url) => url.clone(),
        ImageSource::Base64(data) => format!("data:{};base64,{data}", image.media_type),
    }
}

fn assistant(turn: &Turn, quirks: &Quirks) -> Value {
    let calls = turn.pieces.iter().filter_map(|piece| match &piece.said {
        Said::Call { id, name, arguments } => {
            let function = json!({"name": name, "arguments": arguments.to_string()});
            Some(json!({"id": id, "type": "function", "function": function}))
        }
        _ => None,
    });
    let calls: Vec<Value> = calls.collect();
    let text = turn.text();
    let mut message = Map::new();
    message.insert("role".to_owned(), json!("assistant"));
    // A message with neither text nor calls is refused; one with calls alone has no text.
    let content = if text.is_empty() && !calls.is_empty() { Value::Null } else { json!(text) };
    message.insert("content".to_owned(), content);
    if calls.is_empty() {
        return Value::Object(message);
    }
    message.insert("tool_calls".to_owned(), json!(calls));
    // Thoughts go back beside the calls that they led to, and nowhere else: vendors that want
    // them ignore or refuse them anywhere else.
    if let Some(field) = &quirks.reasoning_back {
        let thoughts = turn.pieces.iter().filter_map(|piece| match &piece.said {
            Said::Reasoning(thought) => thought.payload.get(field),
            _ => None,
        });
        let none = quirks.reasoning_back_required.then(|| json!(""));
        if let Some(thought) = { thoughts }.next().cloned().or(none) {
            message.insert(field.clone(), thought);
        }
    }
    Value::Object(message)
}

fn result(said: &Said) -> Option<Value> {
    match said {
        Said::Result { id, name, content, success } => {
            let content = if *success { content.clone() } else { format!("Error: {content}") };
            Some(json!({"role": "tool", "tool_call_id": id, "name": name, "content": content}))
        }
        _ => None,
    }
}
