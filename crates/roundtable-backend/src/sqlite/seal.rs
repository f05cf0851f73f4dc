//! Events made ready for the file, by whoever appends them: everyone waits for the writer thread,
//! so what can be done before it is done before it.

use std::sync::Arc;

use roundtable_core::digest::Digest;
use roundtable_core::event::Event;
use roundtable_core::event::chain::body_digest;
use roundtable_core::json;
use roundtable_ports::LogError;

/// How many bytes of chance each body gets.
const SALT: usize = 16;

/// An event with its body as text, and the salted digest of it. What is missing is its place in
/// the chain, which only the writer knows.
pub(super) struct SealedEvent {
    pub event: Arc<Event>,
    pub version: u32,
    pub body: String,
    pub salt: [u8; SALT],
    pub digest: Digest,
}

impl SealedEvent {
    fn new(event: &Arc<Event>) -> Result<Self, LogError> {
        let (_, version, data) = event.body.to_parts().map_err(|error| {
            LogError::Unavailable(format!("an event cannot be serialized: {error}"))
        })?;
        let (body, mut salt) = (data.to_string(), [0; SALT]);
        let levels = json::text_levels(body.as_bytes());
        if levels > json::MAX_BODY_LEVELS {
            let what = format!("an event is nested too deeply ({levels} levels)");
            return Err(LogError::Unstorable { what });
        }
        getrandom::fill(&mut salt).map_err(|error| {
            LogError::Unavailable(format!("no random numbers available: {error}"))
        })?;
        let digest = body_digest(&salt, body.as_bytes());
        Ok(Self { event: event.clone(), version, body, salt, digest })
    }
}

/// Makes events ready.
pub(super) fn seal(events: &[Arc<Event>]) -> Result<Vec<SealedEvent>, LogError> {
    events.iter().map(SealedEvent::new).collect()
}
