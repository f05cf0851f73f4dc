//! The events of `/chat/completions`.

use std::borrow::Cow;

use roundtable_core::budget::Usage;
use roundtable_core::event::StopReason;
use roundtable_core::message::{Citation, Reasoning};
use roundtable_ports::{Chunk, ModelError};
use serde_json::{Map, Value};

use super::super::calls::{Calls, Open};
use super::super::template::EventTemplate;
use super::super::{Decoder, End, Settings, broke_off, count, owned, parse, text};
use super::common_event::{CommonEvent, Piece};
use crate::http::failure::Failure;
use crate::price::{Tally, micros};

/// Decodes one answer.
pub struct ChatDecoder {
    settings: Settings,
    template: EventTemplate,
    calls: Calls,
    open: Vec<(Option<u64>, Open)>,
    /// Thoughts by the field that they came in.
    thoughts: Map<String, Value>,
    citations: Vec<Citation>,
    end: End,
    finished: bool,
    refused: bool,
}

impl ChatDecoder {
    /// A decoder at the beginning of an answer.
    pub fn new(settings: Settings) -> Self {
        Self {
            calls: Calls::new(settings.caps),
            settings,
            template: EventTemplate::default(),
            open: Vec::new(),
            thoughts: Map::new(),
            citations: Vec::new(),
            end: End::default(),
            finished: false,
            refused: false,
        }
    }

    /// Every event names the model, nearly always the same one.
    fn spoken_by(&mut self, model: Option<&str>) {
        if let Some(model) = model.filter(|model| *model != self.end.model) {
            model.clone_into(&mut self.end.model);
        }
    }

    fn counted(&mut self, usage: &Value) {
        if usage.is_object() {
            self.end.tally = Some(tally(usage));
            self.end.cost = cost(usage).or(self.end.cost);
        }
    }

    fn note(&mut self, event: &Value) {
        self.spoken_by(text(&event["model"]));
        self.counted(&event["usage"]);
        // Groq has its own place for usage.
        self.counted(&event["x_groq"]["usage"]);
        // Perplexity repeats the whole list in every event: the last one counts.
        let sources = event["search_results"].as_array().or(event["citations"].as_array());
        if let Some(sources) = sources.filter(|sources| !sources.is_empty()) {
            self.citations = sources.iter().map(source).collect();
        }
    }

    fn delta(&mut self, delta: &Value) -> Result<Vec<Chunk>, ModelError> {
        let mut chunks = Vec::new();
        for field in &self.settings.reasoning_fields {
            join(&mut self.thoughts, field, &delta[field.as_str()]);
        }
        match &delta["content"] {
            Value::String(text) if !text.is_empty() => chunks.push(Chunk::Text(text.clone())),
            // Mistral's thinking models send parts.
            Value::Array(parts) => {
                for part in parts {
                    chunks.extend(owned(&part["text"]).map(Chunk::Text));
                    for thought in part["thinking"].as_array().into_iter().flatten() {
                        join(&mut self.thoughts, "thinking", &thought["text"]);
                    }
                }
            }
            _ => {}
        }
        if let Some(refusal) = owned(&delta["refusal"]) {
            self.refused = true;
            chunks.push(Chunk::Text(refusal));
        }
        for note in delta["annotations"].as_array().into_iter().flatten() {
            self.citations.push(source(&note["url_citation"]));
        }
        for call in delta["tool_calls"].as_array().into_iter().flatten() {
            let function = &call["function"];
            let arguments = match &function["arguments"] {
                Value::String(piece) => Cow::Borrowed(piece.as_str()),
                Value::Object(_) => Cow::Owned(function["arguments"].to_string()),
                _ => Cow::Borrowed(""),
            };
            self.call(&Piece {
                index: call["index"].as_u64(),
                id: text(&call["id"]),
                name: text(&function["name"]),
                arguments,
            })?;
        }
        Ok(chunks)
    }

    /// A piece of a tool call. Most vendors number their calls; some give every call the same
    /// number, or none, and tell them apart by id.
    fn call(&mut self, piece: &Piece<'_>) -> Result<(), ModelError> {
        let known = match piece.index {
            Some(_) => self.open.iter().rposition(|(at, _)| *at == piece.index),
            None => self.open.len().checked_sub(1).filter(|_| piece.id.is_none()),
        };
        let same = known.filter(|&at| {
            let old = self.open[at].1.id.as_deref();
            old.is_none() || piece.id.is_none() || old == piece.id
        });
        let at = match same {
            Some(at) => at,
            None => {
                self.calls.begin()?;
                self.open.push((piece.index, Open::default()));
                self.open.len() - 1
            }
        };
        let open = &mut self.open[at].1;
        open.id = open.id.take().or_else(|| piece.id.map(str::to_owned));
        if let Some(name) = piece.name.filter(|_| open.name.is_empty()) {
            open.name = name.to_owned();
        }
        self.calls.extend(open, &piece.arguments)
    }

    /// An event as nearly all of them are.
    fn common_event(
        &mut self,
        data: &str,
        event: &CommonEvent<'_>,
    ) -> Result<Vec<Chunk>, ModelError> {
        self.spoken_by(event.model.filter(|model| !model.is_empty()));
        if let Some(usage) = &event.usage {
            self.counted(usage);
        }
        let Some(choice) = event.choices.first() else { return Ok(Vec::new()) };
        for call in choice.delta.tool_calls.iter().flatten() {
            self.call(&call.piece())?;
        }
        if let Some(reason) = choice.finish_reason.filter(|reason| !reason.is_empty()) {
            self.finish(reason)?;
        }
        let Some(text) = choice.delta.text() else { return Ok(Vec::new()) };
        if event.usage.is_none() && choice.is_text() {
            self.template.keep(data, text);
        }
        Ok(vec![Chunk::Text(text.to_owned())])
    }

    fn finish(&mut self, reason: &str) -> Result<(), ModelError> {
        self.finished = true;
        self.end.stop = match reason {
            "length" | "model_length" => StopReason::MaxTokens,
            "tool_calls" | "function_call" => StopReason::ToolCalls,
            "content_filter" => StopReason::Refused,
            "error" => return Err(broke_off()),
            _ => StopReason::End,
        };
        Ok(())
    }

    /// Everything that is known only when the answer is complete.
    fn done(&mut self) -> Vec<Chunk> {
        let mut chunks = Vec::new();
        let thoughts = std::mem::take(&mut self.thoughts);
        if !thoughts.is_empty() {
            let words = thoughts.values().find_map(Value::as_str).unwrap_or_default();
            chunks.push(Chunk::Reasoning(Reasoning {
                wire: self.settings.mark.clone(),
                text: words.to_owned(),
                payload: Value::Object(thoughts),
            }));
        }
        let names = &self.settings.names;
        chunks.extend(self.open.drain(..).map(|(_, open)| open.close(names)));
        chunks.extend(self.citations.drain(..).map(Chunk::Citation));
        let mut end = std::mem::take(&mut self.end);
        if self.refused {
            end.stop = StopReason::Refused;
        } else if self.calls.any() && end.stop == StopReason::End {
            end.stop = StopReason::ToolCalls;
        }
        chunks.push(self.settings.done(end));
        chunks
    }
}

impl Decoder for ChatDecoder {
    fn token(&mut self, data: &str) -> Option<String> {
        self.template.text(data).map(Cow::into_owned)
    }

    fn event(&mut self, _name: Option<&str>, data: &str) -> Result<Vec<Chunk>, ModelError> {
        if data == "[DONE]" {
            return self.end();
        }
        if let Some(event) = CommonEvent::find(data) {
            return self.common_event(data, &event);
        }
        let event = parse(data)?;
        if event.get("error").is_some_and(|error| !error.is_null()) {
            return Err(Failure::of_json(&event).error());
        }
        self.note(&event);
        let choice = &event["choices"][0];
        let chunks = self.delta(&choice["delta"])?;
        if let Some(reason) = text(&choice["finish_reason"]) {
            self.finish(reason)?;
        }
        Ok(chunks)
    }

    fn end(&mut self) -> Result<Vec<Chunk>, ModelError> {
        if self.finished { Ok(self.done()) } else { Err(broke_off()) }
    }
}

/// Adds a piece of a thought to what there is of it.
fn join(thoughts: &mut Map<String, Value>, field: &str, piece: &Value) {
    match (thoughts.get_mut(field), piece) {
        (Some(Value::String(all)), Value::String(piece)) => all.push_str(piece),
        (Some(Value::Array(all)), Value::Array(pieces)) => {
            for piece in pieces {
                extend(all, piece);
            }
        }
        (None, Value::String(piece)) if piece.is_empty() => {}
        (None, Value::Array(pieces)) if pieces.is_empty() => {}
        (None, Value::String(_) | Value::Array(_)) => {
            thoughts.insert(field.to_owned(), piece.clone());
        }
        _ => {}
    }
}

/// Adds a detail to a list of them (OpenRouter): a piece of the last one, or a new one.
fn extend(details: &mut Vec<Value>, piece: &Value) {
    let Some(last) = details.last_mut().and_then(Value::as_object_mut) else {
        return details.push(piece.clone());
    };
    let Some(new) = piece.as_object() else { return };
    if last.get("type") != new.get("type") || last.get("index") != new.get("index") {
        return details.push(piece.clone());
    }
    for (name, value) in new {
        match (last.get_mut(name), value) {
            (Some(Value::String(all)), Value::String(more)) if GROWS.contains(&name.as_str()) => {
                all.push_str(more);
            }
            (Some(Value::Null) | None, value) => {
                last.insert(name.clone(), value.clone());
            }
            _ => {}
        }
    }
}

/// The fields of a detail that come in pieces.
const GROWS: &[&str] = &["text", "summary", "data"];

/// A source: an address, or an object that has one.
fn source(value: &Value) -> Citation {
    match value {
        Value::String(url) => Citation { url: Some(url.clone()), ..Citation::default() },
        other => Citation {
            url: owned(&other["url"]),
            title: owned(&other["title"]),
            quote: owned(&other["snippet"]).or_else(|| owned(&other["content"])),
        },
    }
}

fn tally(usage: &Value) -> Tally {
    let prompt = &usage["prompt_tokens_details"];
    // DeepSeek counts hits in a field of its own, Perplexity its thoughts.
    let cached = count(&prompt["cached_tokens"]).max(count(&usage["prompt_cache_hit_tokens"]));
    let reasoning = count(&usage["completion_tokens_details"]["reasoning_tokens"])
        .max(count(&usage["reasoning_tokens"]));
    let usage = Usage {
        input: count(&usage["prompt_tokens"]),
        output: count(&usage["completion_tokens"]),
        cached,
        reasoning,
    };
    Tally { usage, written: count(&prompt["cache_write_tokens"]) }
}

/// The cost, where the vendor itself says it in dollars (OpenRouter, Perplexity).
fn cost(usage: &Value) -> Option<u64> {
    let cost = &usage["cost"];
    micros(cost.as_f64().or_else(|| cost["total_cost"].as_f64())?)
}
