//! What the local model is asked: the persona, the end of the conversation, and how the answer
//! begins. It is too small to follow instructions or to decide anything; what it can do is to go
//! on in a voice, so it is given one.

use std::borrow::Cow;

use roundtable_core::digest::Digest;
use roundtable_core::message::{Message, Part, Role};
use roundtable_local as local;
use roundtable_ports::ModelRequest;

/// How many sentences an answer has.
pub(super) const SENTENCES: usize = 3;
/// How many tokens an answer may have, however many are allowed: three sentences are shorter.
const MOST_TOKENS: usize = 160;
/// How many characters of each text count: more slows it down and makes it no better.
const PERSONA: usize = 1_200;
const HISTORY: usize = 1_200;
const ASKED: usize = 2_400;

/// How answers to questions begin. A model of this size that begins by itself repeats the question
/// or greets.
const OPENINGS: [&str; 6] = [
    "The way I see it,",
    "To me,",
    "I think that",
    "What matters most is that",
    "From where I stand,",
    "In my experience,",
];

/// The prompt for a title: one line, which the examples in it lead to.
const TITLE: &str = "title";
/// How many tokens a title may have.
const TITLE_TOKENS: usize = 16;

/// What the local model is asked, and what its answer begins with.
pub(super) fn ask(request: &ModelRequest) -> local::Request {
    let seed = seed(request.key.as_str());
    let asked = asked(request);
    let allowed = usize::try_from(request.max_tokens).unwrap_or(usize::MAX);
    if request.prompt == TITLE {
        let instructions = texts(request, |role| role == Role::System).join("\n");
        return local::Request {
            messages: vec![local::Message::system(instructions), local::Message::user(asked)],
            stop: vec!["\n".to_owned()],
            max_tokens: allowed.min(TITLE_TOKENS),
            seed,
            ..local::Request::default()
        };
    }
    local::Request {
        prefill: opening(&asked, seed).to_owned(),
        messages: vec![local::Message::system(persona(request)), local::Message::user(asked)],
        stop: vec!["\n\n".to_owned(), "\n-".to_owned(), "\n1.".to_owned()],
        max_tokens: allowed.min(MOST_TOKENS),
        seed,
        session: Some(format!("{}/{}", request.scope.session, request.scope.agent)),
        ..local::Request::default()
    }
}

/// A question is answered in the first person; whatever else is said is answered as it comes.
fn opening(asked: &str, seed: u64) -> &'static str {
    if !asked.contains('?') {
        return "";
    }
    let chosen = usize::try_from(seed % OPENINGS.len() as u64).unwrap_or_default();
    OPENINGS.get(chosen).copied().unwrap_or_default()
}

/// The same for the same call, whichever attempt it is: a repeat gives the same text.
pub(super) fn seed(key: &str) -> u64 {
    let digest = Digest::of(key.as_bytes());
    digest.as_str().bytes().fold(0xcbf2_9ce4_8422_2325, |seed, byte| {
        (seed ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

fn persona(request: &ModelRequest) -> String {
    let texts: Vec<String> = texts(request, |role| role == Role::System);
    let persona = beginning(who(texts.join("\n").trim()), PERSONA);
    let name = &request.agent_name;
    let who = if persona.contains(name.as_str()) {
        persona
    } else {
        format!("You are {name}. {persona}")
    };
    format!("{} You speak for yourself, in a few plain sentences.", who.trim())
}

/// Who somebody is, up to the second heading: rules and forms come after it, which a model of this
/// size talks about instead of following them.
fn who(persona: &str) -> &str {
    let mut headings = persona.match_indices("\n# ");
    let first = if persona.starts_with("# ") { Some(0) } else { headings.next().map(|(at, _)| at) };
    match (first, headings.next()) {
        (Some(_), Some((second, _))) => persona[..second].trim_end(),
        _ => persona,
    }
}

/// What was said lately, and then what is asked.
fn asked(request: &ModelRequest) -> String {
    let stable = request.stable.min(request.messages.len());
    let (shared, own) = request.messages.split_at(stable);
    let history: Vec<String> = shared.iter().map(text).collect();
    let history = end(history.join("\n").trim(), HISTORY);
    let asked: Vec<String> =
        own.iter().filter(|message| message.role != Role::System).map(text).collect();
    let asked = beginning(asked.join("\n").trim(), ASKED);
    if history.is_empty() { asked } else { format!("{history}\n\n{asked}") }
}

fn texts(request: &ModelRequest, wanted: impl Fn(Role) -> bool) -> Vec<String> {
    request.messages.iter().filter(|message| wanted(message.role)).map(text).collect()
}

/// A message in words. Pictures and thoughts are nothing that it could take in.
fn text(message: &Message) -> String {
    let parts = message.parts.iter().filter_map(|part| match part {
        Part::Text { text } => Some(Cow::Borrowed(text.as_str())),
        Part::ToolResult(answer) => Some(answer.text()),
        Part::ToolCall(_) | Part::Image(_) | Part::Reasoning(_) => None,
    });
    parts.collect::<Vec<_>>().join("\n")
}

fn beginning(text: &str, limit: usize) -> String {
    text.char_indices().nth(limit).map_or(text, |(place, _)| &text[..place]).to_owned()
}

/// The end of a text, from the beginning of a line on.
fn end(text: &str, limit: usize) -> String {
    let count = text.chars().count();
    let Some((place, _)) = text.char_indices().nth(count.saturating_sub(limit)) else {
        return String::new();
    };
    let rest = &text[place..];
    if place == 0 {
        return rest.to_owned();
    }
    rest.split_once('\n').map_or(rest, |(_, rest)| rest).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_persona_with_rules_only_the_role_is_told() {
        let role = "You are Ann.\n\n# Your role: Proponent\nYou argue for it.";
        let rules = "\n\n# This round\nAnswer with JSON.\n# Form\nx";
        assert_eq!(who(&format!("{role}{rules}")), role);
        assert_eq!(who("# Role\nFor it.\n# Form\nx"), "# Role\nFor it.");
        for whole in ["", "You are Ann.", role, "# Role", "You like #hash\n#tags\n#a"] {
            assert_eq!(who(whole), whole);
        }
    }
}
