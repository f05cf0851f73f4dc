//! Every value, and where it comes from.

use roundtable::models::Secret;
use serde_json::json;
use toml::Value;

use super::Config;
use super::origin::{Key, Origin};
use super::schema;

/// How wide the values are before their origins.
const WIDTH: usize = 64;

impl Config {
    /// For people.
    pub fn lines(&self) -> String {
        let file = match &self.source {
            Some(source) => format!("# {}\n", source.path.display()),
            None => {
                "# no configuration file; `roundtable config schema` prints its schema\n".to_owned()
            }
        };
        let line = |(key, value, origin): &(Key, Value, Origin)| {
            let said = format!("{key} = {value}");
            format!("{said:WIDTH$}  # {origin}\n")
        };
        let (model, why) = self.speaking();
        let values: String = self.values().iter().map(line).collect();
        format!("{file}{values}# default model: {model} ({why})\n")
    }

    /// For programs: a value a line.
    pub fn json_lines(&self) -> String {
        let schema = schema::schema();
        let line = |(key, value, origin): &(Key, Value, Origin)| {
            let (kind, place) = match origin {
                Origin::Default(_) => ("default", None),
                Origin::File(..) => ("file", Some(origin.to_string())),
                Origin::Variable(name) => ("variable", Some(name.clone())),
                Origin::Flag(flag) => ("flag", Some((*flag).to_owned())),
            };
            let secret = schema::is_secret(&schema, key);
            let key = key.to_string();
            let line = json!({ "key": key, "value": value, "origin": kind, "from": place, "secret": secret });
            format!("{line}\n")
        };
        self.values().iter().map(line).collect()
    }

    /// Every value as it may be shown.
    fn values(&self) -> Vec<(Key, Value, Origin)> {
        let schema = schema::schema();
        let shown = |(key, value): (Key, &Value)| {
            let origin = self.layers.origin(&key);
            let value = if schema::is_secret(&schema, &key) {
                Value::String(Secret::new("").to_string())
            } else {
                without_secrets(value)
            };
            (key, value, origin)
        };
        self.layers.leaves().into_iter().map(shown).collect()
    }

    /// Why an agent's model is the one that it is.
    pub fn why(&self, agent: &str) -> String {
        let (_, default) = self.default_model();
        let own = Key::of(["agents", agent, "model"]);
        let is_own = self.layers.find(&own).is_some() && !matches!(default, Origin::Flag(_));
        match self.layers.origin(&own) {
            origin @ (Origin::File(..) | Origin::Variable(_)) if is_own => {
                format!("set by {origin}")
            }
            _ => self.speaking().1,
        }
    }

    /// Where the key of a vendor is to be looked for.
    pub fn key_place(&self, vendor: &str) -> String {
        let key = Key::of(["providers", vendor, "key"]);
        match (self.layers.find(&key), self.layers.origin(&key)) {
            (Some(_), Origin::Variable(name)) => name,
            (Some(_), origin) => format!("{key} ({origin})"),
            (None, _) => self
                .catalog
                .vendors()
                .get(vendor)
                .and_then(|vendor| vendor.key_env.first().cloned())
                .unwrap_or_else(|| key.to_string()),
        }
    }

    /// The variable that holds a vendor's address.
    pub fn address_variable(&self, vendor: &str) -> Option<&str> {
        self.catalog.vendors().get(vendor)?.base_url_env.first().map(String::as_str)
    }

    /// Whether a vendor is asked at another address than its own.
    pub fn is_elsewhere(&self, vendor: &str) -> bool {
        let key = Key::of(["providers", vendor, "base_url"]);
        !matches!(self.layers.origin(&key), Origin::Default(_))
    }

    /// The model that speaks where nothing else is said, and why.
    pub fn speaking(&self) -> (String, String) {
        let (model, origin) = self.default_model();
        let why = match origin {
            Origin::Default(why) => why,
            origin => format!("set by {origin}"),
        };
        (model, why)
    }
}

/// A value without passwords and queries in the URLs in it.
pub(super) fn without_secrets(value: &Value) -> Value {
    match value {
        Value::String(text) => Value::String(schema::without_secrets(text)),
        Value::Array(values) => Value::Array(values.iter().map(without_secrets).collect()),
        other => other.clone(),
    }
}
