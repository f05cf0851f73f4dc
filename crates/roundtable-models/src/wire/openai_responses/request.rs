//! A request for `/responses`.

use roundtable_ports::{ModelError, ModelRequest};
use serde_json::{Map, Value, json};

use crate::catalog::{EffortStyle, Profile};
use crate::output::Shape;
use crate::wire::Outgoing;
use crate::wire::offer::{Choice, Offer, OfferedTool};
use crate::wire::openai_chat::address;
use crate::wire::turns::{Content, Speaker, Turn};

/// The request.
pub fn request(
    request: &ModelRequest,
    profile: &Profile,
    shape: &Shape,
) -> Result<Outgoing, ModelError> {
    let offer = Offer::new(request, profile, shape);
    let quirks = &profile.quirks;
    let mut body = Map::new();
    let mut set = |name: &str, value: Value| {
        body.insert(name.to_owned(), value);
    };
    set("model", json!(profile.model));
    set("input", offer.turns.iter().flat_map(items).collect());
    set("stream", json!(true));
    set("store", json!(false));
    set("max_output_tokens", json!(profile.reply_tokens(request)));
    if let Some(choice) = &offer.choice {
        set("tools", offer.tools.iter().map(tool).collect());
        set("tool_choice", choice_of(choice));
        if let Some(parallel) = quirks.parallel_tools {
            set("parallel_tool_calls", json!(parallel));
        }
    }
    if let Some(held) = shape.native() {
        let format = json!({
            "type": "json_schema",
            "name": held.name,
            "schema": held.schema,
            "strict": held.is_closed(),
        });
        set("text", json!({"format": format}));
    }
    if quirks.encrypted_reasoning {
        set("include", json!(["reasoning.encrypted_content"]));
    }
    if let (Some(effort), EffortStyle::Word) = (profile.tuning.effort, quirks.effort) {
        set("reasoning", json!({"effort": effort.word(), "summary": "auto"}));
    }
    if let Some(temperature) = profile.temperature() {
        set("temperature", json!(temperature));
    }
    if quirks.cache_key {
        set("prompt_cache_key", json!(request.scope.session.as_str()));
    }
    Outgoing::new(&body)
}

fn tool(tool: &OfferedTool) -> Value {
    json!({
        "type": "function",
        "name": tool.name,
        "description": tool.description,
        "parameters": tool.schema,
        "strict": false,
    })
}

fn choice_of(choice: &Choice) -> Value {
    match choice {
        Choice::Auto => json!("auto"),
        Choice::None => json!("none"),
        Choice::Required => json!("required"),
        Choice::Named(name) => json!({"type": "function", "name": name}),
    }
}

/// The items of a turn: messages, thoughts, calls and results stand side by side.
fn items(turn: &Turn) -> Vec<Value> {
    match turn.speaker {
        Speaker::System => vec![json!({"role": "system", "content": turn.text()})],
        Speaker::User => {
            let parts: Vec<Value> = turn.pieces.iter().filter_map(|p| part(&p.said)).collect();
            vec![json!({"role": "user", "content": parts})]
        }
        Speaker::Assistant | Speaker::Tools => {
            turn.pieces.iter().filter_map(|piece| item(&piece.said)).collect()
        }
    }
}

fn part(said: &Content) -> Option<Value> {
    match said {
        Content::Text(text) => Some(json!({"type": "input_text", "text": text})),
        Content::Image(image) => Some(json!({"type": "input_image", "image_url": address(image)})),
        Content::Reasoning(_) | Content::Call { .. } | Content::Result { .. } => None,
    }
}

fn item(said: &Content) -> Option<Value> {
    match said {
        Content::Text(text) => {
            let content = json!([{"type": "output_text", "text": text}]);
            Some(json!({"role": "assistant", "content": content}))
        }
        Content::Reasoning(thought) => thought.payload.is_object().then(|| thought.payload.clone()),
        Content::Call { id, name, arguments } => Some(json!({
            "type": "function_call",
            "call_id": id,
            "name": name,
            "arguments": arguments.to_string(),
        })),
        Content::Result { id, content, success, .. } => {
            let output =
                if *success { content.clone().into_owned() } else { format!("Error: {content}") };
            Some(json!({"type": "function_call_output", "call_id": id, "output": output}))
        }
        Content::Image(_) => None,
    }
}
