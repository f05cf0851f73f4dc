//! Reading little-endian numbers and texts from the head of a file, never past a limit.

use std::io::Read;

use super::LoadError;

/// The head of the largest known vocabularies has 10 MB.
const MOST_BYTES: u64 = 32 << 20;
/// No key, name or token is longer.
const MOST_TEXT: u64 = 1 << 16;

/// A position in the head of a file, and how far it may go.
pub(super) struct Cursor<R> {
    source: R,
    position: u64,
    limit: u64,
}

impl<R: Read> Cursor<R> {
    /// Reads a file of so many bytes from its beginning.
    pub(super) fn new(source: R, length: u64) -> Self {
        Self { source, position: 0, limit: length.min(MOST_BYTES) }
    }

    pub(super) fn position(&self) -> u64 {
        self.position
    }

    /// The next bytes; `what` is for the error.
    pub(super) fn array<const N: usize>(&mut self, what: &str) -> Result<[u8; N], LoadError> {
        self.claim(N as u64, what)?;
        let mut bytes = [0; N];
        self.source.read_exact(&mut bytes)?;
        Ok(bytes)
    }

    pub(super) fn u32(&mut self, what: &str) -> Result<u32, LoadError> {
        self.array(what).map(u32::from_le_bytes)
    }

    pub(super) fn u64(&mut self, what: &str) -> Result<u64, LoadError> {
        self.array(what).map(u64::from_le_bytes)
    }

    /// A text with its length before it.
    pub(super) fn text(&mut self, what: &str) -> Result<String, LoadError> {
        let size = self.u64(what)?;
        if size > MOST_TEXT {
            return Err(LoadError::TooLarge { what: what.into(), size, limit: MOST_TEXT });
        }
        self.claim(size, what)?;
        let mut bytes = vec![0; usize::try_from(size).unwrap_or(0)];
        self.source.read_exact(&mut bytes)?;
        String::from_utf8(bytes).map_err(|_| LoadError::malformed(what, "is not UTF-8"))
    }

    /// Moves on, unless that leads past the end.
    fn claim(&mut self, size: u64, what: &str) -> Result<(), LoadError> {
        let end = self.position.checked_add(size).filter(|end| *end <= self.limit);
        self.position = end.ok_or_else(|| LoadError::Truncated(what.into()))?;
        Ok(())
    }
}
