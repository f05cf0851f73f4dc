//! What an HTTP client prefers (RFC 7240). Preferences that the server does not know are ignored.

use http::{HeaderMap, HeaderName, HeaderValue};

use crate::openapi::Param;

const PREFER: HeaderName = HeaderName::from_static("prefer");
const PREFERENCE_APPLIED: HeaderName = HeaderName::from_static("preference-applied");
const RESPOND_ASYNC: &str = "respond-async";

/// The longest value that the description of the API allows.
const LONGEST: usize = 200;

/// Whether the client asks for an answer before the result is there.
pub(super) fn is_async(headers: &HeaderMap) -> bool {
    let values = headers.get_all(PREFER).iter().filter_map(|value| value.to_str().ok());
    let mut preferences = values.flat_map(|value| value.split(','));
    preferences.any(|preference| {
        let name = preference.split([';', '=']).next().unwrap_or_default();
        name.trim().eq_ignore_ascii_case(RESPOND_ASYNC)
    })
}

/// The header, as the description of the API has it.
pub(super) fn param() -> Param {
    let what = "With `respond-async`, the response is 202 as soon as the request is stored. Read \
        the events of the session to get the result.";
    Param::header("Prefer", what, LONGEST)
}

/// Tells the client that its preference was followed.
pub(super) fn note_applied(headers: &mut HeaderMap) {
    headers.insert(PREFERENCE_APPLIED, HeaderValue::from_static(RESPOND_ASYNC));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_preference_is_found_among_others_and_in_any_case() {
        let prefers = |values: &[&'static str]| {
            let header = |value: &&'static str| (PREFER, HeaderValue::from_static(value));
            is_async(&values.iter().map(header).collect())
        };
        assert!(prefers(&["respond-async"]));
        assert!(prefers(&["wait=10, Respond-Async; foo=1"]));
        assert!(prefers(&["return=minimal", "respond-async"]));
        assert!(!prefers(&[]));
        assert!(!prefers(&["wait=10"]));
        assert!(!prefers(&["x=respond-async"]));
        assert!(!prefers(&["respond-asynchronously"]));
    }
}
