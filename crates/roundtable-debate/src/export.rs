//! A debate as a file: JSON that people and programs read, and that can be read back.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::usage::{inward, outward};
use super::{Consensus, Record, Synthesis};
use roundtable_core::json;
use roundtable_core::spelled;

/// What the file says it is.
const FORMAT: &str = "roundtable-debate";

/// The version of its form. Version 1 has costs in millionths of a dollar under other names.
const VERSION: u32 = 2;

/// The largest file that is read.
const MOST_BYTES: usize = 16 * 1024 * 1024;

/// Why a file is not read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
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
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Judged {
    round_number: u32,
    agreement_score: f64,
    summary: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    analysis: Option<Consensus>,
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
        let judged = |number: u32| {
            let judgement = self.judgement(number)?;
            let (agreement_score, summary) = (judgement.agreement, judgement.summary);
            Some(Judged {
                round_number: number,
                agreement_score,
                summary,
                analysis: judgement.consensus,
            })
        };
        let consensus: Vec<Judged> =
            self.rounds.iter().filter_map(|round| judged(round.number)).collect();
        file.insert("consensus".to_owned(), serde_json::to_value(consensus).unwrap_or_default());
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
        let mut file: Value = json::parse(text.as_bytes())
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
