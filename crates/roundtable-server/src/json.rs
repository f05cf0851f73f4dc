//! JSON from outside, read strictly: what two readers could understand differently, or a store could
//! choke on, is refused before anything sees it.

use std::fmt;

use axum::body::Body;
use bytes::Bytes;
use http::header::CONTENT_LENGTH;
use http::{HeaderMap, StatusCode};
use http_body_util::{BodyExt as _, LengthLimitError, Limited};
use roundtable::core::json::MAX_LEVELS;
use serde::de::{DeserializeSeed, Error as _, MapAccess, SeqAccess, Visitor};
use serde::{Deserializer, de};
use serde_json::{Map, Number, Value};

use crate::app::Limits;
use crate::problem::Problem;

/// Reads a body that is not too long and does not take too long. One that says how long it is need not
/// even be sent.
pub(crate) async fn read(
    headers: &HeaderMap,
    body: Body,
    limits: &Limits,
) -> Result<Bytes, Problem> {
    let said = headers.get(CONTENT_LENGTH).and_then(|value| value.to_str().ok()?.parse().ok());
    if said.is_some_and(|said: u64| said > limits.body as u64) {
        return Err(too_long(limits));
    }
    let read = Limited::new(body, limits.body).collect();
    match tokio::time::timeout(limits.body_time, read).await {
        Ok(Ok(body)) => Ok(body.to_bytes()),
        Ok(Err(error)) if error.is::<LengthLimitError>() => Err(too_long(limits)),
        Ok(Err(error)) => {
            let what = format!("the request body ended early: {error}; send the request again");
            Err(Problem::bad_request("broken_off", what))
        }
        Err(_) => {
            let most = limits.body_time.as_secs_f32();
            let what = format!(
                "the request body did not arrive within {most} s; send it again without pauses"
            );
            Err(Problem::new(StatusCode::REQUEST_TIMEOUT, "too_slow", what))
        }
    }
}

fn too_long(limits: &Limits) -> Problem {
    let what = format!("the request body is larger than {} bytes; send a smaller one", limits.body);
    Problem::new(StatusCode::PAYLOAD_TOO_LARGE, "too_long", what)
}

/// A JSON text that everyone reads alike.
pub(crate) fn parse(bytes: &[u8]) -> Result<Value, Problem> {
    let mut deserializer = serde_json::Deserializer::from_slice(bytes);
    let value = Level(MAX_LEVELS).deserialize(&mut deserializer);
    let value = value.and_then(|value| deserializer.end().map(|()| value));
    value.map_err(|error| {
        Problem::bad_request("json", format!("invalid JSON in the request body: {error}"))
    })
}

/// A value with so many levels below it.
struct Level(usize);

impl<'de> DeserializeSeed<'de> for Level {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl Level {
    fn below<E: de::Error>(&self) -> Result<Self, E> {
        let deeper = self.0.checked_sub(1).map(Self);
        deeper.ok_or_else(|| {
            E::custom(format_args!("it is nested more than {MAX_LEVELS} levels deep"))
        })
    }
}

impl<'de> Visitor<'de> for Level {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E: de::Error>(self, value: f64) -> Result<Value, E> {
        let number = Number::from_f64(value);
        number.map(Value::Number).ok_or_else(|| E::custom("a number is out of range"))
    }

    fn visit_str<E: de::Error>(self, value: &str) -> Result<Value, E> {
        plain(value).map(|text| Value::String(text.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut values = Vec::new();
        while let Some(value) = items.next_element_seed(self.below()?)? {
            values.push(value);
        }
        Ok(Value::Array(values))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let mut object = Map::new();
        while let Some(key) = entries.next_key::<String>()? {
            let key = plain(&key)?.to_owned();
            let value = entries.next_value_seed(self.below()?)?;
            if object.contains_key(&key) {
                return Err(A::Error::custom("duplicate key"));
            }
            object.insert(key, value);
        }
        Ok(Value::Object(object))
    }
}

fn plain<E: de::Error>(text: &str) -> Result<&str, E> {
    if text.contains('\0') {
        return Err(E::custom("a string contains a NUL character"));
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn why(text: &str) -> String {
        parse(text.as_bytes()).unwrap_err().body.error
    }

    #[test]
    fn s23_what_readers_could_understand_differently_is_refused() {
        assert!(
            why(&format!("{}{}", "[".repeat(100_000), "]".repeat(100_000))).contains("levels deep")
        );
        assert!(why(r#"{"a": {"b": 1, "b": 2}}"#).contains("duplicate key"));
        assert!(why(r#"{"a": 1e999}"#).contains("out of range"));
        assert!(
            why(r#"{"a": "\ud800"}"#).contains("surrogate")
                || why(r#"{"a": "\ud800"}"#).contains("hex escape")
        );
        assert!(why(r#"{"a": "\u0000"}"#).contains("NUL"));
        assert!(why(r#"{"\u0000": 1}"#).contains("NUL"));
        assert!(why("{} {}").contains("trailing"));
        assert!(parse(b"\"\xff\"").is_err());
    }

    #[test]
    fn what_is_sound_is_read_as_it_is() {
        let text = r#"{"a":[1,-2,0.5,null,true,"ä\n"],"b":{"c":18446744073709551615}}"#;
        assert_eq!(parse(text.as_bytes()).unwrap().to_string(), text);
        assert!(parse(format!("{}{}", "[".repeat(64), "]".repeat(64)).as_bytes()).is_ok());
    }
}
