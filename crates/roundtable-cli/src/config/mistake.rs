//! What is wrong with a configuration: where, and what to do about it. Values are not repeated:
//! one that stands in the wrong place may be a key.

use std::fmt;

use jsonschema::ValidationError;
use jsonschema::error::{TypeKind, ValidationErrorKind};
use serde_json::Value;

use super::layers::Layers;
use super::origin::{Key, Origin};
use super::schema;

/// What is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Mistake {
    /// Where it was said.
    pub origin: Origin,
    /// Which value.
    pub key: Key,
    /// What is wrong, and what to do.
    pub what: String,
}

impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.origin {
            // A flag or a variable is a name for the value already.
            Origin::Flag(_) | Origin::Variable(_) => write!(f, "{}: ", self.origin)?,
            Origin::File(..) if self.key.0.is_empty() => write!(f, "{}: ", self.origin)?,
            Origin::File(..) => write!(f, "{}: {}: ", self.origin, self.key)?,
            Origin::Default(_) if self.key.0.is_empty() => {}
            Origin::Default(_) => write!(f, "{}: ", self.key)?,
        }
        f.write_str(&self.what)
    }
}

/// All that is wrong; never empty.
#[derive(Debug)]
pub(crate) struct Mistakes(Vec<Mistake>);

impl Mistakes {
    /// These, in the order in which they stand in the file; nothing if there are none.
    pub fn of(mut mistakes: Vec<Mistake>) -> Option<Self> {
        mistakes.sort_by_key(|mistake| match mistake.origin {
            Origin::File(_, line) => line,
            Origin::Default(_) | Origin::Variable(_) | Origin::Flag(_) => 0,
        });
        (!mistakes.is_empty()).then_some(Self(mistakes))
    }
}

impl fmt::Display for Mistakes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, mistake) in self.0.iter().enumerate() {
            let gap = if index == 0 { "" } else { "\n  " };
            write!(f, "{gap}{mistake}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Mistakes {}

impl From<Mistake> for Mistakes {
    fn from(mistake: Mistake) -> Self {
        Self(vec![mistake])
    }
}

/// What does not fit the schema.
pub(super) fn misfits(layers: &Layers) -> Vec<Mistake> {
    let schema = schema::schema();
    let validator = jsonschema::validator_for(&schema);
    let json = serde_json::to_value(layers.table());
    let (Ok(validator), Ok(json)) = (validator, json) else { return Vec::new() };
    validator.iter_errors(&json).flat_map(|error| describe(&error, &schema, layers)).collect()
}

fn describe(error: &ValidationError<'_>, schema: &Value, layers: &Layers) -> Vec<Mistake> {
    let pointer = error.instance_path().to_string();
    let key = Key(pointer.split('/').skip(1).map(unescaped).collect());
    let mistake = |key: Key, what: String| Mistake { origin: layers.origin(&key), key, what };
    match error.kind() {
        ValidationErrorKind::AdditionalProperties { unexpected } => {
            let known = schema::known_keys(schema, &key);
            let unknown = |name: &String| mistake(key.join(name), unknown_key(name, &known));
            unexpected.iter().map(unknown).collect()
        }
        ValidationErrorKind::Type { kind } => vec![mistake(key, wanted(kind))],
        ValidationErrorKind::Enum { options } => {
            let options = options.as_array().into_iter().flatten().filter_map(Value::as_str);
            let options: Vec<&str> = options.collect();
            vec![mistake(key, format!("must be one of {}", options.join(", ")))]
        }
        ValidationErrorKind::Minimum { limit } => {
            vec![mistake(key, format!("must be at least {limit}"))]
        }
        ValidationErrorKind::Maximum { limit } => {
            vec![mistake(key, format!("must be at most {limit}"))]
        }
        _ => vec![mistake(key, "has an invalid value".to_owned())],
    }
}

fn unescaped(part: &str) -> String {
    part.replace("~1", "/").replace("~0", "~")
}

fn unknown_key(name: &str, known: &[String]) -> String {
    match nearest(name, known.iter().map(String::as_str)) {
        Some(nearest) => format!("unknown key; did you mean \"{nearest}\"?"),
        None => format!("unknown key; valid keys: {}", known.join(", ")),
    }
}

fn wanted(kind: &TypeKind) -> String {
    let name = |kind: &jsonschema::JsonType| match kind.to_string().as_str() {
        "object" => "a table",
        "array" => "a list",
        "integer" => "a whole number",
        "number" => "a number",
        "boolean" => "true or false",
        _ => "a text",
    };
    let kinds: Vec<&str> = match kind {
        TypeKind::Single(kind) => vec![name(kind)],
        // Nothing is not a value in TOML: that it may be absent goes without saying.
        TypeKind::Multiple(kinds) => {
            kinds.iter().filter(|kind| kind.to_string() != "null").map(|kind| name(&kind)).collect()
        }
    };
    format!("must be {}", kinds.join(" or "))
}

/// The name that was probably meant.
pub(super) fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    const ALIKE: f64 = 0.75;
    let said = name;
    let name = name.to_lowercase();
    // Two letters that changed places leave little in common in a short name.
    let score = |known: &str| match strsim::osa_distance(known, &name) {
        0 | 1 if name.len() > 2 => 1.0,
        _ => strsim::jaro_winkler(known, &name),
    };
    // What was written is not what was meant.
    let scored = known.into_iter().filter(|known| *known != said);
    let scored = scored.map(|known| (score(known), known));
    let best = scored.max_by(|a, b| a.0.total_cmp(&b.0));
    best.filter(|(score, _)| *score > ALIKE).map(|(_, known)| known)
}

/// `; did you mean "…"?`, or nothing.
pub(super) fn hint<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    nearest(name, known).map_or_else(String::new, |near| format!("; did you mean \"{near}\"?"))
}
