//! What the operator approved of each server: the definitions of its tools, pinned by digest.

use std::collections::BTreeMap;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use roundtable_core::digest::Digest;
use roundtable_core::tool::Effect;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::report::{Finding, Report, Withheld};

/// All of a tool that a model or the engine acts on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Definition {
    /// What it does, in the server's words.
    pub description: String,
    /// The JSON Schema of its parameters.
    pub schema: Value,
    /// What repeating a call would do, by the server's hints.
    pub effect: Effect,
}

impl Definition {
    /// What has to stay the same.
    pub fn digest(&self) -> Digest {
        Digest::of_json(self)
    }
}

/// A definition that was approved.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Pin {
    /// The digest of the definition.
    pub digest: Digest,
    /// The definition, so that a change can be shown beside it.
    pub definition: Definition,
}

/// What was approved, by server and tool. A value: whoever loads it stores it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Pins(BTreeMap<String, BTreeMap<String, Pin>>);

impl Pins {
    /// Approves what a report withholds; says whether there was something to approve. It counts
    /// from the next [`super::connect`] on.
    pub fn approve(&mut self, report: &Report) -> bool {
        let Finding::Withheld { tool, why } = &report.finding else { return false };
        let (Withheld::New { offered } | Withheld::Changed { offered, .. }) = why else {
            return false;
        };
        let pin = Pin { digest: offered.digest(), definition: offered.clone() };
        self.0.entry(report.server.clone()).or_default().insert(tool.clone(), pin);
        true
    }

    /// Takes an approval back.
    pub fn revoke(&mut self, server: &str, tool: &str) {
        if let Some(tools) = self.0.get_mut(server) {
            tools.remove(tool);
        }
    }

    /// What was approved of a server.
    pub fn of(&self, server: &str) -> BTreeMap<String, Pin> {
        self.0.get(server).cloned().unwrap_or_default()
    }
}

impl Report {
    /// What a person who read the report approves: this definition of this tool of this server.
    /// Nothing when there is nothing to approve.
    pub fn approval_digest(&self) -> Option<Digest> {
        let Finding::Withheld { tool, why } = &self.finding else { return None };
        let (Withheld::New { offered } | Withheld::Changed { offered, .. }) = why else {
            return None;
        };
        Some(Digest::of_json(&(&self.server, tool, offered)))
    }
}

/// Pins could not be loaded or stored.
#[derive(Debug, thiserror::Error)]
pub enum PinsError {
    /// The place where they are kept cannot be used.
    #[error("the approved tools cannot be read or written")]
    Io(#[from] io::Error),
    /// What is kept is damaged.
    #[error("the file of approved tools is damaged; repair it, or remove it and approve again")]
    Damaged(#[from] serde_json::Error),
}

/// A JSON file with pins.
#[derive(Debug, Clone)]
pub struct PinFile(PathBuf);

impl PinFile {
    /// The file `mcp-pins.json` in the data directory.
    pub fn in_directory(directory: &Path) -> Self {
        Self(directory.join("mcp-pins.json"))
    }

    /// What was approved so far; nothing, if nothing was stored yet.
    ///
    /// # Errors
    /// [`PinsError`] when there is something that cannot be read.
    pub fn load(&self) -> Result<Pins, PinsError> {
        match std::fs::read(&self.0) {
            Ok(bytes) => Ok(serde_json::from_slice(&bytes)?),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Pins::default()),
            Err(error) => Err(error.into()),
        }
    }

    /// Stores all of it.
    ///
    /// # Errors
    /// [`PinsError`] when it could not be stored; what was there before is kept.
    pub fn store(&self, pins: &Pins) -> Result<(), PinsError> {
        // Written beside the file and renamed over it: a reader sees the old pins or the new ones.
        // The fresh file has a random name and is its owner's alone.
        let directory = self.0.parent().unwrap_or(Path::new("."));
        let mut fresh = tempfile::Builder::new().prefix(".mcp-pins-").tempfile_in(directory)?;
        fresh.write_all(&serde_json::to_vec_pretty(pins)?)?;
        fresh.as_file().sync_all()?;
        fresh.persist(&self.0).map_err(|error| error.error)?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn report(server: &str, tool: &str, description: &str) -> Report {
        let offered = Definition {
            description: description.to_owned(),
            schema: json!({ "type": "object" }),
            effect: Effect::Pure,
        };
        let finding = Finding::Withheld { tool: tool.to_owned(), why: Withheld::New { offered } };
        Report { server: server.to_owned(), finding }
    }

    #[test]
    fn s11_s12_an_approval_is_of_one_definition_of_one_tool_of_one_server() {
        let digest = |server, tool, description| {
            report(server, tool, description).approval_digest().unwrap()
        };
        let approved = digest("notes", "read", "Reads.");
        assert_eq!(approved, digest("notes", "read", "Reads."));
        assert_ne!(approved, digest("other", "read", "Reads."));
        assert_ne!(approved, digest("notes", "send", "Reads."));
        assert_ne!(approved, digest("notes", "read", "Reads and mails."));
        let gone = Finding::Gone { tool: "read".to_owned() };
        assert_eq!(Report { server: "notes".to_owned(), finding: gone }.approval_digest(), None);
    }

    #[cfg(unix)]
    #[test]
    fn pins_are_the_owners_alone_and_never_written_through_a_link() {
        use std::os::unix::fs::PermissionsExt as _;
        let directory = tempfile::tempdir().unwrap();
        let victim = directory.path().join("victim");
        std::fs::write(&victim, "precious").unwrap();
        for planted in ["mcp-pins.json", "mcp-pins.json.new"] {
            std::os::unix::fs::symlink(&victim, directory.path().join(planted)).unwrap();
        }
        let mut pins = Pins::default();
        assert!(pins.approve(&report("notes", "read", "Reads.")));
        let file = PinFile::in_directory(directory.path());
        file.store(&pins).unwrap();
        assert_eq!(file.load().unwrap(), pins);
        let mode = std::fs::symlink_metadata(&file.0).unwrap().permissions().mode();
        assert_eq!((mode & 0o777, std::fs::read(&victim).unwrap()), (0o600, b"precious".to_vec()));
    }
}
