//! Points of view: given by the caller, named by a model before the first round, or the usual ones.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::loose;
use roundtable_core::prompt::OutputSchema;

/// A point of view that a seat speaks from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Perspective {
    /// What it is called.
    pub name: String,
    /// What it looks at.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
}

/// The longest name and description that are kept of what a model says.
const MOST_CHARS: usize = 400;

impl Perspective {
    /// A point of view with this name.
    pub fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), description: None }
    }

    /// The same with a description.
    #[must_use]
    pub fn describing(mut self, description: impl Into<String>) -> Self {
        self.description = Some(description.into());
        self
    }

    /// The points of view that are used when nobody names any.
    pub fn usual() -> Vec<Self> {
        vec![
            Self::new("technical")
                .describing("feasibility, risks of construction, what it takes to run"),
            Self::new("economic").describing("costs, gains, incentives, who pays and who profits"),
            Self::new("ethical")
                .describing("duties, fairness, consent, harm that cannot be undone"),
            Self::new("social").describing("people affected, habits, trust, institutions"),
        ]
    }

    /// Reads what a model named: at most `most`, none without a name. Nothing when there are none.
    pub fn read(text: &str, most: usize) -> Option<Vec<Self>> {
        let value = loose::json(text)?;
        let list = match &value {
            Value::Array(list) => list,
            Value::Object(map) => map.values().find_map(Value::as_array)?,
            _ => return None,
        };
        let named: Vec<Self> = list.iter().filter_map(one).take(most).collect();
        (!named.is_empty()).then_some(named)
    }

    /// What a model that names them is held to.
    pub(crate) fn schema() -> OutputSchema {
        let text = || json!({ "type": "string" });
        let one = json!({
            "type": "object",
            "properties": { "name": text(), "description": text() },
            "required": ["name", "description"],
            "additionalProperties": false
        });
        OutputSchema::or_text(
            "perspectives",
            json!({
                "type": "object",
                "properties": { "perspectives": { "type": "array", "items": one } },
                "required": ["perspectives"],
                "additionalProperties": false
            }),
        )
    }
}

fn one(value: &Value) -> Option<Perspective> {
    let short = |text: &str| text.trim().chars().take(MOST_CHARS).collect::<String>();
    let (name, description) = match value {
        Value::String(name) => (short(name), None),
        Value::Object(map) => {
            let text = |key: &str| map.get(key).and_then(Value::as_str).map(short);
            (text("name")?, text("description").filter(|text| !text.is_empty()))
        }
        _ => return None,
    };
    (!name.is_empty()).then_some(Perspective { name, description })
}
