//! How a body is spelt in the log: `kind`, `v` and `data`, with unknown kinds kept as they are.

use serde::de::Error as _;
use serde::ser::SerializeMap as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};

use super::{
    Body, ContextEvent, IterationEvent, RoundEvent, SessionEvent, ToolCallEvent, TurnEvent,
};

/// The version of every kind that this build writes. A kind whose meaning changes gets its own.
const VERSION: u32 = 1;

impl Body {
    /// The kind, the version and the data, as they stand in the log.
    ///
    /// # Errors
    /// A `serde_json` error; no body that the core makes has one.
    pub fn to_parts(&self) -> Result<(String, u32, Value), serde_json::Error> {
        let value = match self {
            Self::Session(event) => serde_json::to_value(event),
            Self::Round(event) => serde_json::to_value(event),
            Self::Turn(event) => serde_json::to_value(event),
            Self::Iteration(event) => serde_json::to_value(event),
            Self::ToolCall(event) => serde_json::to_value(event),
            Self::Context(event) => serde_json::to_value(event),
            Self::Unknown { kind, version, data } => {
                return Ok((kind.clone(), *version, data.clone()));
            }
            Self::Redacted => return Ok(("redacted".to_owned(), VERSION, Value::Null)),
        }?;
        let Value::Object(mut map) = value else {
            return Err(serde::ser::Error::custom("an event is always an object"));
        };
        let kind = map
            .remove("kind")
            .and_then(|kind| kind.as_str().map(str::to_owned))
            .unwrap_or_default();
        Ok((kind, VERSION, map.remove("data").unwrap_or(Value::Null)))
    }

    /// Reads a body. A kind or version that this build does not know is kept, never dropped.
    ///
    /// # Errors
    /// A `serde_json` error when a kind that this build knows has data that it cannot have.
    pub fn from_parts(kind: &str, version: u32, data: Value) -> Result<Self, serde_json::Error> {
        if kind == "redacted" {
            return Ok(Self::Redacted);
        }
        if version != VERSION || !KINDS.contains(&kind) {
            return Ok(Self::Unknown { kind: kind.to_owned(), version, data });
        }
        let mut map = Map::new();
        map.insert("kind".to_owned(), Value::String(kind.to_owned()));
        if !data.is_null() {
            map.insert("data".to_owned(), data);
        }
        let value = Value::Object(map);
        match kind.split('_').next() {
            Some("session") => SessionEvent::deserialize(value).map(Self::Session),
            Some("round") => RoundEvent::deserialize(value).map(Self::Round),
            Some("turn") => TurnEvent::deserialize(value).map(Self::Turn),
            Some("tool") => ToolCallEvent::deserialize(value).map(Self::ToolCall),
            Some("context") => ContextEvent::deserialize(value).map(Self::Context),
            _ => IterationEvent::deserialize(value).map(Self::Iteration),
        }
    }

    /// The kind of the event, as it stands in the log.
    pub fn kind(&self) -> String {
        self.to_parts().map(|(kind, _, _)| kind).unwrap_or_default()
    }
}

const KINDS: [&str; 32] = [
    "session_opened",
    "session_forked",
    "session_input_accepted",
    "session_input_dropped",
    "session_paused",
    "session_resumed",
    "session_completed",
    "session_round_superseded",
    "session_take_selected",
    "session_imported",
    "round_opened",
    "round_aside_opened",
    "round_measured",
    "round_closed",
    "turn_started",
    "turn_ended",
    "iteration_opened",
    "iteration_closed",
    "model_call_started",
    "model_call_interrupted",
    "model_call_retried",
    "model_call_finished",
    "model_call_failed",
    "model_call_cancelled",
    "tool_call_requested",
    "tool_call_started",
    "tool_call_published",
    "tool_call_interrupted",
    "tool_call_finished",
    "context_requested",
    "context_provided",
    "context_withdrawn",
];

impl Serialize for Body {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (kind, version, data) = self.to_parts().map_err(serde::ser::Error::custom)?;
        let mut map = serializer.serialize_map(Some(3))?;
        map.serialize_entry("kind", &kind)?;
        map.serialize_entry("v", &version)?;
        map.serialize_entry("data", &data)?;
        map.end()
    }
}

impl<'de> Deserialize<'de> for Body {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        struct Parts {
            kind: String,
            v: u32,
            #[serde(default)]
            data: Value,
        }
        let Parts { kind, v, data } = Parts::deserialize(deserializer)?;
        Self::from_parts(&kind, v, data).map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::Event;

    fn read(json: &str) -> Event {
        serde_json::from_str(json).unwrap()
    }

    #[test]
    fn an_unknown_kind_is_kept_to_the_letter() {
        let json = r#"{"seq":7,"at":"2026-01-01T00:00:00Z","round":"rnd_1","kind":"moon_landed","v":3,"data":{"x":[1,2]}}"#;
        let event = read(json);
        assert!(
            matches!(&event.body, Body::Unknown { kind, version: 3, .. } if kind == "moon_landed")
        );
        assert_eq!(serde_json::to_string(&event).unwrap(), json);
    }

    #[test]
    fn a_known_kind_in_a_newer_version_is_unknown() {
        let event = read(
            r#"{"seq":1,"at":"2026-01-01T00:00:00Z","kind":"round_closed","v":2,"data":{"how":"well"}}"#,
        );
        assert!(matches!(event.body, Body::Unknown { version: 2, .. }));
    }

    #[test]
    fn a_known_kind_with_impossible_data_is_an_error_not_a_guess() {
        let json = r#"{"seq":1,"at":"2026-01-01T00:00:00Z","kind":"round_closed","v":1,"data":{}}"#;
        assert!(serde_json::from_str::<Event>(json).is_err());
    }

    #[test]
    fn a_redacted_body_reads_back() {
        let json = r#"{"seq":1,"at":"2026-01-01T00:00:00Z","kind":"redacted","v":1,"data":null}"#;
        let event = read(json);
        assert_eq!(event.body, Body::Redacted);
        assert_eq!(serde_json::to_string(&event).unwrap(), json);
    }
}
