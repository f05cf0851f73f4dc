//! The one file of weights that this program was tested with, known by its hash.

use std::fmt::Write as _;
use std::io::{Read, Seek};

use sha2::{Digest as _, Sha256};

use super::LoadError;

/// The name of the file of SmolLM2-135M-Instruct.
pub const SMOLLM2_FILE: &str = "SmolLM2-135M-Instruct.Q4_1.gguf";
/// The SHA-256 of that file.
pub const SMOLLM2_SHA256: &str = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53";

/// Reads a file to its end, and accepts it if its hash is `expected`.
pub(crate) fn check_digest(
    source: &mut (impl Read + Seek),
    expected: &str,
) -> Result<(), LoadError> {
    source.rewind()?;
    let mut hasher = Sha256::new();
    let mut buffer = vec![0; 1 << 20];
    loop {
        let count = source.read(&mut buffer)?;
        if count == 0 {
            break;
        }
        hasher.update(&buffer[..count]);
    }
    let mut found = String::new();
    for byte in hasher.finalize() {
        // Writing to a string cannot go wrong.
        let _ = write!(found, "{byte:02x}");
    }
    if found == expected {
        return Ok(());
    }
    Err(LoadError::Digest { expected: expected.into(), found })
}
