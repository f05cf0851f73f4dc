//! Data in what a model said, for everyone who reads answers as data.

use serde_json::Value;

use crate::json;

/// The JSON in a text: as it is, in a code fence, between other words, or with commas too many.
/// JSON that nests too deeply is not read.
pub fn extract_json(text: &str) -> Option<Value> {
    let text = text.trim();
    if let Ok(value) = json::parse(text.as_bytes()) {
        return Some(value);
    }
    let start = text.find(['{', '['])?;
    let end = text.rfind(['}', ']'])?;
    let inner = text.get(start..=end)?;
    let parsed = json::parse(inner.as_bytes());
    parsed.or_else(|_| json::parse(without_last_commas(inner).as_bytes())).ok()
}

/// The text without commas before closing brackets; those in strings stay.
fn without_last_commas(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let (mut in_string, mut escaped) = (false, false);
    for c in text.chars() {
        if in_string {
            in_string = escaped || c != '"';
            escaped = c == '\\' && !escaped;
        } else if c == '"' {
            in_string = true;
        } else if c == '}' || c == ']' {
            let kept = out.trim_end().trim_end_matches(',').len();
            out.truncate(kept);
        }
        out.push(c);
    }
    out
}
