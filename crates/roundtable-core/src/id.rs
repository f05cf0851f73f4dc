//! Identity: typed ids with a prefix, the same in Rust, SQL, JSON and URLs.
//!
//! Ids of sessions come from outside (random, unguessable). Every id inside a session is derived
//! from its parent's id and an ordinal, so a decision that is taken again after a crash names the
//! same things, and the core needs no generator.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

use crate::digest::{Digest, SHORT};

/// The longest id that is accepted from outside.
pub const MAX_LEN: usize = 64;

/// Why a text is not the id that was expected.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ParseIdError {
    /// The prefix belongs to another kind of id, or to none.
    #[error("\"{found}\" is not a {wanted} id; a {wanted} id begins with \"{prefix}\"")]
    WrongKind {
        /// What was given (shortened).
        found: String,
        /// The kind that was expected, in words.
        wanted: &'static str,
        /// Its prefix.
        prefix: &'static str,
    },
    /// The text is too long, empty after its prefix, or has a character that ids never have.
    #[error(
        "\"{found}\" is not a valid {wanted} id; use letters, digits, \"_\" and \"-\", at most 64 characters"
    )]
    Malformed {
        /// What was given (shortened).
        found: String,
        /// The kind that was expected, in words.
        wanted: &'static str,
    },
}

/// Whether a text may stand as an id anywhere: it cannot become a path, a wildcard or a pattern.
pub fn is_safe(text: &str) -> bool {
    !text.is_empty()
        && text.len() <= MAX_LEN
        && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-')
}

fn shown(text: &str) -> String {
    text.chars().take(MAX_LEN).map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect()
}

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident $prefix:literal $wanted:literal;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(try_from = "String", into = "String")]
        pub struct $name(std::sync::Arc<str>);

        impl $name {
            /// What every id of this kind begins with.
            pub const PREFIX: &str = $prefix;

            /// The id with this suffix; the suffix is checked like any outside text.
            ///
            /// # Errors
            /// [`ParseIdError::Malformed`] when the suffix has characters that ids never have.
            pub fn new(suffix: &str) -> Result<Self, ParseIdError> {
                format!("{}{suffix}", $prefix).parse()
            }

            /// The id of the `ordinal`th child of `parent`.
            pub fn derive(parent: &str, ordinal: impl fmt::Display) -> Self {
                let mut id = String::with_capacity($prefix.len() + SHORT);
                id.push_str($prefix);
                Digest::push_short(&mut id, format_args!("{parent}/{}{ordinal}", $prefix));
                Self(id.into())
            }

            /// The id as text.
            pub fn as_str(&self) -> &str {
                &self.0
            }

            /// The part after the prefix.
            pub fn suffix(&self) -> &str {
                self.0.strip_prefix($prefix).unwrap_or(&self.0)
            }
        }

        impl FromStr for $name {
            type Err = ParseIdError;

            fn from_str(text: &str) -> Result<Self, ParseIdError> {
                let Some(suffix) = text.strip_prefix($prefix) else {
                    return Err(ParseIdError::WrongKind { found: shown(text), wanted: $wanted, prefix: $prefix });
                };
                if suffix.is_empty() || !is_safe(text) {
                    return Err(ParseIdError::Malformed { found: shown(text), wanted: $wanted });
                }
                Ok(Self(text.into()))
            }
        }

        impl TryFrom<String> for $name {
            type Error = ParseIdError;

            fn try_from(text: String) -> Result<Self, ParseIdError> {
                text.parse()
            }
        }

        impl From<$name> for String {
            fn from(id: $name) -> String {
                id.0.as_ref().to_owned()
            }
        }

        impl JsonSchema for $name {
            fn inline_schema() -> bool {
                true
            }

            fn schema_name() -> Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!({ "type": "string" })
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(&self.0)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    )*};
}

ids! {
    /// A conversation: one log, one writer.
    SessionId "ses_" "session";
    /// One cycle of a session: an input and every answer that it causes.
    RoundId "rnd_" "round";
    /// One participant's answer.
    TurnId "trn_" "turn";
    /// One model call and the tool calls that it asked for.
    IterationId "itr_" "iteration";
    /// One tool invocation; also the key under which an idempotent tool may be repeated.
    ToolCallId "tcl_" "tool call";
    /// A participant, named in the configuration.
    AgentId "agt_" "agent";
    /// Something that an agent asked to know.
    ContextRequestId "ctx_" "context request";
    /// A command of a caller, for repeating it safely.
    CommandId "cmd_" "command";
    /// A process that runs an engine.
    NodeId "nod_" "node";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_of_another_kind_is_named_in_the_refusal() {
        let refused = "trn_1".parse::<SessionId>().unwrap_err().to_string();
        assert_eq!(refused, "\"trn_1\" is not a session id; a session id begins with \"ses_\"");
    }

    #[test]
    fn an_id_can_never_be_a_path_a_wildcard_or_a_pattern() {
        for bad in ["ses_", "ses_../x", "ses_a*", "ses_a>", "ses_a.b", "ses_a\0", "ses_ä", "ses_%"]
        {
            assert!(bad.parse::<SessionId>().is_err(), "{bad}");
        }
        assert!(format!("ses_{}", "a".repeat(61)).parse::<SessionId>().is_err());
        assert!(format!("ses_{}", "a".repeat(60)).parse::<SessionId>().is_ok());
    }

    #[test]
    fn derived_ids_are_stable_and_differ_by_parent_ordinal_and_kind() {
        let one = TurnId::derive("rnd_a", 1);
        assert_eq!(one, TurnId::derive("rnd_a", 1));
        assert_ne!(one, TurnId::derive("rnd_a", 2));
        assert_ne!(one, TurnId::derive("rnd_b", 1));
        assert_ne!(one.suffix(), IterationId::derive("rnd_a", 1).suffix());
        assert_eq!(one.to_string().parse::<TurnId>().as_ref(), Ok(&one));
    }
}
