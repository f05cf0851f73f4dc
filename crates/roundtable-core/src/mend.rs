//! Data in what a model said, for everyone who reads answers as data.

use serde_json::Value;

/// The JSON in a text: as it is, in a code fence, between other words, or with commas too many.
pub fn mend(text: &str) -> Option<Value> {
    let text = text.trim();
    if let Ok(value) = serde_json::from_str(text) {
        return Some(value);
    }
    let start = text.find(['{', '['])?;
    let end = text.rfind(['}', ']'])?;
    let inner = text.get(start..=end)?;
    serde_json::from_str(inner).or_else(|_| serde_json::from_str(&without_last_commas(inner))).ok()
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
