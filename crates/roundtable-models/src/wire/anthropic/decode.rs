//! The events of `/v1/messages`.

use std::collections::BTreeMap;

use roundtable_core::budget::Usage;
use roundtable_core::event::StopReason;
use roundtable_core::message::{Citation, Reasoning};
use roundtable_ports::{Chunk, ModelError};
use serde_json::{Value, json};

use super::super::calls::{Calls, Open};
use super::super::{Decoder, End, Settings, broke_off, count, owned, parse, text};
use crate::http::failure::Failure;
use crate::price::Tally;

/// Decodes one answer.
pub struct AnthropicDecoder {
    settings: Settings,
    calls: Calls,
    blocks: BTreeMap<u64, Block>,
    end: End,
    counts: Value,
    stopped: bool,
}

/// A block that is not complete yet.
enum Block {
    Text,
    Call(Open),
    Thinking {
        text: String,
        signature: String,
    },
    Sealed(String),
    /// Something that this version does not know.
    Other,
}

impl AnthropicDecoder {
    /// A decoder at the beginning of an answer.
    pub fn new(settings: Settings) -> Self {
        Self {
            calls: Calls::new(settings.caps),
            settings,
            blocks: BTreeMap::new(),
            end: End::default(),
            counts: json!({}),
            stopped: false,
        }
    }

    /// Counts come twice: when the answer begins, and again, corrected, when it ends.
    fn note(&mut self, usage: &Value) {
        for (name, value) in usage.as_object().into_iter().flatten() {
            if value.is_u64() {
                self.counts[name.as_str()] = value.clone();
            }
        }
    }

    fn start(&mut self, index: u64, block: &Value) -> Result<Vec<Chunk>, ModelError> {
        let mut chunks = Vec::new();
        let open = match text(&block["type"]).unwrap_or_default() {
            "text" => {
                chunks.extend(owned(&block["text"]).map(Chunk::Text));
                Block::Text
            }
            "tool_use" => {
                self.calls.begin()?;
                let mut open = Open {
                    id: owned(&block["id"]),
                    name: owned(&block["name"]).unwrap_or_default(),
                    arguments: String::new(),
                };
                // Some gateways send the arguments whole.
                if block["input"].as_object().is_some_and(|input| !input.is_empty()) {
                    self.calls.extend(&mut open, &block["input"].to_string())?;
                }
                Block::Call(open)
            }
            "thinking" => Block::Thinking {
                text: owned(&block["thinking"]).unwrap_or_default(),
                signature: owned(&block["signature"]).unwrap_or_default(),
            },
            "redacted_thinking" => Block::Sealed(owned(&block["data"]).unwrap_or_default()),
            _ => Block::Other,
        };
        // Indices that never close would pile up; there are no more blocks than events, and
        // those are counted in bytes.
        self.blocks.insert(index, open);
        Ok(chunks)
    }

    fn delta(&mut self, index: u64, delta: &Value) -> Result<Vec<Chunk>, ModelError> {
        let piece = |field: &str| delta[field].as_str().unwrap_or_default();
        match (text(&delta["type"]).unwrap_or_default(), self.blocks.get_mut(&index)) {
            ("text_delta", _) => Ok(owned(&delta["text"]).map(Chunk::Text).into_iter().collect()),
            ("citations_delta", _) => Ok(vec![Chunk::Citation(citation(&delta["citation"]))]),
            ("input_json_delta", Some(Block::Call(open))) => {
                self.calls.extend(open, piece("partial_json"))?;
                Ok(Vec::new())
            }
            ("thinking_delta", Some(Block::Thinking { text, .. })) => {
                text.push_str(piece("thinking"));
                Ok(Vec::new())
            }
            ("signature_delta", Some(Block::Thinking { signature, .. })) => {
                signature.push_str(piece("signature"));
                Ok(Vec::new())
            }
            _ => Ok(Vec::new()),
        }
    }

    fn stop(&mut self, index: u64) -> Vec<Chunk> {
        let mark = self.settings.mark.clone();
        let chunk = match self.blocks.remove(&index) {
            Some(Block::Call(open)) => open.close(&self.settings.names),
            Some(Block::Thinking { text, signature }) => {
                let payload = if signature.is_empty() {
                    Value::Null
                } else {
                    json!({"type": "thinking", "thinking": text, "signature": signature})
                };
                Chunk::Reasoning(Reasoning { wire: mark, text, payload })
            }
            Some(Block::Sealed(data)) => {
                let payload = json!({"type": "redacted_thinking", "data": data});
                Chunk::Reasoning(Reasoning { wire: mark, text: String::new(), payload })
            }
            Some(Block::Text | Block::Other) | None => return Vec::new(),
        };
        vec![chunk]
    }

    fn message_delta(&mut self, event: &Value) {
        self.note(&event["usage"]);
        if let Some(reason) = text(&event["delta"]["stop_reason"]) {
            self.stopped = true;
            self.end.stop = match reason {
                "tool_use" => StopReason::ToolCalls,
                "max_tokens" | "model_context_window_exceeded" => StopReason::MaxTokens,
                "refusal" => StopReason::Refused,
                _ => StopReason::End,
            };
        }
    }

    fn done(&mut self) -> Vec<Chunk> {
        // A block that was left open is complete as far as it goes.
        let open: Vec<u64> = self.blocks.keys().copied().collect();
        let mut chunks: Vec<Chunk> = open.into_iter().flat_map(|index| self.stop(index)).collect();
        let mut end = std::mem::take(&mut self.end);
        // Some gateways call every end the same.
        if self.calls.any() && end.stop == StopReason::End {
            end.stop = StopReason::ToolCalls;
        }
        let counts = &self.counts;
        let (cached, written) = (
            count(&counts["cache_read_input_tokens"]),
            count(&counts["cache_creation_input_tokens"]),
        );
        end.tally = counts.get("output_tokens").map(|output| Tally {
            usage: Usage {
                // The vendor counts the three parts of a prompt apart.
                input: count(&counts["input_tokens"])
                    .saturating_add(cached)
                    .saturating_add(written),
                output: count(output),
                cached,
                reasoning: count(&counts["thinking_tokens"]),
            },
            written,
        });
        chunks.push(self.settings.done(end));
        chunks
    }
}

impl Decoder for AnthropicDecoder {
    fn event(&mut self, name: Option<&str>, data: &str) -> Result<Vec<Chunk>, ModelError> {
        let event = parse(data)?;
        let index = count(&event["index"]);
        match text(&event["type"]).or(name).unwrap_or_default() {
            "message_start" => {
                self.end.model = owned(&event["message"]["model"]).unwrap_or_default();
                self.note(&event["message"]["usage"]);
                Ok(Vec::new())
            }
            "content_block_start" => self.start(index, &event["content_block"]),
            "content_block_delta" => self.delta(index, &event["delta"]),
            "content_block_stop" => Ok(self.stop(index)),
            "message_delta" => {
                self.message_delta(&event);
                Ok(Vec::new())
            }
            "message_stop" => self.end(),
            "error" => Err(Failure::of_json(&event).error()),
            _ => Ok(Vec::new()),
        }
    }

    fn end(&mut self) -> Result<Vec<Chunk>, ModelError> {
        if self.stopped { Ok(self.done()) } else { Err(broke_off()) }
    }
}

fn citation(citation: &Value) -> Citation {
    Citation {
        url: owned(&citation["url"]).or_else(|| owned(&citation["source"])),
        title: owned(&citation["title"]).or_else(|| owned(&citation["document_title"])),
        quote: owned(&citation["cited_text"]),
    }
}
