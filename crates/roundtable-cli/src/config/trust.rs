//! Which project files the user trusts: a record of path and content digest for each, in the user's
//! own configuration directory. A file that changed is not trusted any more.

use std::fmt;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use roundtable::core::digest::Digest;
use serde::{Deserialize, Serialize};

use super::place::{Platform, quoted};
use super::sensitive::Entry;
use super::source::{Content, Source};
use super::variables::Variable;
use crate::out;
use crate::replace::replace;

/// How many entries a refusal lists. The command that trusts shows all.
const LISTED: usize = 12;

/// How much of a value a refusal shows.
const SHOWN: usize = 100;

/// A project file that the user trusted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Record {
    /// Where it is.
    pub path: String,
    /// The SHA-256 of its content.
    pub digest: Digest,
}

/// Where the records are kept.
pub(super) struct Trust {
    directory: PathBuf,
}

impl Trust {
    /// The records of this user; nothing where there is no configuration directory.
    pub fn of_user(platform: Platform, variable: Variable<'_>) -> Option<Self> {
        Some(Self { directory: platform.config_dir(variable)?.join("trusted") })
    }

    /// Whether the user trusted this content at this place.
    pub fn has(&self, source: &Source, content: &Content) -> bool {
        place(source)
            .and_then(|path| self.find(&path))
            .is_some_and(|it| it.digest == content.digest)
    }

    /// Whether the user trusted another content at this place.
    pub fn knows(&self, source: &Source) -> bool {
        place(source).and_then(|path| self.find(&path)).is_some()
    }

    fn find(&self, path: &Path) -> Option<Record> {
        let text = std::fs::read_to_string(self.file(path)).ok()?;
        serde_json::from_str(&text).ok()
    }

    /// A file for each place, so that two commands at once cannot lose each other's record.
    fn file(&self, path: &Path) -> PathBuf {
        let name = Digest::of(path.as_os_str().as_encoded_bytes());
        self.directory.join(format!("{}.json", name.as_str()))
    }

    /// Records that the user trusts this content at this place.
    pub fn add(&self, source: &Source, content: &Content) -> anyhow::Result<()> {
        let path = place(source).context("the current directory cannot be resolved")?;
        make_private(&self.directory)
            .with_context(|| format!("creating {}", self.directory.display()))?;
        let record = Record { path: path.display().to_string(), digest: content.digest.clone() };
        let text = format!("{}\n", serde_json::to_string_pretty(&record)?);
        let file = self.file(&path);
        replace(&file, text.as_bytes()).with_context(|| format!("writing {}", file.display()))
    }

    /// Withdraws the trust; says whether there was any.
    pub fn remove(&self, source: &Source) -> anyhow::Result<bool> {
        let path = place(source).context("the current directory cannot be resolved")?;
        let file = self.file(&path);
        match std::fs::remove_file(&file) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(error).with_context(|| format!("removing {}", file.display())),
        }
    }

    /// All records, by path.
    pub fn list(&self) -> Vec<Record> {
        let entries = std::fs::read_dir(&self.directory).into_iter().flatten().flatten();
        let texts = entries.filter_map(|entry| std::fs::read_to_string(entry.path()).ok());
        let mut records: Vec<Record> =
            texts.filter_map(|text| serde_json::from_str(&text).ok()).collect();
        records.sort_by(|a, b| a.path.cmp(&b.path));
        records
    }
}

/// What a record is about: the directory without links, and the name in it. A link to a file that is
/// trusted elsewhere is another place, because relative paths in it lead elsewhere.
fn place(source: &Source) -> Option<PathBuf> {
    let directory = source.absolute.parent()?.canonicalize().ok()?;
    Some(directory.join(source.absolute.file_name()?))
}

fn make_private(directory: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::DirBuilderExt as _;
    std::fs::DirBuilder::new().mode(0o700).recursive(true).create(directory)
}

/// A project file that names what only a user may decide on, and that is not trusted.
#[derive(Debug)]
pub(crate) struct UntrustedFile {
    path: PathBuf,
    absolute: PathBuf,
    entries: Vec<Entry>,
    changed: bool,
}

impl UntrustedFile {
    pub fn new(source: &Source, entries: Vec<Entry>, changed: bool) -> Self {
        let (path, absolute) = (source.path.clone(), source.absolute.clone());
        Self { path, absolute, entries, changed }
    }
}

impl fmt::Display for UntrustedFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = self.path.display();
        let since =
            if self.changed { "has changed since it was trusted" } else { "is not trusted" };
        writeln!(f, "{path} {since}. Nothing was started. It sets:")?;
        for entry in self.entries.iter().take(LISTED) {
            writeln!(f, "  {}", line(&path, entry, &out::line(&entry.brief, SHOWN)))?;
        }
        if let Some(more) = self.entries.len().checked_sub(LISTED).filter(|more| *more > 0) {
            writeln!(f, "  … and {more} more")?;
        }
        write!(
            f,
            "hint: run `roundtable config trust` to review and trust it; or pass `--config {}` to \
             use it once, or `--config /dev/null` to ignore it",
            quoted(&self.absolute)
        )
    }
}

impl std::error::Error for UntrustedFile {}

/// An entry with its place.
pub(super) fn line(path: &dyn fmt::Display, entry: &Entry, value: &str) -> String {
    let place = entry.line.map_or_else(String::new, |line| format!("{path}:{line}: "));
    // A value of several lines must not look like entries of their own.
    format!("{place}{} = {}", entry.key, value.replace('\n', "\n      "))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use super::*;
    use crate::config::origin::{Key, Origin};
    use crate::config::source::Standing;

    fn source(path: &Path) -> Source {
        Source::new(path.to_owned(), Standing::Project, Origin::usual())
    }

    fn content(text: &str) -> Content {
        Content { text: text.to_owned(), digest: Digest::of(text.as_bytes()) }
    }

    #[test]
    fn trust_is_of_a_content_at_a_place_and_ends_when_either_changes() {
        let directory = tempfile::tempdir().unwrap();
        let trust = Trust { directory: directory.path().join("config/trusted") };
        let (one, other) = (directory.path().join("one"), directory.path().join("other"));
        for project in [&one, &other] {
            std::fs::create_dir(project).unwrap();
        }
        let file = source(&one.join("roundtable.toml"));
        assert!(!trust.has(&file, &content("a")) && !trust.knows(&file));
        trust.add(&file, &content("a")).unwrap();
        assert!(trust.has(&file, &content("a")));
        assert!(!trust.has(&file, &content("b")) && trust.knows(&file));
        let elsewhere = source(&other.join("roundtable.toml"));
        assert!(!trust.has(&elsewhere, &content("a")));
        symlink(one.join("roundtable.toml"), other.join("roundtable.toml")).unwrap();
        assert!(!trust.has(&elsewhere, &content("a")), "a link is another place");
        let path = one.canonicalize().unwrap().join("roundtable.toml").display().to_string();
        assert_eq!(trust.list(), [Record { path, digest: content("a").digest }]);
        assert!(trust.remove(&file).unwrap() && !trust.remove(&file).unwrap());
        assert!(!trust.has(&file, &content("a")));
    }

    #[test]
    fn records_are_the_users_alone() {
        let directory = tempfile::tempdir().unwrap();
        let trust = Trust { directory: directory.path().join("trusted") };
        let file = source(&directory.path().join("roundtable.toml"));
        trust.add(&file, &content("a")).unwrap();
        let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
        let record = std::fs::read_dir(&trust.directory).unwrap().next().unwrap().unwrap().path();
        assert_eq!((mode(&trust.directory), mode(&record)), (0o700, 0o600));
    }

    #[test]
    fn a_refusal_lists_what_the_file_sets_in_a_bounded_way_and_the_command_to_run() {
        let entry = |number: usize| Entry {
            line: Some(number),
            key: Key::of(["mcp", "x", "command"]),
            value: String::new(),
            brief: "x".repeat(50 * number),
        };
        let file = source(Path::new("/p/roundtable.toml"));
        let told = UntrustedFile::new(&file, (1..=14).map(entry).collect(), false).to_string();
        assert!(told.starts_with("/p/roundtable.toml is not trusted. Nothing was started. It sets:\n  /p/roundtable.toml:1: mcp.x.command = "), "{told}");
        assert!(told.contains("\n  … and 2 more\nhint: run `roundtable config trust` "), "{told}");
        assert!(told.lines().all(|line| line.chars().count() < 200), "{told}");
    }
}
