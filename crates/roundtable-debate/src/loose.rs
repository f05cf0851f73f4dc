//! Data in what a model said: as it is, in a code fence, among other words, with commas too many.

use serde_json::{Map, Value};

/// The JSON object or list in a text, if there is one.
pub(super) fn json(text: &str) -> Option<Value> {
    roundtable_core::extract_json(text).filter(|value| value.is_object() || value.is_array())
}

/// The fields of an object, whichever way a model spells them: `keyPoints`, `key_points`, `Key Points`.
pub(super) struct Fields(pub Map<String, Value>);

impl Fields {
    /// The field with this name.
    pub fn get(&self, name: &str) -> Option<&Value> {
        let plain = plain(name);
        self.0.get(name).or_else(|| {
            self.0.iter().find(|(key, _)| self::plain(key) == plain).map(|(_, value)| value)
        })
    }

    /// The field as one text; empty when it has none.
    pub fn text(&self, name: &str) -> String {
        self.get(name).map(text).unwrap_or_default()
    }

    /// The field as a list of texts; one text is a list of one.
    pub fn texts(&self, name: &str) -> Vec<String> {
        let all = match self.get(name) {
            Some(Value::Array(list)) => list.iter().map(text).collect(),
            Some(value) => vec![text(value)],
            None => Vec::new(),
        };
        all.into_iter().filter(|text: &String| !text.is_empty()).collect()
    }

    /// The field as a share from 0 to 1.
    pub fn share(&self, name: &str) -> Option<f64> {
        match self.get(name)? {
            Value::Number(number) => number.as_f64().and_then(share),
            Value::String(text) => parse_share(text),
            _ => None,
        }
    }
}

/// A value as words.
pub(super) fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.trim().to_owned(),
        Value::Null => String::new(),
        Value::Array(list) => list.iter().map(text).collect::<Vec<_>>().join("\n"),
        other => other.to_string(),
    }
}

fn plain(name: &str) -> String {
    name.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_ascii_lowercase()
}

/// A share that people write as `0.8`, `80`, `80%`, `8/10`.
pub(super) fn parse_share(text: &str) -> Option<f64> {
    let text = text.trim();
    if let Some((part, whole)) = text.split_once('/') {
        let (part, whole): (f64, f64) = (part.trim().parse().ok()?, whole.trim().parse().ok()?);
        return if whole > 0.0 { share(part / whole) } else { None };
    }
    let (number, percent) = match text.strip_suffix('%') {
        Some(number) => (number.trim(), true),
        None => (text, false),
    };
    let value: f64 = number.parse().ok()?;
    share(if percent { value / 100.0 } else { value })
}

/// A number as a share: more than 1 is a percentage, less than 0 and more than 100 is nothing.
fn share(value: f64) -> Option<f64> {
    let value = if value > 1.0 { value / 100.0 } else { value };
    (0.0..=1.0).contains(&value).then_some(value)
}
