//! Fingerprints of texts: what two things have to share to count as the same.

use std::fmt::{self, Write as _};

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

/// SHA-256 of some bytes, as lower-case hexadecimal text.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Digest(String);

impl Digest {
    /// The digest of some bytes.
    pub fn of(bytes: &[u8]) -> Self {
        let digest = Sha256::digest(bytes);
        let mut text = String::with_capacity(2 * digest.len());
        push_hex(&mut text, &digest);
        Self(text)
    }

    /// Adds the [`Digest::short`] of a text that is put together on the way.
    pub(crate) fn push_short(to: &mut String, text: fmt::Arguments<'_>) {
        let mut hashing = Hashing(Sha256::new());
        // Nothing can go wrong with what is only hashed.
        let _ = hashing.write_fmt(text);
        push_hex(to, &hashing.0.finalize()[..SHORT / 2]);
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
        &self.0[..SHORT]
    }
}

/// How many digits a short digest has.
pub(crate) const SHORT: usize = 20;

/// Hashes what is written to it.
struct Hashing(Sha256);

impl fmt::Write for Hashing {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.0.update(text.as_bytes());
        Ok(())
    }
}

fn push_hex(to: &mut String, bytes: &[u8]) {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    for byte in bytes {
        for digit in [byte >> 4, byte & 15] {
            to.push(char::from(HEX[usize::from(digit)]));
        }
    }
}
