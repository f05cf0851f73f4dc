//! What a request offers, decided once for all wires: messages, tools and which of them to use.

use std::borrow::Cow;

use roundtable_ports::{ModelRequest, ToolChoice};
use serde_json::{Value, json};

use super::Names;
use super::turns::{Turn, turns};
use crate::catalog::Profile;
use crate::output::Shape;

/// A request as all wires see it.
pub struct Offer<'a> {
    pub turns: Vec<Turn<'a>>,
    pub tools: Vec<OfferedTool<'a>>,
    /// Which tools to use; nothing when there are none.
    pub choice: Option<Choice>,
}

/// A tool on offer.
pub struct OfferedTool<'a> {
    pub name: Cow<'a, str>,
    pub description: &'a str,
    pub schema: Cow<'a, Value>,
}

/// Which tools to use, in the vendor's spelling of names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Choice {
    Auto,
    None,
    Required,
    Named(String),
}

impl<'a> Offer<'a> {
    pub fn new(request: &'a ModelRequest, profile: &Profile, shape: &'a Shape) -> Self {
        let names = Names::new(request.tools.iter().map(|tool| tool.name.as_str()), shape);
        let turns = turns(&request.messages, shape.instruction(), profile, &names);
        let tools = tools(request, profile, shape, &names);
        let choice = (!tools.is_empty()).then(|| choice(request, shape, &tools, &names));
        let forced = |choice: &Choice| matches!(choice, Choice::Required | Choice::Named(_));
        let choice = choice.map(|choice| {
            if forced(&choice) && !profile.quirks.forced_tools { Choice::Auto } else { choice }
        });
        Self { turns, tools, choice }
    }
}

fn tools<'a>(
    request: &'a ModelRequest,
    profile: &Profile,
    shape: &'a Shape,
    names: &Names,
) -> Vec<OfferedTool<'a>> {
    if !profile.quirks.tools {
        return Vec::new();
    }
    let own = request.tools.iter().map(|tool| OfferedTool {
        name: names.there(&tool.name),
        description: &tool.description,
        schema: object(&tool.schema),
    });
    let reply = shape.forced().map(|held| OfferedTool {
        name: names.there(&held.name),
        description: "Gives the answer.",
        schema: object(&held.schema),
    });
    own.chain(reply).collect()
}

fn choice(request: &ModelRequest, shape: &Shape, tools: &[OfferedTool], names: &Names) -> Choice {
    if let Some(tool) = shape.tool() {
        let alone = tools.len() == 1 || request.tool_choice == ToolChoice::None;
        return if alone {
            Choice::Named(names.there(tool).into_owned())
        } else {
            Choice::Required
        };
    }
    match &request.tool_choice {
        ToolChoice::Auto => Choice::Auto,
        ToolChoice::None => Choice::None,
        ToolChoice::Required => Choice::Required,
        ToolChoice::Named(name) => {
            let name = names.there(name);
            if tools.iter().any(|tool| tool.name == name) {
                Choice::Named(name.into_owned())
            } else {
                Choice::Auto
            }
        }
    }
}

/// A schema whose root is an object, as all vendors want it for tools.
fn object(schema: &Value) -> Cow<'_, Value> {
    match schema {
        Value::Object(map) if map.get("type").is_some_and(|kind| kind == "object") => {
            Cow::Borrowed(schema)
        }
        Value::Object(map) => {
            let mut map = map.clone();
            map.insert("type".to_owned(), json!("object"));
            Cow::Owned(Value::Object(map))
        }
        _ => Cow::Owned(json!({"type": "object", "properties": {}})),
    }
}
