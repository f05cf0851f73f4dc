//! Whether a prompt fits a model's window, before the call is paid for.

use roundtable_core::message::{Message, Part};
use roundtable_ports::{ModelError, ModelRequest};

use crate::catalog::Profile;

/// What a message costs besides its text.
const FRAME: u64 = 4;
/// What a picture is reckoned at: the least that vendors make of one.
const IMAGE: u64 = 85;

/// How many tokens a request's prompt has, roughly and rather too few: four letters of ASCII or
/// two other characters make one. It is for refusing what cannot fit; what just does not fit is
/// refused by the provider, with the same error. For an upper bound, see
/// [`Message::content_bytes`].
pub fn estimate(request: &ModelRequest) -> u64 {
    let messages: u64 = request.messages.iter().map(message).sum();
    let tools: u64 = request.tools.iter().map(|tool| tool.prompt_bytes() / 4).sum();
    messages + tools
}

/// Refuses a request whose prompt and reply do not fit together.
///
/// # Errors
/// [`ModelError::TooLong`] when they do not.
pub fn check(request: &ModelRequest, profile: &Profile) -> Result<(), ModelError> {
    let Some(window) = profile.window else { return Ok(()) };
    let (prompt, reply) = (estimate(request), profile.reply_tokens(request));
    if prompt.saturating_add(u64::from(reply)) > window {
        return Err(ModelError::TooLong(format!(
            "about {prompt} prompt tokens and up to {reply} reply tokens exceed the context window of {window}"
        )));
    }
    Ok(())
}

fn message(message: &Message) -> u64 {
    let part = |part: &Part| match part {
        Part::Text { text: said } => text(said),
        Part::ToolCall(call) => text(&call.name) + text(&call.arguments.to_string()),
        Part::ToolResult(answer) => text(&answer.text()),
        Part::Image(_) => IMAGE,
        Part::Reasoning(thought) => text(&thought.text),
    };
    FRAME + message.parts.iter().map(part).sum::<u64>()
}

fn text(text: &str) -> u64 {
    let ascii = text.bytes().filter(u8::is_ascii).count() as u64;
    let other = text.chars().filter(|c| !c.is_ascii()).count() as u64;
    ascii / 4 + other / 2
}
