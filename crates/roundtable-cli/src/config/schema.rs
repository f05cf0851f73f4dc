//! The JSON Schema of the file, and what else follows from it.

use roundtable::models::Secret;
use schemars::generate::SchemaSettings;
use serde_json::Value;

use super::file::File;
use super::origin::Key;

/// The schema, with everything in its place: no references.
pub(crate) fn schema() -> Value {
    let settings =
        SchemaSettings::draft2020_12().with(|settings| settings.inline_subschemas = true);
    settings.into_generator().into_root_schema_for::<File>().to_value()
}

/// The part of the schema that a value has to fit.
pub(super) fn part<'a>(schema: &'a Value, key: &Key) -> Option<&'a Value> {
    key.0.iter().try_fold(schema, |schema, part| {
        let named = schema.get("properties").and_then(|properties| properties.get(part));
        named.or_else(|| schema.get("additionalProperties")).or_else(|| schema.get("items"))
    })
}

/// What a value can hold.
pub(super) fn known_keys(schema: &Value, key: &Key) -> Vec<String> {
    let properties = part(schema, key).and_then(|part| part.get("properties")?.as_object());
    properties.map(|properties| properties.keys().cloned().collect()).unwrap_or_default()
}

/// Whether a value is never to be shown.
pub(super) fn is_secret(schema: &Value, key: &Key) -> bool {
    part(schema, key).is_some_and(|part| part.get("writeOnly").is_some())
}

/// An address without what may be a secret in it: a name and password, or a query.
pub(super) fn without_secrets(text: &str) -> String {
    let Some((scheme, rest)) = text.split_once("://") else { return text.to_owned() };
    let stars = Secret::new("stars");
    let (rest, query) = match rest.split_once(['?', '#']) {
        Some((rest, _)) => (rest, format!("?{stars}")),
        None => (rest, String::new()),
    };
    let host = match rest.rsplit_once('@') {
        Some((_, host)) => format!("{stars}@{host}"),
        None => rest.to_owned(),
    };
    format!("{scheme}://{host}{query}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_committed_schema_is_the_schema() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/roundtable.schema.json");
        let committed: Value =
            serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
        assert_eq!(committed, schema(), "roundtable config schema > docs/roundtable.schema.json");
    }

    #[test]
    fn s28_keys_tokens_and_what_servers_are_given_are_secrets() {
        let schema = schema();
        let secret = |parts: &[&str]| {
            is_secret(&schema, &Key(parts.iter().map(|part| (*part).to_owned()).collect()))
        };
        for parts in [
            &["providers", "openai", "key"][..],
            &["providers", "openai", "proxy"],
            &["mcp", "docs", "env", "TOKEN"],
            &["mcp", "docs", "headers", "authorization"],
            &["token", "0", "value"],
        ] {
            assert!(secret(parts), "{parts:?}");
        }
        assert!(!secret(&["providers", "openai", "base_url"]) && !secret(&["data_dir"]));
    }

    #[test]
    fn s28_an_address_is_shown_without_password_and_query() {
        let shown = without_secrets("https://me:sk-canary@host/path?key=sk-canary");
        assert_eq!(shown, "https://***@host/path?***");
        assert_eq!(without_secrets("http://host:1/v1"), "http://host:1/v1");
    }
}
