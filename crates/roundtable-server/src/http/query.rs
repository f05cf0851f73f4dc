//! What is asked for in an address, after the question mark.

use axum::extract::Query;
use axum::extract::rejection::QueryRejection;

use crate::problem::Problem;

/// A query that may be none.
pub(crate) type Asked<T> = Result<Query<T>, QueryRejection>;

/// The query, or what is wrong with it.
pub(crate) fn query<T>(asked: Asked<T>) -> Result<T, Problem> {
    asked.map(|Query(asked)| asked).map_err(|error| {
        let text = error.body_text();
        // What is wrong stands behind the framework's own words.
        let what = text.split_once(": ").map_or(text.as_str(), |(_, what)| what);
        let what = format!(
            "a parameter does not fit: {what}; GET /openapi.json lists those of each address"
        );
        Problem::bad_request("invalid", what)
    })
}
