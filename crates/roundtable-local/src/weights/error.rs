//! Why a file of weights cannot be used.

use std::io;
use std::path::PathBuf;

use thiserror::Error;

/// Why a file of weights cannot be used.
#[derive(Debug, Error)]
pub enum LoadError {
    /// It cannot be opened.
    #[error("cannot open the weights {}: {source}; fetch them, or set the path of an existing file", path.display())]
    Open {
        /// Which file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// It cannot be read.
    #[error("cannot read the weights: {0}")]
    Read(#[from] io::Error),
    /// It is not the file that this program was tested with.
    #[error(
        "the weights have the hash {found}, expected {expected}; fetch them again, or allow any \
         hash for your own file"
    )]
    Digest {
        /// The SHA-256 of the known file.
        expected: String,
        /// The SHA-256 of this one.
        found: String,
    },
    /// It does not begin like a GGUF file.
    #[error("this is not a GGUF file: it does not begin with the letters GGUF")]
    NotGguf,
    /// Another version of the format.
    #[error("unsupported GGUF version {0}; versions 2 and 3 are supported")]
    Version(u32),
    /// It ends too early.
    #[error("the file ends inside of {0}; it is damaged, fetch it again")]
    Truncated(String),
    /// It asks for more than is sensible.
    #[error("{what} would need {size} bytes; the limit is {limit}. The file is damaged")]
    TooLarge {
        /// What is too large.
        what: String,
        /// How large it says it is.
        size: u64,
        /// How large it may be.
        limit: u64,
    },
    /// Something in it makes no sense.
    #[error("{what} {why}; the file is damaged or not supported")]
    Malformed {
        /// What it is about.
        what: String,
        /// What is wrong with it.
        why: String,
    },
    /// A thread cannot be started.
    #[error("cannot start a thread for the local model: {0}")]
    Thread(io::Error),
    /// Something that is needed is not in it.
    #[error("{0} is missing; the file is damaged or not supported")]
    Missing(String),
}

impl LoadError {
    pub(crate) fn malformed(what: impl Into<String>, why: impl Into<String>) -> Self {
        Self::Malformed { what: what.into(), why: why.into() }
    }

    pub(crate) fn missing(what: impl Into<String>) -> Self {
        Self::Missing(what.into())
    }
}
