//! Answers that are data, made by rule: the model's text goes where the schema wants text, and
//! everything that is a decision is decided here. A model of this size writes, it does not judge.

use serde_json::{Map, Value};

/// How deep a schema is followed.
const DEEPEST: usize = 12;
/// How many elements a list of texts gets that may have any number.
const ELEMENTS: usize = 1;
/// How many elements a list may have to have.
const MOST_ELEMENTS: usize = 100;

/// A value in which texts are still to be filled in.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Plan {
    /// Decided.
    Fixed(Value),
    /// A text with at most so many characters.
    Text {
        limit: usize,
    },
    List(Vec<Plan>),
    Object(Vec<(String, Plan)>),
}

impl Plan {
    /// What a schema asks for; nothing if it is beyond these rules.
    pub(super) fn of(schema: &Value) -> Option<Self> {
        plan(schema, schema, 0)
    }

    /// Fills in the text: whole in the first place, and a sentence of it in each further one.
    pub(super) fn fill(&self, text: &str) -> Value {
        let mut sentences = sentences(text).into_iter().cycle();
        self.place(&mut Some(text), &mut sentences)
    }

    fn place<'a>(
        &self,
        whole: &mut Option<&'a str>,
        sentences: &mut impl Iterator<Item = &'a str>,
    ) -> Value {
        match self {
            Self::Fixed(value) => value.clone(),
            Self::Text { limit } => {
                let text = whole.take().or_else(|| sentences.next()).unwrap_or_default();
                Value::String(text.chars().take(*limit).collect())
            }
            Self::List(plans) => plans.iter().map(|plan| plan.place(whole, sentences)).collect(),
            Self::Object(members) => {
                let place =
                    |(name, plan): &(String, Self)| (name.clone(), plan.place(whole, sentences));
                Value::Object(members.iter().map(place).collect::<Map<_, _>>())
            }
        }
    }
}

fn sentences(text: &str) -> Vec<&str> {
    let parts = text.split_inclusive(['.', '!', '?']).map(str::trim);
    parts.filter(|part| !part.is_empty()).collect()
}

fn plan(schema: &Value, root: &Value, depth: usize) -> Option<Plan> {
    if depth > DEEPEST {
        return None;
    }
    if schema == &Value::Bool(true) {
        return Some(Plan::Text { limit: usize::MAX });
    }
    let schema = schema.as_object()?;
    if let Some(name) = schema.get("$ref") {
        let place = name.as_str()?.strip_prefix('#')?;
        return plan(root.pointer(place)?, root, depth + 1);
    }
    // What the schema itself decides counts first, then nothing, where nothing is allowed: that is
    // no claim. Of several choices, the first one.
    let decided = schema.get("const").or_else(|| schema.get("default")).cloned();
    let decided = decided.or_else(|| allows_nothing(schema).then_some(Value::Null));
    let decided = decided.or_else(|| schema.get("enum")?.as_array()?.first().cloned());
    if let Some(decided) = decided {
        return Some(Plan::Fixed(decided));
    }
    for choice in ["anyOf", "oneOf", "allOf"] {
        if let Some(choices) = schema.get(choice).and_then(Value::as_array) {
            return choices.iter().find_map(|choice| plan(choice, root, depth + 1));
        }
    }
    match kind(schema)? {
        "string" => Some(text(schema)),
        "object" => object(schema, root, depth),
        "array" => list(schema, root, depth),
        "integer" | "number" => Some(Plan::Fixed(number(schema))),
        "boolean" => Some(Plan::Fixed(Value::Bool(false))),
        _ => None,
    }
}

/// Whether a schema is content with `null`.
fn allows_nothing(schema: &Map<String, Value>) -> bool {
    let is_null = |kind: &Value| kind == "null";
    let kinds = match schema.get("type") {
        Some(Value::Array(kinds)) => kinds.iter().any(is_null),
        Some(kind) => is_null(kind),
        None => false,
    };
    // A list of choices counts beside the kinds.
    match schema.get("enum").and_then(Value::as_array) {
        Some(choices) => choices.contains(&Value::Null),
        None => {
            let either = ["anyOf", "oneOf"].iter().filter_map(|name| schema.get(*name)?.as_array());
            kinds || either.flatten().any(|choice| choice.get("type").is_some_and(is_null))
        }
    }
}

/// The kind of value; of several, the first one.
fn kind(schema: &Map<String, Value>) -> Option<&str> {
    match schema.get("type") {
        Some(Value::String(kind)) => Some(kind),
        Some(Value::Array(kinds)) => kinds.first().and_then(Value::as_str),
        _ if schema.contains_key("properties") => Some("object"),
        _ => Some("string"),
    }
}

fn text(schema: &Map<String, Value>) -> Plan {
    let limit = schema.get("maxLength").and_then(Value::as_u64);
    Plan::Text { limit: limit.and_then(|limit| usize::try_from(limit).ok()).unwrap_or(usize::MAX) }
}

/// All that is required; everything, if nothing is.
fn object(schema: &Map<String, Value>, root: &Value, depth: usize) -> Option<Plan> {
    let none = Map::new();
    let properties = schema.get("properties").and_then(Value::as_object).unwrap_or(&none);
    let required: Vec<&str> = match schema.get("required").and_then(Value::as_array) {
        Some(required) if !required.is_empty() => {
            required.iter().filter_map(Value::as_str).collect()
        }
        _ => properties.keys().map(String::as_str).collect(),
    };
    let member = |name: &str| {
        let schema = properties.get(name).unwrap_or(&Value::Bool(true));
        Some((name.to_owned(), plan(schema, root, depth + 1)?))
    };
    Some(Plan::Object(required.into_iter().map(member).collect::<Option<_>>()?))
}

fn list(schema: &Map<String, Value>, root: &Value, depth: usize) -> Option<Plan> {
    let bound = |name: &str| {
        let bound = schema.get(name).and_then(Value::as_u64);
        bound.and_then(|bound| usize::try_from(bound).ok())
    };
    let (least, limit) = (bound("minItems").unwrap_or(0), bound("maxItems").unwrap_or(usize::MAX));
    let item = plan(schema.get("items").unwrap_or(&Value::Bool(true)), root, depth + 1)?;
    let count = match item {
        Plan::Text { .. } => least.max(ELEMENTS).min(limit),
        // What is more than words, a source for example, is not made up.
        Plan::Fixed(_) | Plan::List(_) | Plan::Object(_) => least,
    };
    // A schema that demands a huge list is beyond these rules.
    let count = Some(count).filter(|count| *count <= MOST_ELEMENTS)?;
    Some(Plan::List(vec![item; count]))
}

/// The smallest number that is allowed, or zero.
fn number(schema: &Map<String, Value>) -> Value {
    let zero = Value::from(0);
    let allows_zero = |bound: &str, allows: fn(f64) -> bool| {
        schema.get(bound).and_then(Value::as_f64).is_none_or(allows)
    };
    if allows_zero("minimum", |least| least <= 0.0) && allows_zero("maximum", |limit| limit >= 0.0)
    {
        return zero;
    }
    let bound = schema.get("minimum").or_else(|| schema.get("maximum"));
    bound.cloned().unwrap_or(zero)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn text_goes_where_text_is_wanted_and_decisions_are_rules() {
        let schema = json!({
            "type": "object",
            "required": [
                "stance", "position", "reasons", "confidence", "final", "note", "doubt", "judge",
                "other", "sources", "points",
            ],
            "properties": {
                "stance": { "enum": ["for", "against"] },
                "position": { "type": "string" },
                "reasons": { "type": "array", "items": { "$ref": "#/$defs/reason" }, "minItems": 2 },
                "confidence": { "type": "number", "minimum": 0.1, "maximum": 1.0 },
                "final": { "type": "boolean", "default": true },
                "note": { "type": "string", "maxLength": 3 },
                "doubt": { "type": ["string", "null"] },
                "judge": { "enum": ["me", null] },
                "other": { "anyOf": [{ "$ref": "#/$defs/reason" }, { "type": "null" }] },
                "sources": { "type": "array", "items": { "$ref": "#/$defs/reason" } },
                "points": { "type": "array", "items": { "type": "string" } },
                "optional": { "type": "string" },
            },
            "$defs": { "reason": { "type": "object", "properties": { "why": { "type": "string" } } } },
        });
        let filled = Plan::of(&schema).unwrap().fill("It is old. It breaks!");
        let expected = json!({
            "stance": "for", "position": "It is old. It breaks!",
            "reasons": [{ "why": "It is old." }, { "why": "It breaks!" }],
            "confidence": 0.1, "final": true, "note": "It ", "doubt": null, "judge": null,
            "other": null, "sources": [], "points": ["It breaks!"],
        });
        assert_eq!(filled, expected);
        assert!(jsonschema::is_valid(&schema, &filled));
    }

    #[test]
    fn a_schema_without_end_is_beyond_the_rules() {
        let endless = json!({ "$ref": "#" });
        assert_eq!(Plan::of(&endless), None);
        let tree = json!({
            "type": "object", "required": ["child"], "properties": { "child": { "$ref": "#" } },
        });
        assert_eq!(Plan::of(&tree), None);
        assert_eq!(Plan::of(&json!({ "type": "array", "minItems": 1_000_000 })), None);
        assert_eq!(Plan::of(&json!(false)), None);
    }

    #[test]
    fn without_any_text_there_is_still_a_value() {
        let schema = json!({ "type": "array", "items": { "type": "string" } });
        assert_eq!(Plan::of(&schema).unwrap().fill(""), json!([""]));
        assert_eq!(Plan::of(&json!({})).unwrap().fill("x"), json!("x"));
    }
}
