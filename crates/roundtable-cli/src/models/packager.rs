//! The programs that can get a Python package, in the order in which they are tried.

use std::ffi::OsString;
use std::io::{self, Read as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

/// The file that says what to get.
pub(super) const REQUIREMENTS: &str = "requirements.txt";
/// Where pip puts the package.
pub(super) const DOWNLOADED: &str = "downloaded";
/// Where uv unpacks it.
pub(super) const UNPACKED: &str = "unpacked";

/// How much of what a packager complains about is read.
const HEARD: u64 = 64 * 1024;
/// How often is looked how far it is.
const LOOK: Duration = Duration::from_millis(100);

/// A program that can get a package.
#[derive(Debug, Clone)]
pub(super) struct Packager {
    /// What people call it.
    pub name: &'static str,
    pub program: OsString,
    pub arguments: Vec<&'static str>,
}

/// What came of trying one.
pub(super) enum FetchAttempt {
    /// It got the package.
    Done,
    /// It is not there, or it could not: why.
    Failed(String),
}

/// All of them. `pip download` installs nothing, so it works where a system's Python is not to be
/// changed.
pub(super) fn packagers() -> Vec<Packager> {
    const PIP: [&str; 12] = [
        "download",
        "--quiet",
        "--no-input",
        "--disable-pip-version-check",
        "--no-cache-dir",
        "--no-deps",
        "--ignore-requires-python",
        "--only-binary",
        ":all:",
        "--require-hashes",
        "--dest",
        DOWNLOADED,
    ];
    const UV: [&str; 9] = [
        "pip",
        "install",
        "--quiet",
        "--no-deps",
        "--only-binary",
        ":all:",
        "--require-hashes",
        "--target",
        UNPACKED,
    ];
    let packager = |name: &'static str, first: &[&'static str], rest: &[&'static str]| Packager {
        name,
        program: name.split(' ').next().unwrap_or(name).into(),
        arguments: [first, rest, &["--requirement", REQUIREMENTS]].concat(),
    };
    vec![
        packager("python3 -m pip", &["-m", "pip"], &PIP),
        packager("pip3", &[], &PIP),
        packager("pip", &[], &PIP),
        packager("uv", &[], &UV),
    ]
}

impl Packager {
    /// Gets what the requirements in a folder say. `without` are variables that are nobody's
    /// business but ours; all others it may need for its proxies and mirrors. `look` is called
    /// while it works.
    pub fn run(&self, folder: &Path, without: &[String], look: &mut dyn FnMut()) -> FetchAttempt {
        let mut command = Command::new(&self.program);
        command.args(&self.arguments).current_dir(folder);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        // What it has half is then in this folder too, where it is counted and cleaned up.
        command.env("TMPDIR", folder);
        without.iter().for_each(|name| {
            command.env_remove(name);
        });
        match command.spawn() {
            Ok(child) => wait(child, look),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                FetchAttempt::Failed("not found".to_owned())
            }
            Err(error) => FetchAttempt::Failed(error.to_string()),
        }
    }
}

fn wait(mut child: Child, look: &mut dyn FnMut()) -> FetchAttempt {
    let (sender, heard) = mpsc::sync_channel(1);
    let errors = child.stderr.take();
    std::thread::spawn(move || {
        let mut text = Vec::new();
        if let Some(mut errors) = errors {
            let _ = errors.by_ref().take(HEARD).read_to_end(&mut text);
            let _ = io::copy(&mut errors, &mut io::sink());
        }
        let _ = sender.send(String::from_utf8_lossy(&text).into_owned());
    });
    let text = loop {
        match heard.recv_timeout(LOOK) {
            Ok(text) => break text,
            Err(mpsc::RecvTimeoutError::Timeout) => look(),
            Err(mpsc::RecvTimeoutError::Disconnected) => break String::new(),
        }
    };
    match child.wait() {
        Ok(status) if status.success() => FetchAttempt::Done,
        Ok(status) => FetchAttempt::Failed(complaint(&text).unwrap_or_else(|| status.to_string())),
        Err(error) => FetchAttempt::Failed(error.to_string()),
    }
}

/// The line that says what is wrong: packagers put it last, and some begin it with "error".
fn complaint(text: &str) -> Option<String> {
    let lines = || text.lines().map(str::trim).filter(|line| !line.is_empty());
    let is_error = |line: &&str| line.to_lowercase().starts_with("error");
    lines().rfind(is_error).or_else(|| lines().next_back()).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_what_a_packager_says_the_error_is_repeated() {
        let told = "WARNING: slow\nERROR: No matching distribution found for x==1\n\nnotice: new\n";
        assert_eq!(complaint(told).unwrap(), "ERROR: No matching distribution found for x==1");
        assert_eq!(
            complaint("usr/bin/python3: No module named pip\n").unwrap(),
            "usr/bin/python3: No module named pip"
        );
        assert_eq!(complaint(" \n"), None);
    }
}
