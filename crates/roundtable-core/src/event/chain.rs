//! The chain: each header is sealed with the hash of the one before it. Bodies are covered by a
//! salted digest, so a body can be erased and the chain still holds.

use super::{Event, Seq};
use crate::digest::Digest;
use crate::id::SessionId;

/// The hash before a session's first event.
pub fn genesis() -> Digest {
    Digest::of(b"roundtable")
}

/// The digest of a body. Without the salt, an erased body could be guessed from its digest.
pub fn body_digest(salt: &[u8], data: &[u8]) -> Digest {
    Digest::of(&[salt, data].concat())
}

/// A header, as it is hashed: lines of text, so that any language can check it.
pub struct Header<'a> {
    /// The session.
    pub session: &'a SessionId,
    /// The position.
    pub seq: Seq,
    /// The writer's epoch.
    pub epoch: u64,
    /// When it was decided, in nanoseconds since 1970.
    pub at: i64,
    /// What kind of event it is.
    pub kind: &'a str,
    /// The version of the kind.
    pub version: u32,
    /// Round, turn, iteration and tool call; empty where there is none.
    pub place: [&'a str; 4],
    /// The salted digest of the body.
    pub body: &'a Digest,
}

impl Header<'_> {
    /// The hash of this header after the one with the hash `before`.
    pub fn hash(&self, before: &Digest) -> Digest {
        let [round, turn, iteration, tool_call] = self.place;
        let text = format!(
            "{}\n{}\n{}\n{}\n{}\n{}\n{}\n{round}\n{turn}\n{iteration}\n{tool_call}\n{}",
            before.as_str(),
            self.session,
            self.seq,
            self.epoch,
            self.at,
            self.kind,
            self.version,
            self.body.as_str()
        );
        Digest::of(text.as_bytes())
    }
}

impl Event {
    /// The ids of the event's place, as a header has them.
    pub fn place_ids(&self) -> [&str; 4] {
        let place = &self.place;
        [
            place.round.as_ref().map_or("", |id| id.as_str()),
            place.turn.as_ref().map_or("", |id| id.as_str()),
            place.iteration.as_ref().map_or("", |id| id.as_str()),
            place.tool_call.as_ref().map_or("", |id| id.as_str()),
        ]
    }
}
