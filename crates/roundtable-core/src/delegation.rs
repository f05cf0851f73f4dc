//! The parameters of the tool `delegate`, as strict as the schema that models are sent.

use serde::Deserialize;
use serde_json::Value;

/// How many characters a mission may have.
pub const MAX_MISSION: usize = 10_000;

/// How many characters a rationale may have.
pub const MAX_RATIONALE: usize = 2_000;

/// How many characters the name of an agent may have.
pub const MAX_AGENT: usize = 200;

/// What an agent hands to another one.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Delegation {
    /// Who is asked: an id, or the part of it after the prefix.
    pub agent: String,
    /// What to do: 1 to 10,000 characters.
    pub mission: String,
    /// Why this agent: up to 2,000 characters.
    #[serde(default)]
    pub rationale: String,
}

impl Delegation {
    /// Reads the arguments that a model wrote.
    ///
    /// # Errors
    /// A sentence for the model that says what to fix.
    pub fn parse(arguments: &Value) -> Result<Self, String> {
        let read = Self::deserialize(arguments).map_err(|error| misfit("delegate", &error))?;
        let lengths = [
            ("agent", &read.agent, 1, MAX_AGENT),
            ("mission", &read.mission, 1, MAX_MISSION),
            ("rationale", &read.rationale, 0, MAX_RATIONALE),
        ];
        for (name, text, least, limit) in lengths {
            check_length("delegate", name, text, least, limit)?;
        }
        Ok(read)
    }
}

/// Why arguments do not fit; what a model wrote is part of it, and so it is cut.
pub(crate) fn misfit(tool: &str, error: &serde_json::Error) -> String {
    let what: String = error.to_string().chars().take(300).collect();
    format!("the arguments of {tool} do not match its schema: {what}")
}

pub(crate) fn check_length(
    tool: &str,
    name: &str,
    text: &str,
    least: usize,
    limit: usize,
) -> Result<(), String> {
    let length = text.chars().count();
    if (least > 0 && text.trim().is_empty()) || length > limit {
        return Err(format!(
            "{tool}: {name} must have {least} to {limit} characters; this one has {length}"
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_does_not_fit_the_schema_is_refused_with_the_reason() {
        let refused = |arguments: Value| Delegation::parse(&arguments).unwrap_err();
        let fits = "the arguments of delegate do not match its schema: ";
        assert_eq!(
            refused(json!({ "agent": "bob", "mission": "Go.", "budget": 7 })),
            format!(
                "{fits}unknown field `budget`, expected one of `agent`, `mission`, `rationale`"
            )
        );
        assert_eq!(refused(json!({ "agent": "bob" })), format!("{fits}missing field `mission`"));
        assert!(refused(json!({ "agent": 1, "mission": "Go." })).starts_with(fits));
        assert!(
            refused(json!({ "agent": "bob", "mission": "Go.", "rationale": null }))
                .starts_with(fits)
        );
        assert!(refused(json!([])).starts_with(fits));
        assert_eq!(
            refused(json!({ "agent": "bob", "mission": " " })),
            "delegate: mission must have 1 to 10000 characters; this one has 1"
        );
        assert_eq!(
            refused(json!({ "agent": "bob", "mission": "x".repeat(10_001) })),
            "delegate: mission must have 1 to 10000 characters; this one has 10001"
        );
        assert_eq!(
            refused(json!({ "agent": "bob", "mission": "Go.", "rationale": "x".repeat(2_001) })),
            "delegate: rationale must have 0 to 2000 characters; this one has 2001"
        );
        let long = refused(json!({ "agent": "bob", "mission": "Go.", "x".repeat(100_000): 1 }));
        assert!(long.len() < 400, "{}", long.len());
    }

    #[test]
    fn what_fits_is_read() {
        let read = Delegation::parse(&json!({ "agent": "bob", "mission": "Go." })).unwrap();
        let rationale = String::new();
        let expected = Delegation { agent: "bob".to_owned(), mission: "Go.".to_owned(), rationale };
        assert_eq!(read, expected);
    }
}
