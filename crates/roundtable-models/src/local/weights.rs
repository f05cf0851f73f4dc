//! The files that the local models are made of, as they were pinned: their names, sizes and hashes.
//! A file with another hash is another model, or a damaged one.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};

/// How much is read at once.
const PIECE: usize = 1 << 20;

/// A file of weights.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WeightFile {
    /// Its path below the directory of weights.
    pub name: &'static str,
    /// How long it is.
    pub bytes: u64,
    /// The hash of its content, in hexadecimal digits.
    pub sha256: &'static str,
}

/// What generates text: SmolLM2-135M-Instruct, quantised to four bits.
pub const GENERATOR: WeightFile = WeightFile {
    name: "SmolLM2-135M-Instruct.Q4_1.gguf",
    bytes: 98_362_432,
    sha256: "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
};

/// The folder of the embedder's files.
pub const EMBEDDER: &str = "all-MiniLM-L6-v2";

/// What makes vectors of text: all-MiniLM-L6-v2.
pub const EMBEDDER_FILES: [WeightFile; 3] = [
    WeightFile {
        name: "all-MiniLM-L6-v2/model.safetensors",
        bytes: 90_868_376,
        sha256: "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    },
    WeightFile {
        name: "all-MiniLM-L6-v2/vocab.txt",
        bytes: 231_508,
        sha256: "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3",
    },
    WeightFile {
        name: "all-MiniLM-L6-v2/tokenizer.json",
        bytes: 466_247,
        sha256: "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
    },
];

/// Why a file is not the one that was pinned.
#[derive(Debug, thiserror::Error)]
pub enum WeightError {
    /// It is not there.
    #[error("{} is not installed; run `roundtable models fetch`", .path.display())]
    Missing {
        /// Where it was looked for.
        path: PathBuf,
    },
    /// It is too long or too short.
    #[error("{} has {found} bytes instead of {wanted}; run `roundtable models fetch` again", .path.display())]
    Size {
        /// The file.
        path: PathBuf,
        /// How long it is.
        found: u64,
        /// How long it has to be.
        wanted: u64,
    },
    /// Its content is another one.
    #[error("{} is damaged (SHA-256 {found}); run `roundtable models fetch` again", .path.display())]
    Content {
        /// The file.
        path: PathBuf,
        /// The hash of what it holds.
        found: String,
    },
    /// It cannot be read.
    #[error("{} cannot be read: {error}", .path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        error: io::Error,
    },
}

impl WeightFile {
    /// Whether a file is this one, to the last byte.
    ///
    /// # Errors
    /// [`WeightError`] says in what it differs.
    pub fn check(&self, path: &Path) -> Result<(), WeightError> {
        self.check_size(path)?;
        let found = digest(path)?;
        if found == self.sha256 {
            return Ok(());
        }
        Err(WeightError::Content { path: path.to_owned(), found })
    }

    /// Whether a file is there and as long as this one: what can be told without reading it.
    ///
    /// # Errors
    /// [`WeightError`] says in what it differs.
    pub fn check_size(&self, path: &Path) -> Result<(), WeightError> {
        let found = match std::fs::metadata(path) {
            Ok(found) if found.is_file() => found.len(),
            Ok(_) => return Err(WeightError::Missing { path: path.to_owned() }),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(WeightError::Missing { path: path.to_owned() });
            }
            Err(error) => return Err(unreadable(path, error)),
        };
        if found == self.bytes {
            return Ok(());
        }
        Err(WeightError::Size { path: path.to_owned(), found, wanted: self.bytes })
    }
}

fn unreadable(path: &Path, error: io::Error) -> WeightError {
    WeightError::Unreadable { path: path.to_owned(), error }
}

/// The hash of a file's content, in hexadecimal digits.
pub(super) fn digest(path: &Path) -> Result<String, WeightError> {
    hash(path).map_err(|error| unreadable(path, error))
}

fn hash(path: &Path) -> io::Result<String> {
    let (mut file, mut hasher) = (File::open(path)?, Sha256::new());
    let mut piece = vec![0; PIECE];
    loop {
        let count = file.read(&mut piece)?;
        let Some(read) = piece.get(..count).filter(|read| !read.is_empty()) else { break };
        hasher.update(read);
    }
    Ok(hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    const ABC: WeightFile = WeightFile {
        name: "abc",
        bytes: 3,
        sha256: "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
    };

    #[test]
    fn a_file_is_the_pinned_one_or_it_is_said_in_what_it_differs() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("abc");
        let told = |path: &Path| {
            let told = ABC.check(path).map_err(|error| error.to_string()).unwrap_err();
            told.replace(&directory.path().display().to_string(), "…")
        };
        assert_eq!(told(&path), "…/abc is not installed; run `roundtable models fetch`");
        assert!(told(directory.path()).starts_with("… is not installed"));
        std::fs::write(&path, "ab").unwrap();
        assert!(told(&path).starts_with("…/abc has 2 bytes instead of 3; "));
        std::fs::write(&path, "abd").unwrap();
        assert!(told(&path).starts_with("…/abc is damaged (SHA-256 "));
        assert!(ABC.check_size(&path).is_ok(), "its length alone is right");
        std::fs::write(&path, "abc").unwrap();
        assert!(ABC.check(&path).is_ok());
    }
}
