//! A debate as a file: JSON that people and programs read, and that can be read back.

use serde::Deserialize as _;
use serde_json::{Map, Value, json};

use super::usage::{inward, outward, rename};
use super::{Record, RecordedRound, Synthesis};
use roundtable_core::{json as limited_json, spelled};

/// What the file says it is.
const FORMAT: &str = "roundtable-debate";

/// The version of its form. Version 1 has costs in millionths of a dollar under other names.
const VERSION: u32 = 2;

/// The largest file that is read.
const MOST_BYTES: usize = 16 * 1024 * 1024;

/// Why a file is not read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ImportError {
    /// It is larger than any export.
    #[error("the file has {bytes} bytes; the limit is {MOST_BYTES}")]
    TooLarge {
        /// How large it is.
        bytes: usize,
    },
    /// It is no JSON, or no export.
    #[error("this is not an exported debate: {what}")]
    NotAnExport {
        /// What is wrong.
        what: String,
    },
    /// A newer version wrote it.
    #[error(
        "this export has version {found}, and this build supports version {VERSION}; update roundtable to import it"
    )]
    Newer {
        /// Its version.
        found: u64,
    },
    /// What it says cannot be.
    #[error("the exported debate is incomplete: {what}")]
    Broken {
        /// What is wrong.
        what: String,
    },
}

/// What is known of a round by reading its turns, for those who read the file.
fn consensus_entry(record: &Record, round: &RecordedRound) -> Value {
    let consensus = record.consensus_of(round);
    let mut entry = json!({
        "roundNumber": consensus.number,
        "agreementScore": consensus.agreement,
        "summary": consensus.summary,
    });
    if let Some(Ok(analysis)) = record.analysis(round) {
        entry["analysis"] = json!(analysis);
        let disagreements = entry["analysis"]["disagreements"].as_array_mut();
        for view in disagreements.into_iter().flatten().flat_map(|it| it["views"].as_array_mut()) {
            let views = view.iter_mut().filter_map(Value::as_object_mut);
            views.for_each(|view| rename(view, "agentId", "agent", |agent| agent));
        }
    }
    entry
}

/// The fields of requests and results that the log spells otherwise than everyone outside
/// (R000-2). An import reads both.
const OUTWARD: [(&str, &str); 3] =
    [("agent", "agentId"), ("at", "timestamp"), ("request", "requestId")];

/// Gives requests and results the names that they have outside.
fn rename_outward(record: &mut Map<String, Value>) {
    rename_all(record.get_mut("pendingContextRequests"));
    let rounds = record.get_mut("rounds").and_then(Value::as_array_mut);
    for round in rounds.into_iter().flatten() {
        rename_all(round.get_mut("requests"));
        rename_all(round.get_mut("provided"));
    }
}

fn rename_all(list: Option<&mut Value>) {
    let entries = list.and_then(Value::as_array_mut).into_iter().flatten();
    for entry in entries.filter_map(Value::as_object_mut) {
        for (inside, outside) in OUTWARD {
            if let Some(value) = entry.remove(inside) {
                entry.insert(outside.to_owned(), value);
            }
        }
    }
}

impl Record {
    /// The debate as JSON that can be imported again, with the consensus of each round. Characters
    /// that act on what shows them are spelled out.
    pub fn export(&self) -> String {
        let mut file = Map::new();
        file.insert("format".to_owned(), FORMAT.into());
        file.insert("version".to_owned(), VERSION.into());
        if let Ok(Value::Object(mut fields)) = serde_json::to_value(self) {
            rename_outward(&mut fields);
            outward(&mut fields);
            file.extend(fields);
        }
        let consensus = self.rounds.iter().map(|round| consensus_entry(self, round));
        file.insert("consensus".to_owned(), consensus.collect());
        let synthesis = self.syntheses.iter().rev().find(|one| one.turn.answered());
        let synthesis = synthesis.map(|one| Synthesis::read(&one.turn.text));
        if let Ok(value @ Value::Object(_)) = serde_json::to_value(synthesis) {
            file.insert("synthesis".to_owned(), value);
        }
        // A map of values always has a JSON form.
        spelled(serde_json::to_string_pretty(&Value::Object(file)).unwrap_or_default())
    }

    /// Reads an export back. What can be derived is not believed: it is derived again.
    ///
    /// # Errors
    /// [`ImportError`], which says what is wrong with the file.
    pub fn import(text: &str) -> Result<Self, ImportError> {
        if text.len() > MOST_BYTES {
            return Err(ImportError::TooLarge { bytes: text.len() });
        }
        let mut file: Value = limited_json::parse(text.as_bytes())
            .map_err(|error| ImportError::NotAnExport { what: error.to_string() })?;
        if file.get("format").and_then(Value::as_str) != Some(FORMAT) {
            let what = format!("its field \"format\" is not \"{FORMAT}\"");
            return Err(ImportError::NotAnExport { what });
        }
        match file.get("version").and_then(Value::as_u64) {
            Some(version) if (1..=u64::from(VERSION)).contains(&version) => {}
            Some(found) => return Err(ImportError::Newer { found }),
            None => return Err(ImportError::NotAnExport { what: "it has no version".to_owned() }),
        }
        if let Some(fields) = file.as_object_mut() {
            inward(fields).map_err(|what| ImportError::Broken { what })?;
        }
        let record = Self::deserialize(file)
            .map_err(|error| ImportError::Broken { what: error.to_string() })?;
        record.check().map_err(|what| ImportError::Broken { what })?;
        Ok(record)
    }
}
