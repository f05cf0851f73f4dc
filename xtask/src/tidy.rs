//! `cargo xtask tidy`: the rules of this repository that compilers and lints do not know. Each rule is a pure function
//! from what was read to findings; reading is done here, once.

mod bans;
mod direction;
#[cfg(test)]
mod fixture;
mod pins;
mod purity;
mod sizes;
mod text;
mod voice;

use std::fmt;
use std::fs;
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::shell;

/// A text file of the repository that is tracked, or would be.
struct SourceFile {
    /// From the root, with forward slashes.
    path: String,
    text: String,
}

/// A broken rule: where, what, and what to do about it.
#[derive(Debug, PartialEq, Eq)]
struct Finding {
    place: String,
    message: String,
}

pub fn tidy() -> Result<()> {
    let files = source_files()?;
    let metadata = shell::metadata()?;
    let exceptions = read(sizes::EXCEPTIONS)?;
    for note in sizes::notes(&files) {
        println!("note: {note}");
    }
    let findings: Vec<Finding> = [
        sizes::check(&files, &exceptions),
        direction::check(&metadata),
        purity::check_dependencies(&metadata),
        bans::check(&files),
        voice::check(&files),
        pins::check(&metadata, &read("Cargo.toml")?)?,
    ]
    .into_iter()
    .flatten()
    .collect();
    for finding in &findings {
        println!("{finding}");
    }
    if !findings.is_empty() {
        bail!("tidy found {} to put right", count(findings.len(), "thing"));
    }
    println!(
        "tidy: {} and {}, nothing to put right",
        count(files.len(), "file"),
        packages(&metadata)
    );
    Ok(())
}

impl Finding {
    fn new(place: impl Into<String>, message: impl Into<String>) -> Self {
        Self { place: place.into(), message: message.into() }
    }

    fn at(file: &SourceFile, line: usize, message: impl Into<String>) -> Self {
        Self::new(format!("{}:{line}", file.path), message)
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.message)
    }
}

fn source_files() -> Result<Vec<SourceFile>> {
    let mut git = Command::new("git");
    git.args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"])
        .current_dir(shell::root());
    let listed = git.output().context("tidy asks git for the files; is git installed?")?;
    if !listed.status.success() {
        bail!(
            "`{}` failed: {}",
            shell::shown(&git),
            String::from_utf8_lossy(&listed.stderr).trim()
        );
    }
    let names = String::from_utf8(listed.stdout).context("file names are UTF-8")?;
    let mut paths: Vec<_> = names.split_terminator('\0').collect();
    paths.sort_unstable();
    paths.dedup();
    Ok(paths.into_iter().filter_map(text_file).collect())
}

/// `None` for what is not text, and for a tracked file that was deleted.
fn text_file(path: &str) -> Option<SourceFile> {
    let text = fs::read_to_string(shell::root().join(path)).ok()?;
    (!text.contains('\0')).then(|| SourceFile { path: path.into(), text })
}

fn read(path: &str) -> Result<String> {
    fs::read_to_string(shell::root().join(path)).with_context(|| format!("cannot read {path}"))
}

fn count(number: usize, noun: &str) -> String {
    if number == 1 { format!("1 {noun}") } else { format!("{number} {noun}s") }
}

fn packages(metadata: &cargo_metadata::Metadata) -> String {
    count(metadata.packages.len(), "package")
}

/// A file for the tests of the rules.
#[cfg(test)]
fn file(path: &str, text: &str) -> SourceFile {
    SourceFile { path: path.into(), text: text.into() }
}
