//! A request for `:streamGenerateContent`.

use roundtable_core::message::{Image, ImageSource};
use roundtable_ports::{ModelError, ModelRequest};
use serde_json::{Map, Value, json};

use crate::catalog::{EffortStyle, Profile};
use crate::output::Shape;
use crate::wire::Outgoing;
use crate::wire::offer::{Choice, Offer, OfferedTool};
use crate::wire::turns::{Content, Speaker, Turn};

/// What the vendor takes for the signature of a call that another model made.
const NOT_SIGNED: &str = "skip_thought_signature_validator";

/// The request.
pub fn request(
    request: &ModelRequest,
    profile: &Profile,
    shape: &Shape,
) -> Result<Outgoing, ModelError> {
    let offer = Offer::new(request, profile, shape);
    let leading = offer.turns.iter().take_while(|turn| turn.speaker == Speaker::System).count();
    let (system, turns) = offer.turns.split_at(leading);
    let mut body = Map::new();
    let mut set = |name: &str, value: Value| {
        body.insert(name.to_owned(), value);
    };
    let instructions: Vec<Value> = system.iter().map(|turn| json!({"text": turn.text()})).collect();
    if !instructions.is_empty() {
        set("systemInstruction", json!({"parts": instructions}));
    }
    set("contents", contents(turns, profile).into());
    if let Some(choice) = &offer.choice {
        let declared: Vec<Value> = offer.tools.iter().map(tool).collect();
        set("tools", json!([{"functionDeclarations": declared}]));
        set("toolConfig", json!({"functionCallingConfig": choice_of(choice)}));
    }
    set("generationConfig", generation(request, profile, shape));
    Outgoing::new(&body)
}

fn generation(request: &ModelRequest, profile: &Profile, shape: &Shape) -> Value {
    let mut config = json!({"maxOutputTokens": profile.reply_tokens(request)});
    if let Some(held) = shape.native() {
        config["responseMimeType"] = json!("application/json");
        config["responseJsonSchema"] = held.schema.clone();
    }
    if let Some(temperature) = profile.temperature() {
        config["temperature"] = json!(temperature);
    }
    if let Some(effort) = profile.tuning.effort {
        let thinking = match profile.quirks.effort {
            EffortStyle::Word => Some(json!({"thinkingLevel": effort.word()})),
            EffortStyle::Budget => Some(json!({"thinkingBudget": effort.tokens()})),
            EffortStyle::None | EffortStyle::Adaptive => None,
        };
        if let Some(mut thinking) = thinking {
            thinking["includeThoughts"] = json!(true);
            config["thinkingConfig"] = thinking;
        }
    }
    config
}

fn tool(tool: &OfferedTool) -> Value {
    json!({
        "name": tool.name,
        "description": tool.description,
        "parametersJsonSchema": tool.schema,
    })
}

fn choice_of(choice: &Choice) -> Value {
    match choice {
        Choice::Auto => json!({"mode": "AUTO"}),
        Choice::None => json!({"mode": "NONE"}),
        Choice::Required => json!({"mode": "ANY"}),
        Choice::Named(name) => json!({"mode": "ANY", "allowedFunctionNames": [name]}),
    }
}

/// Turns as contents; results and what a person says next are one content.
fn contents(turns: &[Turn], profile: &Profile) -> Vec<Value> {
    let mut contents: Vec<(&str, Vec<Value>)> = Vec::new();
    for turn in turns {
        let (role, parts) = match turn.speaker {
            Speaker::Assistant => ("model", spoken(turn, profile)),
            Speaker::System | Speaker::User | Speaker::Tools => {
                ("user", turn.pieces.iter().filter_map(|piece| part(&piece.said)).collect())
            }
        };
        match contents.last_mut() {
            Some((last, all)) if *last == role => all.extend(parts),
            _ => contents.push((role, parts)),
        }
    }
    let content = |(role, parts)| json!({"role": role, "parts": parts});
    contents.into_iter().map(content).collect()
}

/// What the model said. A thought's signature goes back on the part that it came with.
fn spoken(turn: &Turn, profile: &Profile) -> Vec<Value> {
    let signature = |on: &str, at: usize| {
        turn.pieces.iter().find_map(|piece| match &piece.said {
            Content::Reasoning(thought) => {
                let payload = &thought.payload;
                let here = payload["on"] == on && payload["at"].as_u64() == Some(at as u64);
                payload["thoughtSignature"].as_str().filter(|_| here)
            }
            _ => None,
        })
    };
    let mut parts = Vec::new();
    let mut calls = 0;
    for piece in &turn.pieces {
        let Some(mut part) = part(&piece.said) else { continue };
        let signed = match &piece.said {
            Content::Call { .. } => {
                let required = profile.quirks.signatures && calls == 0;
                let signed = signature("call", calls).or(required.then_some(NOT_SIGNED));
                calls += 1;
                signed
            }
            _ => signature("text", 0),
        };
        if let Some(signed) = signed {
            part["thoughtSignature"] = json!(signed);
        }
        parts.push(part);
    }
    parts
}

fn part(said: &Content) -> Option<Value> {
    match said {
        Content::Text(text) => Some(json!({"text": text})),
        Content::Image(image) => Some(picture(image)),
        Content::Reasoning(_) => None,
        Content::Call { name, arguments, .. } => {
            let args = if arguments.is_object() { (*arguments).clone() } else { json!({}) };
            Some(json!({"functionCall": {"name": name, "args": args}}))
        }
        Content::Result { name, content, success, .. } => {
            let field = if *success { "output" } else { "error" };
            let response = json!({ field: content });
            Some(json!({"functionResponse": {"name": name, "response": response}}))
        }
    }
}

fn picture(image: &Image) -> Value {
    match &image.source {
        ImageSource::Url(url) => {
            json!({"fileData": {"mimeType": image.media_type, "fileUri": url}})
        }
        ImageSource::Base64(data) => {
            json!({"inlineData": {"mimeType": image.media_type, "data": data}})
        }
    }
}
