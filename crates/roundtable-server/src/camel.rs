//! Field names as the wire has them. The log has names in snake case; HTTP and MCP send camel case.
//!
//! Values that come from outside (arguments, results, schemas, the state of a program) are sent as they
//! are: their names belong to whoever chose them.

use roundtable::core::event::Event;
use serde::Serialize;
use serde_json::{Map, Value};

/// The fields whose values come from outside.
const FOREIGN: [&str; 8] =
    ["arguments", "data", "params", "patch", "payload", "rules", "schema", "value"];

/// An event of the log.
pub(crate) fn event(event: &Event) -> Value {
    let Ok(Value::Object(mut header)) = serde_json::to_value(event) else { return Value::Null };
    // The body of an event is under `data`, and its fields are the log's own.
    let data = header.remove("data");
    let mut event = fields(header);
    if let Some(data) = data {
        event.insert("data".to_owned(), renamed(data));
    }
    Value::Object(event)
}

/// An object of the library.
pub(crate) fn object(value: &impl Serialize) -> Map<String, Value> {
    match serde_json::to_value(value) {
        Ok(Value::Object(object)) => fields(object),
        _ => Map::new(),
    }
}

fn fields(object: Map<String, Value>) -> Map<String, Value> {
    let field = |(name, value): (String, Value)| {
        let value = if FOREIGN.contains(&name.as_str()) { value } else { renamed(value) };
        (camel(&name), value)
    };
    object.into_iter().map(field).collect()
}

fn renamed(value: Value) -> Value {
    match value {
        Value::Object(object) => Value::Object(fields(object)),
        Value::Array(values) => Value::Array(values.into_iter().map(renamed).collect()),
        plain => plain,
    }
}

fn camel(name: &str) -> String {
    let mut words = name.split('_');
    let first = words.next().unwrap_or_default().to_owned();
    words.fold(first, |mut name, word| {
        let mut letters = word.chars();
        name.extend(letters.next().map(|letter| letter.to_ascii_uppercase()));
        name.push_str(letters.as_str());
        name
    })
}

#[cfg(test)]
mod tests {
    use roundtable::core::event::Event;
    use serde_json::json;

    use super::*;

    #[test]
    fn names_of_the_log_are_sent_in_camel_case_and_those_of_others_as_they_are() {
        let stored = json!({
            "seq": 3, "at": "2026-01-01T00:00:00Z", "round": "rnd_1", "turn": "trn_1",
            "iteration": "itr_1", "tool_call": "tcl_1", "kind": "tool_call_published", "v": 1,
            "data": { "ordinal": 1, "topic": "x", "data": { "their_name": 1 } },
        });
        let sent = event(&serde_json::from_value::<Event>(stored).unwrap());
        assert_eq!(sent["toolCall"], "tcl_1");
        assert_eq!(sent["kind"], "tool_call_published", "kinds are values");
        assert_eq!(sent["data"]["data"], json!({ "their_name": 1 }));
        let answer = json!({ "their_name": [{ "stop_reason": 1 }], "arguments": { "a_b": 1 } });
        let expected = json!({ "theirName": [{ "stopReason": 1 }], "arguments": { "a_b": 1 } });
        assert_eq!(Value::Object(object(&answer)), expected);
    }
}
