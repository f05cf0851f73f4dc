//! Operations as the description of the HTTP API has them.

use http::Method;
use serde_json::{Map, Value, json};

use super::http::{Reading, Readings};
use super::{Does, Endpoint, Operation, SESSION, Target, prefer};
use crate::key;
use crate::openapi::{Answer, Description, Param, schema_settings};

const NOT_FOUND: (u16, &str) =
    (404, "Unknown session, round, turn or agent, or one of another caller.");

impl Operation {
    /// The fields of the input with their schemas, without references.
    fn properties(&self) -> (Map<String, Value>, Vec<Value>) {
        let settings = schema_settings().with(|settings| settings.inline_subschemas = true);
        let schema = (self.input.whole)(settings.into_generator()).to_value();
        let properties = schema["properties"].as_object().cloned().unwrap_or_default();
        (properties, schema["required"].as_array().cloned().unwrap_or_default())
    }

    pub(super) fn required(&self) -> Vec<String> {
        let (_, required) = self.properties();
        required.iter().filter_map(Value::as_str).map(str::to_owned).collect()
    }

    pub(super) fn readings(&self) -> Readings {
        let (properties, _) = self.properties();
        properties.into_iter().map(|(name, schema)| (name, reading(&schema))).collect()
    }

    pub(super) fn describe(&self, endpoint: &Endpoint) -> Description {
        let has_body = endpoint.method == Method::POST;
        let answer = self.output.within;
        Description {
            id: self.name,
            what: endpoint.summary,
            params: self.params(endpoint, has_body),
            body: has_body.then_some(self.input.within),
            answer: match () {
                () if self.waits => Answer::Round(answer),
                () if self.downloads => Answer::Bytes,
                () => Answer::Json(answer),
            },
            problems: self.problems(),
        }
    }

    fn params(&self, endpoint: &Endpoint, has_body: bool) -> Vec<Param> {
        let (properties, required) = self.properties();
        let text = |schema: &Value| schema["description"].as_str().unwrap_or_default().to_owned();
        let is_in_path = |name: &str| endpoint.path.contains(&format!("{{{name}}}"));
        let session = (self.target == Target::Session).then(|| Param::id(SESSION, "The session."));
        let path = properties.iter().filter(|(name, _)| is_in_path(name));
        let path = path.map(|(name, schema)| match reading(schema) {
            Reading::Text => Param::id(name, text(schema)),
            _ => Param::number(name, text(schema)),
        });
        let query = properties.iter().filter(|(name, _)| !has_body && !is_in_path(name));
        let query = query.map(|(name, schema)| {
            let is_required = required.iter().any(|it| it == name);
            Param::query(name, text(schema), bare(schema)).required(is_required)
        });
        let key = (self.does != Does::Reads && has_body).then(key::param);
        let prefer = self.waits.then(prefer::param);
        session.into_iter().chain(path).chain(query).chain(key).chain(prefer).collect()
    }

    fn problems(&self) -> Vec<(u16, &'static str)> {
        let mut problems = self.usual_problems();
        problems.extend(&self.problems);
        problems
    }

    fn usual_problems(&self) -> Vec<(u16, &'static str)> {
        match (self.does, self.target) {
            (Does::Reads, Target::Nothing) => vec![(400, "Invalid parameter.")],
            (Does::Reads, Target::Session) => vec![(400, "Invalid parameter."), NOT_FOUND],
            (Does::Adds | Does::Changes, _) => vec![
                (400, "Invalid body."),
                NOT_FOUND,
                (409, "Required context is missing, a round is running, or the session is over."),
                (422, "The idempotency key was already used with another body."),
                (429, "A limit is reached. Retry after the time in `Retry-After`."),
            ],
        }
    }
}

/// A schema as a parameter has it: the description stands beside it, and `null` cannot be sent.
fn bare(schema: &Value) -> Value {
    let mut schema = schema.as_object().cloned().unwrap_or_default();
    schema.remove("description");
    schema.retain(|name, value| name != "default" || !value.is_null());
    if reading(&Value::Object(schema.clone())) == Reading::Integer {
        schema.entry("maximum").or_insert_with(|| json!(u32::MAX));
    }
    if let Some(Value::Array(types)) = schema.get("type") {
        let known: Vec<Value> = types.iter().filter(|it| **it != json!("null")).cloned().collect();
        if let [one] = known.as_slice() {
            schema.insert("type".to_owned(), one.clone());
        }
    }
    let mut words = Vec::new();
    choices(&Value::Object(schema.clone()), &mut words);
    if !words.is_empty() {
        schema.retain(|name, _| !["anyOf", "oneOf", "enum", "const"].contains(&name.as_str()));
        schema.insert("type".to_owned(), json!("string"));
        schema.insert("enum".to_owned(), Value::Array(words));
    }
    Value::Object(schema)
}

/// The words that a schema allows, where it allows only certain ones.
fn choices(schema: &Value, found: &mut Vec<Value>) {
    let named = schema["enum"].as_array().into_iter().flatten().chain(schema.get("const"));
    found.extend(named.filter(|word| word.is_string()).cloned());
    let alternatives = ["anyOf", "oneOf"].map(|name| schema[name].as_array());
    alternatives.into_iter().flatten().flatten().for_each(|it| choices(it, found));
}

/// How a field is read from a URL.
fn reading(schema: &Value) -> Reading {
    let types = match &schema["type"] {
        Value::Array(types) => types.clone(),
        one => vec![one.clone()],
    };
    let has = |name: &str| types.iter().any(|it| it == name);
    match () {
        () if has("integer") => Reading::Integer,
        () if has("number") => Reading::Number,
        () if has("boolean") => Reading::Boolean,
        () => Reading::Text,
    }
}
