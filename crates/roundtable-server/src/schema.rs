//! Inputs are validated against the schemas that describe them: an array where an object is expected, a
//! text that is too long, a list with too many items. A bound that is documented is enforced.

use std::any::TypeId;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use jsonschema::error::ValidationErrorKind;
use jsonschema::{ValidationError, Validator};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::openapi::schema_settings;

/// How many characters an id may have.
pub(crate) const ID: usize = 64;

/// Why an input is refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Misfit {
    /// In one word, for programs.
    pub reason: &'static str,
    /// For people.
    pub what: String,
}

/// The validators of input types, each compiled once.
#[derive(Default)]
pub(crate) struct Schemas(Mutex<HashMap<TypeId, Arc<Validator>>>);

impl Schemas {
    /// Reads an input, or explains why it is invalid.
    pub fn read<T>(&self, value: &Value) -> Result<T, Misfit>
    where
        T: DeserializeOwned + JsonSchema + 'static,
    {
        let invalid = |what: String| Misfit { reason: "invalid", what };
        let validator = self.validator::<T>().map_err(invalid)?;
        let errors: Vec<ValidationError<'_>> = validator.iter_errors(value).collect();
        // The derived readers accept an array of values in place of an object, so it is refused before.
        if let Some(array) = errors.iter().find_map(unexpected_array) {
            return Err(invalid(array));
        }
        let read = T::deserialize(value).map_err(|error| invalid(error.to_string()))?;
        errors.first().map_or(Ok(read), |error| Err(misfit(error)))
    }

    fn validator<T: JsonSchema + 'static>(&self) -> Result<Arc<Validator>, String> {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(validator) = known.get(&TypeId::of::<T>()) {
            return Ok(validator.clone());
        }
        let schema = schema_settings().into_generator().into_root_schema_for::<T>().to_value();
        let validator = jsonschema::validator_for(&schema).map_err(|error| error.to_string())?;
        let validator = Arc::new(validator);
        known.insert(TypeId::of::<T>(), validator.clone());
        Ok(validator)
    }
}

/// The alternatives of an error, where the schema has some.
fn alternatives<'a>(error: &'a ValidationError<'a>) -> &'a [Vec<ValidationError<'static>>] {
    match error.kind() {
        ValidationErrorKind::AnyOf { context } | ValidationErrorKind::OneOfNotValid { context } => {
            context
        }
        _ => &[],
    }
}

/// Where an array was sent instead of an object.
fn unexpected_array(error: &ValidationError<'_>) -> Option<String> {
    let is_type = matches!(error.kind(), ValidationErrorKind::Type { .. });
    if error.instance().is_array() && (is_type || !alternatives(error).is_empty()) {
        let place = place(error);
        return Some(format!("{place} must not be an array; send an object with named fields"));
    }
    alternatives(error).iter().flatten().find_map(unexpected_array)
}

fn misfit(error: &ValidationError<'_>) -> Misfit {
    let place = place(error);
    let (reason, what) = match error.kind() {
        ValidationErrorKind::MaxLength { limit } => {
            ("invalid", format!("{place} is longer than {limit} characters; shorten it"))
        }
        ValidationErrorKind::MinLength { limit } => {
            ("invalid", format!("{place} needs at least {limit} character"))
        }
        ValidationErrorKind::MaxItems { limit } => {
            ("too_many", format!("{place} has more than {limit} items; send fewer"))
        }
        ValidationErrorKind::AnyOf { .. } | ValidationErrorKind::OneOfNotValid { .. } => {
            // The alternative that is meant is the one that fails further down.
            let all = alternatives(error).iter().flatten();
            let deepest = all.filter(|error| !is_type(error)).max_by_key(|error| depth(error));
            return deepest.map_or_else(|| other(error, &place), misfit);
        }
        _ => return other(error, &place),
    };
    Misfit { reason, what }
}

fn is_type(error: &ValidationError<'_>) -> bool {
    matches!(error.kind(), ValidationErrorKind::Type { .. })
}

fn depth(error: &ValidationError<'_>) -> usize {
    error.instance_path().as_str().matches('/').count()
}

/// Without the value itself, which may be long.
fn other(error: &ValidationError<'_>, place: &str) -> Misfit {
    Misfit { reason: "invalid", what: format!("{place}: {}", error.masked()) }
}

/// The path of the value in question, as people write it: `perspectives/0/description`.
fn place(error: &ValidationError<'_>) -> String {
    let path = error.instance_path().as_str().trim_start_matches('/').to_owned();
    if path.is_empty() { "the input".to_owned() } else { path }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::debate::ask::{ContinueRequest, DebatesQuery, StartRequest};

    fn refused<T: DeserializeOwned + JsonSchema + std::fmt::Debug + 'static>(
        value: &Value,
    ) -> (&'static str, String) {
        let misfit = Schemas::default().read::<T>(value).expect_err("it is invalid");
        (misfit.reason, misfit.what)
    }

    #[test]
    fn an_array_is_not_an_object_at_any_level() {
        let hint = "must not be an array; send an object with named fields";
        let invalid = |place: &str| ("invalid", format!("{place} {hint}"));
        assert_eq!(refused::<DebatesQuery>(&json!([])), invalid("the input"));
        assert_eq!(refused::<StartRequest>(&json!(["Why?"])), invalid("the input"));
        let nested = json!({ "contextResults": [["ctx_1", true, "x"]] });
        assert_eq!(refused::<ContinueRequest>(&nested), invalid("contextResults/0"));
        let budget = json!({ "topic": "Why?", "budget": [1, 2, 3] });
        assert_eq!(refused::<StartRequest>(&budget), invalid("budget"));
        let perspective = json!({ "topic": "Why?", "perspectives": [["a", "b"]] });
        assert_eq!(refused::<StartRequest>(&perspective), invalid("perspectives/0"));
    }

    #[test]
    fn what_is_longer_than_documented_is_refused_with_its_place_and_without_its_value() {
        let described = json!({ "name": "Law", "description": "x".repeat(10_000) });
        let described = json!({ "topic": "Why?", "perspectives": [described] });
        let (reason, what) = refused::<StartRequest>(&described);
        assert_eq!(reason, "invalid");
        assert_eq!(what, "perspectives/0/description is longer than 2000 characters; shorten it");
        let many = json!({ "topic": "Why?", "perspectives": vec!["Law"; 11] });
        let (reason, what) = refused::<StartRequest>(&many);
        assert_eq!(
            (reason, what.as_str()),
            ("too_many", "perspectives has more than 10 items; send fewer")
        );
    }

    #[test]
    fn what_is_valid_is_read() {
        let value = json!({ "contextResults": [], "afterRound": 2 });
        let read = Schemas::default().read::<ContinueRequest>(&value).expect("it is valid");
        assert_eq!(read.after_round, Some(2));
    }
}
