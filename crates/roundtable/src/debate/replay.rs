//! Which round a request was answered with, read from the log.

use std::sync::Arc;

use roundtable_core::event::{Body, Event, RoundEvent, SessionEvent};
use roundtable_ports::Receipt;

/// The round that a request asked for: the one that it was accepted for, or else the last one that had begun.
pub(super) fn round_of(log: &[Arc<Event>], receipt: &Receipt) -> u32 {
    let mut number = 1;
    for event in log.iter().take_while(|event| event.seq <= receipt.seq) {
        match &event.body {
            Body::Session(SessionEvent::SessionInputAccepted(accepted))
                if event.seq > receipt.after =>
            {
                let named = accepted.context.message_id().strip_prefix("round_");
                let named = named.and_then(|rest| rest.split('_').next()?.parse().ok());
                if let Some(named) = named {
                    return named;
                }
            }
            Body::Round(RoundEvent::RoundOpened { number: opened, .. }) => number = *opened,
            _ => {}
        }
    }
    number
}
