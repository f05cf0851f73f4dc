//! Which keys of a project file need the user's trust: all but those that are listed as harmless.

use roundtable::models::Secret;
use toml::Value;

use super::layers::Layers;
use super::origin::{Key, Origin};
use super::{schema, show};

/// Keys that anybody may set: who the agents are and how much they may do. `*` is any name. They
/// cannot start a program, name a URL, a key, a file or a directory, or loosen a limit of money.
const HARMLESS: &[&str] = &[
    "defaults.model",
    "defaults.agent",
    "defaults.max_tokens",
    "defaults.max_iterations",
    "defaults.retry.*",
    "defaults.timeouts.*",
    "providers.*.model",
    "models.*.model",
    "models.*.fallback",
    "models.*.effort",
    "models.*.temperature",
    "agents.*.name",
    "agents.*.persona",
    "agents.*.model",
    "agents.*.tools",
    "agents.*.workers",
    "agents.*.role",
    "team.*",
    "agents.*.max_iterations",
    "agents.*.max_tokens",
    "agents.*.limits.*",
];

/// Keys whose values are not shown even to the user who decides: what they are changes nothing.
const HIDDEN: &[&str] = &["providers.*.key", "token.*.value"];

/// A value of a project file that needs trust.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Entry {
    /// Its line in the file.
    pub line: Option<usize>,
    pub key: Key,
    /// The whole value as TOML, for whoever decides.
    pub value: String,
    /// The value as any output may show it, without secrets.
    pub brief: String,
}

/// The values that need trust, in the order of the file.
pub(super) fn entries(layers: &Layers) -> Vec<Entry> {
    let schema = schema::schema();
    let leaves = layers.leaves().into_iter().filter(|(key, _)| !is_harmless(key));
    let entry = |(key, value)| entry(layers, &schema, key, value);
    let mut entries: Vec<Entry> = leaves.map(entry).collect();
    entries.sort_by_key(|entry| entry.line);
    entries
}

fn entry(layers: &Layers, schema: &serde_json::Value, key: Key, value: &Value) -> Entry {
    let line = match layers.origin(&key) {
        Origin::File(_, line) => Some(line),
        Origin::Default(_) | Origin::Variable(_) | Origin::Flag(_) => None,
    };
    let hidden = HIDDEN.iter().any(|pattern| matches(pattern, &key));
    let stars = || Secret::new("").to_string();
    let brief = if schema::is_secret(schema, &key) {
        stars()
    } else {
        show::without_secrets(value).to_string()
    };
    let value = if hidden { stars() } else { value.to_string() };
    Entry { line, key, value, brief }
}

fn is_harmless(key: &Key) -> bool {
    HARMLESS.iter().any(|pattern| matches(pattern, key))
}

fn matches(pattern: &str, key: &Key) -> bool {
    let parts: Vec<&str> = pattern.split('.').collect();
    let fits = |(part, name): (&&str, &String)| *part == "*" || *part == name;
    parts.len() == key.0.len() && parts.iter().zip(&key.0).all(fits)
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    /// Keys that need trust, with the reason. A key of the file is here or in [`HARMLESS`].
    const SENSITIVE: &[(&str, &str)] = &[
        ("data_dir", "where conversations are written"),
        ("providers.*.key", "whose account conversations are sent through"),
        ("providers.*.key_env", "which variable is sent as a key"),
        ("providers.*.auth", "how a key is sent"),
        ("providers.*.base_url", "where keys are sent"),
        ("providers.*.headers.*", "what is sent with a key"),
        ("providers.*.proxy", "where keys are sent"),
        ("providers.*.wire", "a vendor of its own"),
        ("providers.*.key_optional", "a vendor of its own"),
        ("providers.*.quirks.*", "how a vendor is asked"),
        ("models.*.price.*", "whether a limit of money holds"),
        ("local.*", "which files are read as weights, and where they are written"),
        ("tools.fetch_url.enabled", "whether agents reach the network"),
        ("mcp.*.command", "a program"),
        ("mcp.*.args", "a program"),
        ("mcp.*.env.*", "a program's environment"),
        ("mcp.*.env_from", "which variables a program receives"),
        ("mcp.*.directory", "where a program runs"),
        ("mcp.*.url", "a URL"),
        ("mcp.*.headers.*", "what is sent to a URL"),
        ("mcp.*.bearer_env", "which variable is sent to a URL"),
        ("mcp.*.approval", "whether a person is asked"),
        ("mcp.*.timeout_ms", "an MCP server"),
        ("mcp.*.start_timeout_ms", "an MCP server"),
        ("server.*", "who reaches the server"),
        ("token.*.*", "who may use the server"),
        ("token.*.limits.*", "what callers of the server may spend"),
        ("limits.*", "what callers of the server may spend"),
    ];

    /// The keys of the schema, with `*` for names that the user chooses.
    fn keys(schema: &serde_json::Value, inside: &Key, found: &mut Vec<Key>) {
        let table = schema.get("properties").and_then(serde_json::Value::as_object);
        for (name, part) in table.into_iter().flatten() {
            keys(part, &inside.join(name), found);
        }
        let any = schema.get("additionalProperties").filter(|any| **any != false);
        let items = schema.get("items").filter(|items| items.get("properties").is_some());
        for part in any.into_iter().chain(items) {
            keys(part, &inside.join("*"), found);
        }
        if table.is_none() && any.is_none() && items.is_none() {
            found.push(inside.clone());
        }
    }

    #[test]
    fn every_key_of_the_file_is_harmless_or_sensitive_and_no_key_is_both() {
        let mut found = Vec::new();
        keys(&schema::schema(), &Key::default(), &mut found);
        assert!(found.len() > 50, "{}", found.len());
        let classes = |key: &Key| {
            let sensitive = SENSITIVE.iter().filter(|(pattern, _)| matches(pattern, key)).count();
            HARMLESS.iter().filter(|pattern| matches(pattern, key)).count() + sensitive
        };
        let unclear: Vec<&Key> = found.iter().filter(|key| classes(key) != 1).collect();
        assert_eq!(unclear, Vec::<&Key>::new(), "classify these keys");
    }

    fn found(text: &str) -> Vec<(usize, String, String)> {
        let layers = Layers::of_file(PathBuf::from("roundtable.toml"), text).unwrap();
        let entries = entries(&layers).into_iter();
        entries.map(|it| (it.line.unwrap(), it.key.to_string(), it.value)).collect()
    }

    #[test]
    fn agents_and_their_limits_need_no_trust() {
        let text = "[defaults]\nmodel = \"openai/x\"\nretry.attempts = 2\n[agents.ada]\n\
                    persona = \"You are Ada.\"\ntools = [\"now\"]\nlimits.calls = 3\n[providers.openai]\n";
        assert_eq!(found(text), []);
    }

    #[test]
    fn programs_urls_and_variables_are_named_with_their_lines_and_keys_stay_hidden() {
        let text = "data_dir = \"d\"\n[mcp.x]\ncommand = \"sh\"\nenv = { LD_PRELOAD = \"e.so\" }\n\
                    [providers.openai]\nkey = \"sk-canary\"\nbase_url = \"http://e/v1\"\n\
                    [[token]]\nvalue = \"canary\"\n";
        let named = [
            (1, "data_dir", "\"d\""),
            (3, "mcp.x.command", "\"sh\""),
            (4, "mcp.x.env.LD_PRELOAD", "\"e.so\""),
            (6, "providers.openai.key", "***"),
            (7, "providers.openai.base_url", "\"http://e/v1\""),
            (9, "token.0.value", "***"),
        ];
        let named = named.map(|(line, key, value)| (line, key.to_owned(), value.to_owned()));
        assert_eq!(found(text), named);
    }

    #[test]
    fn s28_what_any_output_may_show_has_no_secret() {
        let text = "[mcp.x]\nenv = { T = \"canary\" }\nurl = \"http://me:canary@e/?k=canary\"\n";
        let layers = Layers::of_file(PathBuf::from("roundtable.toml"), text).unwrap();
        let brief: Vec<String> = entries(&layers).into_iter().map(|it| it.brief).collect();
        assert_eq!(brief, ["***", "\"http://***@e/?***\""]);
    }

    #[test]
    fn a_key_that_nobody_classified_needs_trust() {
        assert_eq!(found("[new]\nkey = 1\n").len(), 1);
        assert_eq!(found("[agents.ada]\nlimits.calls = { deep = 1 }\n").len(), 1);
        assert_eq!(found("[agents]\nada = 1\n").len(), 1);
    }
}
