//! Whether the configuration file is still the one that was read, told without reading it.

use std::os::unix::fs::MetadataExt as _;
use std::path::PathBuf;
use std::time::SystemTime;

use super::place::{self, Platform};
use super::{Config, Options};

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
    /// Looks at the file that would be read now.
    pub(super) fn take(options: &Options) -> Self {
        let found =
            place::config_file(options.config.as_deref(), Platform::here(), &super::variable);
        Self(found.map(|(path, _)| {
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
        Stamp::take(&self.options)
    }
}
