//! What can go wrong outside, in words, and whether it is worth another try.

use std::time::Duration;

use roundtable_core::event::Seq;
use roundtable_core::id::{CommandId, SessionId};
use roundtable_ports::{LogError, ModelError};

#[test]
fn only_what_may_pass_is_worth_another_try() {
    let text = || "why".to_owned();
    let models = [
        (ModelError::Auth(text()), false),
        (ModelError::RateLimited { retry_after: None }, true),
        (ModelError::Overloaded(text()), true),
        (ModelError::TooLong(text()), false),
        (ModelError::Refused(text()), false),
        (ModelError::BadRequest(text()), false),
        (ModelError::Broken(text()), true),
        (ModelError::Timeout, true),
    ];
    for (error, transient) in models {
        assert_eq!(error.is_transient(), transient, "{error}");
    }
    let session = SessionId::new("mine").unwrap();
    let logs = [
        (LogError::Fenced { epoch: 3 }, false),
        (LogError::Conflict { head: Seq(7) }, true),
        (LogError::Duplicate { id: CommandId::new("c1").unwrap() }, true),
        (LogError::Unavailable(text()), true),
        (LogError::Busy, true),
        (LogError::Full, true),
        (LogError::Damaged { session, seq: Seq(7), what: text() }, false),
    ];
    for (error, transient) in logs {
        assert_eq!(error.is_transient(), transient, "{error}");
    }
}

#[test]
fn a_provider_that_asks_for_patience_says_for_how_long() {
    let asked = |retry_after| ModelError::RateLimited { retry_after }.to_string();
    assert_eq!(asked(None), "rate limit of the provider reached");
    let soon = Some(Duration::from_secs(7));
    assert_eq!(asked(soon), "rate limit of the provider reached; retry in 7 s");
}
