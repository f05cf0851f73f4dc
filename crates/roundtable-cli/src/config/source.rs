//! The configuration file that is read: where it was found, who answers for it, and its bytes.

use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use roundtable::core::digest::Digest;

use super::mistake::{Mistake, Mistakes};
use super::origin::{Key, Origin};

/// How long a configuration file may be. A foreign directory must not be able to fill the memory.
const LONGEST: u64 = 1024 * 1024;

/// Who answers for a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Standing {
    /// The user named it, with a flag or a variable.
    Named,
    /// It is in the user's own configuration directory.
    Own,
    /// It was found in the current directory, which may be anybody's.
    Project,
}

/// Where commands look for a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scope {
    /// For commands at the terminal: the current directory, then the user's own file.
    Project,
    /// For servers, which editors and supervisors start in any directory: the user's own file.
    Own,
}

/// A configuration file. Its place is fixed when it is found: what appears elsewhere later, or a
/// change of the current directory, does not lead to another file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Source {
    /// The path as people know it.
    pub path: PathBuf,
    /// The path that is read.
    pub absolute: PathBuf,
    pub standing: Standing,
    /// Who named it.
    pub origin: Origin,
}

/// The content of a file, read once: the digest is that of the text that is parsed.
pub(super) struct Content {
    pub text: String,
    pub digest: Digest,
}

impl Source {
    pub fn new(path: PathBuf, standing: Standing, origin: Origin) -> Self {
        let absolute = std::path::absolute(&path).unwrap_or_else(|_| path.clone());
        Self { path, absolute, standing, origin }
    }

    /// Reads all of it.
    pub fn read(&self) -> Result<Content, Mistakes> {
        let bytes = self.bytes().map_err(|why| self.unreadable(&why))?;
        let digest = Digest::of(&bytes);
        let text = String::from_utf8(bytes).map_err(|_| self.unreadable("it is not UTF-8"))?;
        Ok(Content { text, digest })
    }

    fn bytes(&self) -> Result<Vec<u8>, String> {
        let file = File::open(&self.absolute).map_err(|error| error.to_string())?;
        // A user may name a pipe; one that lies in a directory would keep every command waiting.
        let is_regular = file.metadata().is_ok_and(|found| found.is_file());
        if self.standing == Standing::Project && !is_regular {
            return Err("it is not a regular file".to_owned());
        }
        let mut bytes = Vec::new();
        file.take(LONGEST + 1).read_to_end(&mut bytes).map_err(|error| error.to_string())?;
        if bytes.len() as u64 > LONGEST {
            return Err(format!("it has more than {LONGEST} bytes"));
        }
        Ok(bytes)
    }

    fn unreadable(&self, why: &str) -> Mistakes {
        let what = format!("{} cannot be read: {why}", self.path.display());
        Mistake { origin: self.origin.clone(), key: Key::default(), what }.into()
    }
}

/// Whether two paths lead to the same file.
pub(super) fn is_same(one: &Path, other: &Path) -> bool {
    match (one.canonicalize(), other.canonicalize()) {
        (Ok(one), Ok(other)) => one == other,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(path: PathBuf) -> Source {
        Source::new(path, Standing::Project, Origin::usual())
    }

    #[test]
    fn what_is_digested_is_what_is_parsed() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("roundtable.toml");
        std::fs::write(&path, "[defaults]\n").unwrap();
        let content = source(path).read().unwrap();
        assert_eq!(content.digest, Digest::of(content.text.as_bytes()));
    }

    #[test]
    fn a_file_that_is_huge_or_binary_or_no_file_is_refused() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("roundtable.toml");
        let refused = |path: &Path| {
            let told = source(path.to_owned()).read().err().unwrap().to_string();
            told.rsplit_once("cannot be read: ").unwrap().1.to_owned()
        };
        std::fs::write(&path, vec![b'#'; 1024 * 1024 + 1]).unwrap();
        assert_eq!(refused(&path), "it has more than 1048576 bytes");
        std::fs::write(&path, [0xff]).unwrap();
        assert_eq!(refused(&path), "it is not UTF-8");
        assert_eq!(refused(directory.path()), "it is not a regular file");
    }
}
