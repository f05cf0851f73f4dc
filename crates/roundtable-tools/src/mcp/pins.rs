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

/// Where pins are kept.
pub trait PinStore {
    /// What was approved so far; nothing, if nothing was stored yet.
    ///
    /// # Errors
    /// [`PinsError`] when there is something that cannot be read.
    fn load(&self) -> Result<Pins, PinsError>;

    /// Stores all of it.
    ///
    /// # Errors
    /// [`PinsError`] when it could not be stored; what was there before is kept.
    fn store(&self, pins: &Pins) -> Result<(), PinsError>;
}

/// A JSON file with pins.
#[derive(Debug, Clone)]
pub struct PinFile(PathBuf);

impl PinFile {
    /// The file `mcp-pins.json` in the data directory.
    pub fn in_directory(directory: &Path) -> Self {
        Self(directory.join("mcp-pins.json"))
    }
}

impl PinStore for PinFile {
    fn load(&self) -> Result<Pins, PinsError> {
        match std::fs::read(&self.0) {
            Ok(bytes) => Ok(serde_json::from_slice(&bytes)?),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Pins::default()),
            Err(error) => Err(error.into()),
        }
    }

    fn store(&self, pins: &Pins) -> Result<(), PinsError> {
        // Written beside the file and renamed over it: a reader sees the old pins or the new ones.
        let beside = self.0.with_extension("json.new");
        let mut file = std::fs::File::create(&beside)?;
        file.write_all(&serde_json::to_vec_pretty(pins)?)?;
        file.sync_all()?;
        Ok(std::fs::rename(&beside, &self.0)?)
    }
}
