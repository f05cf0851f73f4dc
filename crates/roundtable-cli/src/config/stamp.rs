//! Whether the configuration file is still the one that was read, told without reading it.

use std::os::unix::fs::MetadataExt as _;
use std::path::PathBuf;
use std::time::SystemTime;

use super::Config;
use super::source::Source;

/// A file as it is from outside. Files that are replaced by another differ even when they are as long
/// and as old.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Stamp(Option<(PathBuf, Option<Traits>)>);

#[derive(Debug, Clone, PartialEq, Eq)]
struct Traits {
    written: Option<SystemTime>,
    length: u64,
    number: u64,
}

impl Stamp {
    /// Looks at the file.
    pub(super) fn take(source: Option<&Source>) -> Self {
        Self(source.map(|source| {
            let path = source.absolute.clone();
            let traits = std::fs::metadata(&path).ok().map(|it| Traits {
                written: it.modified().ok(),
                length: it.len(),
                number: it.ino(),
            });
            (path, traits)
        }))
    }
}

impl Config {
    /// The file as it was when it was read.
    pub fn stamp(&self) -> &Stamp {
        &self.stamp
    }

    /// The file as it is now.
    pub fn stamp_now(&self) -> Stamp {
        Stamp::take(self.source.as_ref())
    }
}
