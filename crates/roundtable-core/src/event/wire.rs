//! The format of a body in the log: `kind`, `v` and `data`, with unknown kinds kept as they are.

use serde::de::Error as _;
use serde::ser::SerializeMap as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};

use super::{Body, kind};

impl Body {
    /// The kind, the version and the data, as they stand in the log.
    ///
    /// # Errors
    /// A `serde_json` error; no body that the core makes has one.
    pub fn to_parts(&self) -> Result<(&str, u32, Value), serde_json::Error> {
        let value = match self {
            Self::Session(event) => serde_json::to_value(event),
            Self::Round(event) => serde_json::to_value(event),
            Self::Turn(event) => serde_json::to_value(event),
            Self::Iteration(event) => serde_json::to_value(event),
            Self::ToolCall(event) => serde_json::to_value(event),
            Self::Context(event) => serde_json::to_value(event),
            Self::Unknown { kind, version, data } => {
                return Ok((kind, *version, data.clone()));
            }
            Self::Redacted => return Ok((self.kind(), 1, Value::Null)),
        }?;
        let Value::Object(mut map) = value else {
            return Err(serde::ser::Error::custom("an event is always an object"));
        };
        let kind = self.kind();
        debug_assert_eq!(map.get("kind").and_then(Value::as_str), Some(kind));
        let version = kind::find(kind).map_or(1, kind::Kind::newest);
        Ok((kind, version, map.remove("data").unwrap_or(Value::Null)))
    }

    /// Reads a body, of this or an earlier version of its kind. A kind or version that this build
    /// does not know is kept, never dropped.
    ///
    /// # Errors
    /// A `serde_json` error when a kind that this build knows has data that it cannot have.
    pub fn from_parts(kind: &str, version: u32, data: Value) -> Result<Self, serde_json::Error> {
        if kind == "redacted" {
            return Ok(Self::Redacted);
        }
        let Some(known) = kind::find(kind).filter(|known| known.has(version)) else {
            return Ok(Self::Unknown { kind: kind.to_owned(), version, data });
        };
        let data = known.upcast(version, data);
        let mut map = Map::new();
        map.insert("kind".to_owned(), Value::String(kind.to_owned()));
        if !data.is_null() {
            map.insert("data".to_owned(), data);
        }
        (known.read)(Value::Object(map))
    }
}

impl Serialize for Body {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (kind, version, data) = self.to_parts().map_err(serde::ser::Error::custom)?;
        let mut map = serializer.serialize_map(Some(3))?;
        map.serialize_entry("kind", kind)?;
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
            r#"{"seq":1,"at":"2026-01-01T00:00:00Z","kind":"round_closed","v":3,"data":{"how":"well"}}"#,
        );
        assert!(matches!(event.body, Body::Unknown { version: 3, .. }));
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
