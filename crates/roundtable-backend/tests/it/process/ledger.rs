//! What the provider received and the tools did, counted in a file that outlives every process.

use std::collections::BTreeMap;
use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use roundtable_core::budget::Usage;
use roundtable_core::id::{AgentId, IterationId, SessionId, ToolCallId};
use roundtable_core::tool::Effect;
use roundtable_models::scripted::Received;
use roundtable_testing::oracle::Execution;
use serde::{Deserialize, Serialize};

/// Something that happened outside of the log.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub enum Entry {
    /// The provider received a call.
    Received { key: IterationId, attempt: u32, session: SessionId, agent: AgentId, prompt: String },
    /// The provider billed a call: its answer is complete.
    Billed { key: IterationId, attempt: u32, usage: Option<Usage> },
    /// A tool's handler ran.
    Ran { tool_call: ToolCallId, tool: String, effect: Effect },
    /// A process is about to append.
    Appends,
}

/// The ledger of a directory.
pub fn path(directory: &Path) -> PathBuf {
    directory.join("ledger.jsonl")
}

/// Adds an entry, in one write of one line: that survives the process, whole or not at all. It need
/// not survive the machine.
pub fn note(file: &Path, entry: &Entry) {
    let mut line = serde_json::to_string(entry).expect("an entry");
    line.push('\n');
    let mut file = OpenOptions::new().create(true).append(true).open(file).expect("a ledger");
    file.write_all(line.as_bytes()).expect("a ledger");
}

/// Everything in the ledger, as an oracle wants it.
pub fn read(directory: &Path) -> (Vec<Received>, Vec<Execution>) {
    let text = std::fs::read_to_string(path(directory)).unwrap_or_default();
    let (mut received, mut executions) = (Vec::new(), Vec::new());
    let mut places: BTreeMap<(IterationId, u32), usize> = BTreeMap::new();
    for line in text.lines() {
        match serde_json::from_str(line).expect("an entry") {
            Entry::Received { key, attempt, session, agent, prompt } => {
                places.insert((key.clone(), attempt), received.len());
                received.push(Received { key, attempt, session, agent, prompt, usage: None });
            }
            Entry::Billed { key, attempt, usage } => {
                received[places[&(key, attempt)]].usage = usage;
            }
            Entry::Ran { tool_call, tool, effect } => {
                executions.push(Execution { tool_call, tool, effect });
            }
            Entry::Appends => {}
        }
    }
    (received, executions)
}

/// How many appends there were.
pub fn appends(directory: &Path) -> u64 {
    let text = std::fs::read_to_string(path(directory)).unwrap_or_default();
    let is_append = |line: &&str| matches!(serde_json::from_str(line), Ok(Entry::Appends));
    text.lines().filter(is_append).count() as u64
}
