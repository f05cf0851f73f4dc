use reqwest::header::{HeaderName, HeaderValue};
use serde_json::json;

use super::*;

fn headers(all: &[(&'static str, &'static str)]) -> HeaderMap {
    let pair = |(name, value): &(&'static str, &'static str)| {
        (HeaderName::from_static(name), HeaderValue::from_static(value))
    };
    all.iter().map(pair).collect()
}

fn meaning(status: u16, body: &Value) -> ModelError {
    Failure::of_response(status, &HeaderMap::new(), &body.to_string()).error()
}

/// The kind of an error, as one word.
fn kind(status: u16, body: &Value) -> &'static str {
    match meaning(status, body) {
        ModelError::Auth(_) => "auth",
        ModelError::RateLimited { .. } => "slow down",
        ModelError::Overloaded(_) => "overloaded",
        ModelError::TooLong(_) => "too long",
        ModelError::Refused(_) => "refused",
        ModelError::BadRequest(_) => "bad request",
        ModelError::Broken(_) => "broken",
        ModelError::Timeout => "timeout",
    }
}

#[test]
fn f28_each_vendor_s_refusals_say_what_to_do() {
    let error = |kind: &str, message: &str| json!({"error": {"type": kind, "message": message}});
    let code = |code: &str, message: &str| json!({"error": {"code": code, "message": message}});
    let cases = [
        (401, code("invalid_api_key", "Incorrect API key"), "auth"),
        (403, error("permission_error", "no"), "auth"),
        (402, json!({"error": {"message": "Insufficient credits", "code": 402}}), "auth"),
        (429, code("insufficient_quota", "You exceeded your quota"), "auth"),
        (400, error("invalid_request_error", "Your credit balance is too low"), "auth"),
        (
            400,
            json!({"error": {"code": 400, "status": "INVALID_ARGUMENT", "message": "API key not valid.", "details": [{"reason": "API_KEY_INVALID"}]}}),
            "auth",
        ),
        (429, error("rate_limit_error", "slow"), "slow down"),
        (429, json!({"error": {"code": 429, "status": "RESOURCE_EXHAUSTED"}}), "slow down"),
        (529, error("overloaded_error", "Overloaded"), "overloaded"),
        (500, json!("not even an object"), "overloaded"),
        (503, json!({"error": {"status": "UNAVAILABLE"}}), "overloaded"),
        (504, json!({}), "timeout"),
        (408, json!({}), "timeout"),
        (400, code("context_length_exceeded", "too many"), "too long"),
        (
            400,
            error("invalid_request_error", "prompt is too long: 210000 tokens > 200000 maximum"),
            "too long",
        ),
        (
            400,
            json!({"error": {"message": "The input token count (9) exceeds the maximum"}}),
            "too long",
        ),
        (413, error("request_too_large", "big"), "too long"),
        (400, code("content_filter", "no"), "refused"),
        (400, json!({"message": "model not found", "object": "error"}), "bad request"),
        (404, json!({"detail": "Not Found"}), "bad request"),
        (422, json!({"detail": [{"loc": ["body"], "msg": "field required"}]}), "bad request"),
        (302, json!({}), "bad request"),
    ];
    for (status, body, expected) in cases {
        assert_eq!(kind(status, &body), expected, "{status} {body}");
    }
}

#[test]
fn f28_when_to_try_again_is_read_in_every_form() {
    let after = |all: &[(&'static str, &'static str)]| {
        Failure::of_response(429, &headers(all), "{}").error()
    };
    let limited = |retry_after| ModelError::RateLimited { retry_after };
    let seconds = |seconds| limited(Some(Duration::from_secs(seconds)));
    assert_eq!(after(&[]), limited(None));
    assert_eq!(after(&[("retry-after", "7")]), seconds(7));
    assert_eq!(after(&[("retry-after", "0.5")]), limited(Some(Duration::from_millis(500))));
    assert_eq!(
        after(&[("retry-after-ms", "1500"), ("retry-after", "2")]),
        limited(Some(Duration::from_millis(1500)))
    );
    let date = ("date", "Wed, 21 Oct 2026 07:28:00 GMT");
    assert_eq!(after(&[date, ("retry-after", "Wed, 21 Oct 2026 07:29:30 GMT")]), seconds(90));
    assert_eq!(after(&[date, ("retry-after", "Wed, 21 Oct 2026 07:00:00 GMT")]), seconds(0));
    assert_eq!(after(&[("retry-after", "Wed, 21 Oct 2026 07:29:30 GMT")]), limited(None));
    assert_eq!(after(&[("retry-after", "1e30")]), seconds(86_400));
    assert_eq!(after(&[("retry-after", "soon")]), limited(None));
    let body = json!([{"error": {"code": 429, "details": [{"retryDelay": "12s"}]}}]);
    assert_eq!(meaning(429, &body), seconds(12));
    let busy = Failure::of_response(503, &headers(&[("retry-after", "3")]), "").error();
    assert_eq!(busy, seconds(3));
}

#[test]
fn a_provider_s_text_is_shown_on_one_line_and_not_for_ever() {
    assert_eq!(meaning(400, &json!({"error": "a\nb"})), ModelError::BadRequest("a b".to_owned()));
    let long = shown(&"é".repeat(5_000));
    assert_eq!(long.chars().count(), LONGEST + 1);
}
