//! How deep JSON may nest. Every value from a model, a tool, an MCP server, a client or an import
//! is checked here before it is stored. Nothing in this file recurses, so no value can overflow
//! the stack of whoever checks it.
//!
//! Each array and each object is one level: `1` has none, `[]` has one, `{"a": [1]}` has two.

mod stored;

use serde::de::DeserializeOwned;
use serde_json::Value;

pub use stored::parse_stored;

/// How many levels a value from outside may have.
pub const MAX_LEVELS: usize = 64;

/// How many levels a text may have that any JSON parser in use can read, the body of an event
/// included. It leaves room for the levels that events put around a value.
pub const MAX_BODY_LEVELS: usize = 127;

/// A value that nests too deeply.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("nested {levels} levels deep; at most {MAX_LEVELS} levels are allowed")]
pub struct TooDeep {
    /// How many levels it has.
    pub levels: usize,
}

/// Why a text was not read.
#[derive(Debug, thiserror::Error)]
pub enum ParseError {
    /// It nests too deeply. It was not parsed.
    #[error("the JSON is {0}")]
    TooDeep(#[from] TooDeep),
    /// It is not JSON, or not of the expected form.
    #[error(transparent)]
    Invalid(#[from] serde_json::Error),
}

/// How many levels a value has.
pub fn levels(value: &Value) -> usize {
    let mut deepest = 0;
    let mut open = vec![(value, 1)];
    while let Some((value, level)) = open.pop() {
        match value {
            Value::Array(items) => {
                deepest = deepest.max(level);
                open.extend(items.iter().filter(is_container).map(|item| (item, level + 1)));
            }
            Value::Object(map) => {
                deepest = deepest.max(level);
                open.extend(map.values().filter(is_container).map(|item| (item, level + 1)));
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
    deepest
}

fn is_container(value: &&Value) -> bool {
    value.is_array() || value.is_object()
}

/// Refuses a value that nests too deeply.
///
/// # Errors
/// [`TooDeep`] for more than [`MAX_LEVELS`] levels.
pub fn check(value: &Value) -> Result<(), TooDeep> {
    match levels(value) {
        levels if levels > MAX_LEVELS => Err(TooDeep { levels }),
        _ => Ok(()),
    }
}

/// The value, if it does not nest too deeply. Otherwise it is taken apart level by level, because
/// dropping it would recurse.
///
/// # Errors
/// [`TooDeep`] for more than [`MAX_LEVELS`] levels.
pub fn bounded(value: Value) -> Result<Value, TooDeep> {
    let checked = check(&value);
    match checked {
        Ok(()) => Ok(value),
        Err(error) => {
            discard(value);
            Err(error)
        }
    }
}

fn discard(value: Value) {
    let mut open = vec![value];
    while let Some(value) = open.pop() {
        match value {
            Value::Array(items) => open.extend(items),
            Value::Object(map) => open.extend(map.into_iter().map(|(_, value)| value)),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
}

/// How many levels a JSON text has, counted by its brackets. A text that is not JSON gets a number
/// that no parser exceeds before it notices.
pub fn text_levels(text: &[u8]) -> usize {
    let (mut deepest, mut level) = (0_usize, 0_usize);
    let (mut in_string, mut escaped) = (false, false);
    for byte in text {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            _ if in_string => {}
            b'[' | b'{' => {
                level += 1;
                deepest = deepest.max(level);
            }
            b']' | b'}' => level = level.saturating_sub(1),
            _ => {}
        }
    }
    deepest
}

/// Reads a text from outside. One that nests too deeply is refused before a parser sees it.
///
/// # Errors
/// [`ParseError`], which says what is wrong with the text.
pub fn parse<T: DeserializeOwned>(text: &[u8]) -> Result<T, ParseError> {
    match text_levels(text) {
        levels if levels > MAX_LEVELS => Err(TooDeep { levels }.into()),
        _ => Ok(serde_json::from_slice(text)?),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn nested(levels: usize) -> Value {
        (0..levels).fold(json!(1), |inner, level| {
            if level % 2 == 0 { Value::Array(vec![inner]) } else { json!({ "a": inner }) }
        })
    }

    #[test]
    fn each_array_and_each_object_is_one_level() {
        let values = [json!(1), json!([]), json!({}), json!({ "a": [1], "b": 2 }), json!([[], 1])];
        assert_eq!(values.each_ref().map(levels), [0, 1, 1, 2, 2]);
        assert_eq!(values.map(|value| text_levels(value.to_string().as_bytes())), [0, 1, 1, 2, 2]);
    }

    #[test]
    fn brackets_in_strings_are_no_levels() {
        let value = json!({ "[[[": "]]{\"\\{{{" });
        assert_eq!(text_levels(value.to_string().as_bytes()), 1);
    }

    #[test]
    fn s23_64_levels_are_read_and_65_are_refused() {
        let text = |levels: usize| nested(levels).to_string().into_bytes();
        assert_eq!(parse::<Value>(&text(64)).unwrap(), nested(64));
        let refused = parse::<Value>(&text(65)).unwrap_err().to_string();
        assert_eq!(refused, "the JSON is nested 65 levels deep; at most 64 levels are allowed");
        assert_eq!(check(&nested(64)), Ok(()));
        assert_eq!(check(&nested(65)), Err(TooDeep { levels: 65 }));
    }

    #[test]
    fn s23_a_million_levels_do_not_overflow_the_stack() {
        let mut value = json!(1);
        for _ in 0..1_000_000 {
            value = Value::Array(vec![value]);
        }
        assert_eq!(bounded(value), Err(TooDeep { levels: 1_000_000 }));
        let text = "[".repeat(1_000_000);
        assert!(matches!(parse::<Value>(text.as_bytes()), Err(ParseError::TooDeep(_))));
    }
}
