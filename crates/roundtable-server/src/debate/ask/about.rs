//! What is asked, with the debate that it is about. Over HTTP the path names the debate, over MCP a
//! field does; the other fields are the same, and said once.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{DeserializeOwned, Error as _};
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};

use crate::schema::ID;

const SESSION: &str = "sessionId";

/// Something about a debate. What `T` refuses is refused here as well; serde's own way to put one
/// record into another would let everything pass.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct About<T> {
    /// The debate.
    pub session_id: String,
    pub asked: T,
}

impl<'de, T: DeserializeOwned> Deserialize<'de> for About<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut fields = Map::deserialize(deserializer)?;
        let session = fields.remove(SESSION).ok_or_else(|| D::Error::missing_field(SESSION))?;
        let Value::String(session_id) = session else {
            return Err(D::Error::custom("sessionId is a text"));
        };
        let asked = T::deserialize(Value::Object(fields)).map_err(D::Error::custom)?;
        Ok(Self { session_id, asked })
    }
}

impl<T: JsonSchema> JsonSchema for About<T> {
    fn schema_name() -> Cow<'static, str> {
        format!("About{}", T::schema_name()).into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let mut schema = T::json_schema(generator);
        let fields = schema.ensure_object();
        if let Some(Value::Object(properties)) = fields.get_mut("properties") {
            let session =
                json_schema!({ "type": "string", "maxLength": ID, "description": "The debate." });
            properties.insert(SESSION.to_owned(), session.to_value());
        }
        let required = fields.entry("required").or_insert_with(|| Value::Array(Vec::new()));
        if let Value::Array(required) = required {
            required.push(SESSION.into());
        }
        schema
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::{Control, GoOn, Told};
    use super::*;

    fn read(value: Value) -> Result<About<GoOn>, String> {
        About::deserialize(value).map_err(|error| error.to_string())
    }

    #[test]
    fn the_debate_and_what_is_asked_are_one_record() {
        let read = read(json!({ "sessionId": "ses_1", "afterRound": 2 })).unwrap();
        let asked = GoOn { after_round: Some(2), ..GoOn::default() };
        assert_eq!(read, About { session_id: "ses_1".to_owned(), asked });
        let told: About<Told> =
            About::deserialize(json!({ "sessionId": "ses_1", "action": "stop" })).unwrap();
        assert_eq!(told.asked.action, Control::Stop);
    }

    #[test]
    fn what_is_missing_unknown_or_of_another_type_is_refused() {
        assert_eq!(read(json!({})).unwrap_err(), "missing field `sessionId`");
        assert_eq!(read(json!({ "sessionId": 1 })).unwrap_err(), "sessionId is a text");
        let unknown = read(json!({ "sessionId": "ses_1", "focus": "x" })).unwrap_err();
        assert!(unknown.starts_with("unknown field `focus`"), "{unknown}");
        assert!(read(json!([])).is_err());
    }

    #[test]
    fn its_schema_is_that_of_what_is_asked_and_the_debate() {
        let mut generator = SchemaGenerator::default();
        let schema = About::<Told>::json_schema(&mut generator).to_value();
        assert_eq!(schema["required"], json!(["action", "sessionId"]));
        assert_eq!(schema["additionalProperties"], json!(false));
        let validator =
            jsonschema::validator_for(&generator.root_schema_for::<About<GoOn>>().to_value())
                .unwrap();
        assert!(validator.is_valid(&json!({ "sessionId": "ses_1", "focusQuestion": "Why?" })));
        assert!(!validator.is_valid(&json!({ "focusQuestion": "Why?" })));
        assert!(!validator.is_valid(&json!({ "sessionId": "ses_1", "focus": "x" })));
    }
}
