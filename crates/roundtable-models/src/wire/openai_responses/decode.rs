//! The events of `/responses`. Items count when they are done; of what comes before, only text is
//! passed on.

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
pub struct ResponsesDecoder {
    settings: Settings,
    calls: Calls,
    refused: bool,
}

impl ResponsesDecoder {
    /// A decoder at the beginning of an answer.
    pub fn new(settings: Settings) -> Self {
        Self { calls: Calls::new(settings.caps), settings, refused: false }
    }

    fn item(&mut self, item: &Value) -> Result<Vec<Chunk>, ModelError> {
        match text(&item["type"]) {
            Some("function_call") => {
                self.calls.begin()?;
                let mut open = Open {
                    id: owned(&item["call_id"]),
                    name: owned(&item["name"]).unwrap_or_default(),
                    arguments: String::new(),
                };
                self.calls.extend(&mut open, item["arguments"].as_str().unwrap_or_default())?;
                Ok(vec![open.close(&self.settings.names)])
            }
            Some("reasoning") => Ok(vec![Chunk::Reasoning(thought(item, &self.settings.mark))]),
            _ => Ok(Vec::new()),
        }
    }

    fn done(&self, response: &Value, cut: bool) -> Chunk {
        let reason = text(&response["incomplete_details"]["reason"]);
        let stop = match reason {
            _ if self.refused => StopReason::Refused,
            Some("content_filter") => StopReason::Refused,
            _ if cut => StopReason::MaxTokens,
            _ if self.calls.any() => StopReason::ToolCalls,
            _ => StopReason::End,
        };
        let usage = &response["usage"];
        let tally = usage.is_object().then(|| {
            let usage = Usage {
                input: count(&usage["input_tokens"]),
                output: count(&usage["output_tokens"]),
                cached: count(&usage["input_tokens_details"]["cached_tokens"]),
                reasoning: count(&usage["output_tokens_details"]["reasoning_tokens"]),
            };
            Tally { usage, written: 0 }
        });
        let model = owned(&response["model"]).unwrap_or_default();
        self.settings.done(End { model, tally, cost: None, stop })
    }
}

impl Decoder for ResponsesDecoder {
    fn event(&mut self, name: Option<&str>, data: &str) -> Result<Vec<Chunk>, ModelError> {
        if data == "[DONE]" {
            return Ok(Vec::new());
        }
        let event = parse(data)?;
        match text(&event["type"]).or(name).unwrap_or_default() {
            "response.output_text.delta" => {
                Ok(owned(&event["delta"]).map(Chunk::Text).into_iter().collect())
            }
            "response.refusal.delta" => {
                self.refused = true;
                Ok(owned(&event["delta"]).map(Chunk::Text).into_iter().collect())
            }
            "response.output_text.annotation.added" => {
                let note = &event["annotation"];
                let (url, title) = (owned(&note["url"]), owned(&note["title"]));
                let title = title.or_else(|| owned(&note["filename"]));
                Ok(vec![Chunk::Citation(Citation { url, title, quote: None })])
            }
            "response.output_item.done" => self.item(&event["item"]),
            "response.completed" => Ok(vec![self.done(&event["response"], false)]),
            "response.incomplete" => Ok(vec![self.done(&event["response"], true)]),
            "response.failed" => Err(Failure::of_json(&event["response"]).error()),
            "error" => Err(Failure::of_json(&event).error()),
            _ => Ok(Vec::new()),
        }
    }

    fn end(&mut self) -> Result<Vec<Chunk>, ModelError> {
        Err(broke_off())
    }
}

/// A thought. It can go back only when it came in the form that the vendor can read again.
fn thought(item: &Value, mark: &str) -> Reasoning {
    let summary = item["summary"].as_array().into_iter().flatten();
    let texts: Vec<&str> = summary.filter_map(|part| text(&part["text"])).collect();
    let payload = match &item["encrypted_content"] {
        Value::String(sealed) => json!({
            "type": "reasoning",
            "id": item["id"],
            "summary": item["summary"],
            "encrypted_content": sealed,
        }),
        _ => Value::Null,
    };
    Reasoning { wire: mark.to_owned(), text: texts.join("\n\n"), payload }
}
