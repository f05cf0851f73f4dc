//! An iteration of a turn, as people read it.

use std::fmt::Write as _;

use roundtable::core::message::{Message, Part, Role};
use roundtable::core::turn::{IterationRecord, ToolCallRecord};

/// What happened in an iteration: what was said, which tools were called, what is known of it.
pub(super) fn lines(iteration: &IterationRecord) -> String {
    let mut text = format!("\niteration {}, {}", iteration.number, iteration.started_at);
    match iteration.completed_at {
        Some(at) => text.push_str(&format!(" to {at}\n")),
        None => text.push_str(", not complete\n"),
    }
    for message in &iteration.messages {
        text.push_str(&said(message));
    }
    for call in &iteration.tool_calls {
        text.push_str(&called(call));
    }
    for (name, value) in &iteration.metadata() {
        let _ =
            writeln!(text, "  {name}: {}", value.as_str().map_or(value.to_string(), str::to_owned));
    }
    text
}

/// The words of a message. Its tool calls and results are shown once, with their results.
fn said(message: &Message) -> String {
    let who = match message.role {
        Role::System => "system",
        Role::User => "user",
        Role::Assistant => "assistant",
    };
    let texts = message.parts.iter().filter_map(|part| match part {
        Part::Text { text } => Some(format!("  {who}: {}\n", indented(text))),
        Part::ToolCall(_) | Part::ToolResult(_) | Part::Image(_) | Part::Reasoning(_) => None,
    });
    texts.collect()
}

fn called(call: &ToolCallRecord) -> String {
    let request = &call.request;
    let result = match &call.result {
        None => "no result".to_owned(),
        Some(answer) if answer.success => indented(&answer.text()),
        Some(answer) => format!("failed: {}", indented(&answer.text())),
    };
    format!("  calls {} {} ({})\n    = {result}\n", request.name, request.arguments, request.id)
}

/// A text whose further lines stand below the first.
fn indented(text: &str) -> String {
    text.trim_end().replace('\n', "\n    ")
}
