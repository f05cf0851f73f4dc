//! Parameters are checked against the lengths that the description of the API documents, on every route.

use std::sync::Arc;

use axum::extract::{Query, Request, State};
use axum::middleware::Next;
use axum::response::Response;

use crate::openapi::{Description, Param};
use crate::problem::Problem;

/// How long each parameter of a route may be.
#[derive(Clone)]
pub(crate) struct Bounds(Arc<[(&'static str, String, usize)]>);

impl Bounds {
    pub fn of(description: &Description) -> Self {
        let bound = |param: &Param| {
            let limit = param.schema.get("maxLength")?.as_u64()?;
            Some((param.place, param.name.clone(), usize::try_from(limit).ok()?))
        };
        Self(description.params.iter().filter_map(bound).collect())
    }

    fn check(&self, request: &Request) -> Result<(), Problem> {
        let query = Query::<Vec<(String, String)>>::try_from_uri(request.uri());
        // A query that cannot be decoded is refused by the handler, which says what it expects.
        let pairs = query.map(|Query(pairs)| pairs).unwrap_or_default();
        for (place, name, limit) in self.0.iter() {
            let length = match *place {
                "query" => pairs
                    .iter()
                    .filter(|(key, _)| key == name)
                    .map(|(_, it)| it.chars().count())
                    .max(),
                "header" => {
                    request.headers().get_all(name).iter().map(http::HeaderValue::len).max()
                }
                // A part of the path that is too long is not an id, so nothing is found.
                _ => None,
            };
            if length.is_some_and(|length| length > *limit) {
                let what = format!("{name} is longer than {limit} characters; shorten it");
                return Err(Problem::bad_request("invalid", what));
            }
        }
        Ok(())
    }
}

/// Refuses parameters that are too long.
pub(crate) async fn check(
    State(bounds): State<Bounds>,
    request: Request,
    next: Next,
) -> Result<Response, Problem> {
    bounds.check(&request)?;
    Ok(next.run(request).await)
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use crate::{mcp, openapi};

    /// The places of a schema where a text or a list has no documented limit.
    fn unbounded(place: &str, schema: &Value, root: &Value, found: &mut Vec<String>) {
        match schema {
            Value::Array(all) => {
                let places = all.iter().enumerate();
                places.for_each(|(i, one)| unbounded(&format!("{place}/{i}"), one, root, found));
            }
            Value::Object(fields) => {
                if let Some(name) = fields.get("$ref").and_then(Value::as_str) {
                    let target = root.pointer(name.trim_start_matches('#')).expect("it is defined");
                    return unbounded(&format!("{place}({name})"), target, root, found);
                }
                let types = match fields.get("type") {
                    Some(Value::Array(types)) => types.iter().filter_map(Value::as_str).collect(),
                    Some(Value::String(one)) => vec![one.as_str()],
                    _ => Vec::new(),
                };
                let is_choice = fields.contains_key("enum") || fields.contains_key("const");
                if types.contains(&"string") && !is_choice && !fields.contains_key("maxLength") {
                    found.push(format!("{place}: a string without maxLength"));
                }
                if types.contains(&"array") && !fields.contains_key("maxItems") {
                    found.push(format!("{place}: an array without maxItems"));
                }
                for (name, inner) in fields.iter().filter(|(name, _)| *name != "description") {
                    unbounded(&format!("{place}/{name}"), inner, root, found);
                }
            }
            _ => {}
        }
    }

    #[test]
    fn every_string_and_array_of_an_input_has_a_limit_over_http() {
        let document = openapi::document();
        let mut found = Vec::new();
        for (path, methods) in document["paths"].as_object().expect("paths") {
            for (method, operation) in methods.as_object().expect("methods") {
                let place = format!("{method} {path}");
                unbounded(&place, &operation["parameters"], &document, &mut found);
                unbounded(&place, &operation["requestBody"], &document, &mut found);
            }
        }
        assert_eq!(found, Vec::<String>::new());
    }

    #[test]
    fn every_string_and_array_of_an_input_has_a_limit_over_mcp() {
        let mut found = Vec::new();
        for tool in mcp::tools() {
            let schema = Value::Object(tool.input_schema.as_ref().clone());
            unbounded(&tool.name, &schema, &schema, &mut found);
        }
        assert_eq!(found, Vec::<String>::new());
    }
}
