//! The events of `:streamGenerateContent`. No event says that it is the last one: the answer is
//! complete when the body ends after a reason to finish.

use roundtable_core::budget::Usage;
use roundtable_core::event::StopReason;
use roundtable_core::message::{Citation, Reasoning};
use roundtable_ports::{Chunk, ModelError};
use serde_json::{Value, json};

use super::super::calls::Calls;
use super::super::{Decoder, End, Settings, broke_off, count, owned, parse, text};
use crate::http::failure::Failure;
use crate::price::Tally;

/// Decodes one answer.
pub struct GeminiDecoder {
    settings: Settings,
    calls: Calls,
    /// How many calls there were: signatures are given back by their place.
    place: usize,
    thought: String,
    citations: Vec<Citation>,
    end: End,
    finished: bool,
}

impl GeminiDecoder {
    /// A decoder at the beginning of an answer.
    pub fn new(settings: Settings) -> Self {
        Self {
            calls: Calls::new(settings.caps),
            settings,
            place: 0,
            thought: String::new(),
            citations: Vec::new(),
            end: End::default(),
            finished: false,
        }
    }

    fn note(&mut self, event: &Value) {
        if let Some(model) = text(&event["modelVersion"]) {
            self.end.model = model.to_owned();
        }
        let counts = &event["usageMetadata"];
        if counts.is_object() {
            let thoughts = count(&counts["thoughtsTokenCount"]);
            let usage = Usage {
                input: count(&counts["promptTokenCount"])
                    .saturating_add(count(&counts["toolUsePromptTokenCount"])),
                output: count(&counts["candidatesTokenCount"]).saturating_add(thoughts),
                cached: count(&counts["cachedContentTokenCount"]),
                reasoning: thoughts,
            };
            self.end.tally = Some(Tally { usage, written: 0 });
        }
    }

    fn part(&mut self, part: &Value) -> Result<Vec<Chunk>, ModelError> {
        let mut chunks = Vec::new();
        let call = &part["functionCall"];
        if part["thought"] == true {
            self.thought.push_str(part["text"].as_str().unwrap_or_default());
        } else if call.is_object() {
            self.calls.begin()?;
            self.calls.check(call["args"].to_string().len())?;
            let arguments = if call["args"].is_object() { call["args"].clone() } else { json!({}) };
            let name = self.settings.names.back(text(&call["name"]).unwrap_or_default());
            chunks.push(Chunk::ToolCall { name, arguments, reference: owned(&call["id"]) });
        } else {
            chunks.extend(owned(&part["text"]).map(Chunk::Text));
        }
        if let Some(signature) = text(&part["thoughtSignature"]) {
            let (on, at) = if call.is_object() { ("call", self.place) } else { ("text", 0) };
            let payload = json!({"thoughtSignature": signature, "on": on, "at": at});
            chunks.insert(0, self.thought(payload));
        }
        if call.is_object() {
            self.place += 1;
        }
        Ok(chunks)
    }

    /// What was thought so far.
    fn thought(&mut self, payload: Value) -> Chunk {
        let text = std::mem::take(&mut self.thought);
        Chunk::Reasoning(Reasoning { wire: self.settings.mark.clone(), text, payload })
    }

    fn sources(&mut self, candidate: &Value) {
        let grounding = &candidate["groundingMetadata"]["groundingChunks"];
        let web = grounding.as_array().into_iter().flatten().map(|chunk| &chunk["web"]);
        let cited = candidate["citationMetadata"]["citationSources"].as_array();
        for source in web.chain(cited.into_iter().flatten()) {
            let citation = Citation {
                url: owned(&source["uri"]),
                title: owned(&source["title"]),
                quote: None,
            };
            // The list grows from event to event and is repeated each time.
            if citation.url.is_some() && !self.citations.contains(&citation) {
                self.citations.push(citation);
            }
        }
    }

    fn finish(&mut self, reason: &str) -> Result<(), ModelError> {
        self.finished = true;
        self.end.stop = match reason {
            "MAX_TOKENS" => StopReason::MaxTokens,
            "SAFETY" | "RECITATION" | "LANGUAGE" | "BLOCKLIST" | "PROHIBITED_CONTENT" | "SPII"
            | "IMAGE_SAFETY" => StopReason::Refused,
            "MALFORMED_FUNCTION_CALL" | "UNEXPECTED_TOOL_CALL" | "MALFORMED_RESPONSE" => {
                return Err(ModelError::Broken(format!(
                    "the model stopped with an invalid response ({reason})"
                )));
            }
            _ if self.calls.any() => StopReason::ToolCalls,
            _ => StopReason::End,
        };
        Ok(())
    }
}

impl Decoder for GeminiDecoder {
    fn event(&mut self, _name: Option<&str>, data: &str) -> Result<Vec<Chunk>, ModelError> {
        let event = parse(data)?;
        if event.get("error").is_some_and(|error| !error.is_null()) {
            return Err(Failure::of_json(&event).error());
        }
        self.note(&event);
        if let Some(reason) = text(&event["promptFeedback"]["blockReason"]) {
            return Err(ModelError::Refused(format!("the prompt was blocked ({reason})")));
        }
        let candidate = &event["candidates"][0];
        let mut chunks = Vec::new();
        for part in candidate["content"]["parts"].as_array().into_iter().flatten() {
            chunks.extend(self.part(part)?);
        }
        self.sources(candidate);
        if let Some(reason) = text(&candidate["finishReason"]) {
            self.finish(reason)?;
        }
        Ok(chunks)
    }

    fn end(&mut self) -> Result<Vec<Chunk>, ModelError> {
        if !self.finished {
            return Err(broke_off());
        }
        let mut chunks = Vec::new();
        if !self.thought.is_empty() {
            chunks.push(self.thought(Value::Null));
        }
        chunks.extend(std::mem::take(&mut self.citations).into_iter().map(Chunk::Citation));
        let end = std::mem::take(&mut self.end);
        chunks.push(self.settings.done(end));
        Ok(chunks)
    }
}
