//! Tool calls that arrive in pieces.

use roundtable_core::{extract_json, json};
use roundtable_ports::{Chunk, ModelError};
use serde_json::Value;

use crate::http::Caps;

use super::Names;

/// A call that is not complete yet.
#[derive(Debug, Default)]
pub struct Open {
    /// The vendor's own id.
    pub id: Option<String>,
    /// The tool's name.
    pub name: String,
    /// The arguments so far.
    pub arguments: String,
}

/// Counts calls and holds them to their size.
#[derive(Debug)]
pub struct Calls {
    caps: Caps,
    seen: usize,
}

impl Calls {
    pub fn new(caps: Caps) -> Self {
        Self { caps, seen: 0 }
    }

    /// Whether there were any.
    pub fn any(&self) -> bool {
        self.seen > 0
    }

    /// One more call begins.
    pub fn begin(&mut self) -> Result<(), ModelError> {
        self.seen += 1;
        let limit = self.caps.tool_calls;
        if self.seen > limit {
            return Err(ModelError::Broken(format!(
                "the response requests more than {limit} tool calls"
            )));
        }
        Ok(())
    }

    /// A call's arguments get longer.
    pub fn extend(&self, open: &mut Open, piece: &str) -> Result<(), ModelError> {
        open.arguments.push_str(piece);
        self.check(open.arguments.len())
    }

    /// Refuses arguments of this size when they are too big.
    pub fn check(&self, bytes: usize) -> Result<(), ModelError> {
        let limit = self.caps.argument_bytes;
        if bytes > limit {
            return Err(ModelError::Broken(format!("a tool call is larger than {limit} bytes")));
        }
        Ok(())
    }
}

impl Open {
    /// The call as a whole. Arguments that are no JSON stay text: the tool's schema refuses them,
    /// and the model is told so, which helps it more than a failed answer. Arguments that nest too
    /// deeply are handed on for the same reason: the session refuses the call.
    pub fn close(self, names: &Names) -> Chunk {
        let arguments = match self.arguments.trim() {
            "" => Value::Object(serde_json::Map::new()),
            text if json::text_levels(text.as_bytes()) > json::MAX_LEVELS => {
                json::parse_stored(text).unwrap_or_else(|_| Value::String(text.to_owned()))
            }
            text => extract_json(text).unwrap_or_else(|| Value::String(text.to_owned())),
        };
        Chunk::ToolCall { name: names.back(&self.name), arguments, reference: self.id }
    }
}
