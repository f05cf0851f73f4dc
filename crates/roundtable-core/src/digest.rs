//! Fingerprints of texts: what two things have to share to count as the same.

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

/// SHA-256 of some bytes, as lower-case hexadecimal text.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Digest(String);

impl Digest {
    /// The digest of some bytes.
    pub fn of(bytes: &[u8]) -> Self {
        const HEX: [char; 16] =
            ['0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 'a', 'b', 'c', 'd', 'e', 'f'];
        let mut text = String::with_capacity(64);
        for byte in Sha256::digest(bytes) {
            text.push(HEX[usize::from(byte >> 4)]);
            text.push(HEX[usize::from(byte & 15)]);
        }
        Self(text)
    }

    /// The digest of a value's JSON form. Maps are sorted, so equal values have equal digests.
    pub fn of_json(value: &impl Serialize) -> Self {
        // A value that has no JSON form has no content to compare: it counts as null.
        Self::of(&serde_json::to_vec(value).unwrap_or_else(|_| b"null".to_vec()))
    }

    /// The digest as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// A digest that was stored as text.
    pub fn from_stored(text: String) -> Self {
        Self(text)
    }

    /// The first 80 bits: enough inside one session, short enough for a model to copy.
    pub(crate) fn short(&self) -> &str {
        &self.0[..20]
    }
}
