//! The words of a chat: what the one who answers is told, and what the one who names the
//! conversation is.

use std::fmt::Write as _;

use roundtable_core::agent::Agent;
use roundtable_core::printable;
use roundtable_core::program::{Brief, SeatView};

use crate::command::addressed;
use crate::program::{Chat, TITLE};
use crate::team::{Background, EarlierMessage};

/// How many characters of a message the conversation is named after.
const SHOWN: usize = 600;

/// How many characters and words a title may have.
const TITLE_LENGTH: usize = 60;
const TITLE_WORDS: usize = 8;

pub(crate) fn brief(view: &SeatView<'_, Chat>) -> Brief {
    if view.stage.purpose == TITLE {
        return title_brief(view);
    }
    let agent = view.session.find_agent(view.agent);
    let mut system = view.persona().to_owned();
    if let Some(agent) = agent {
        system.push_str(&team(view, agent));
    }
    let background = view.rules.background.as_deref();
    if let Some(given) = background.map(|given| &given.instructions).filter(|it| !it.is_empty()) {
        let _ = write!(system, "\n\nInstructions of the application that you answer in:\n{given}");
    }
    let output = agent.and_then(|agent| agent.output.clone());
    Brief { output, ..Brief::new("seat", system, format!("{}{}", before(background), asked(view))) }
}

/// The conversation that was held before the session, as a transcript.
fn before(background: Option<&Background>) -> String {
    let messages = background.map(|given| given.messages.as_slice()).unwrap_or_default();
    if messages.is_empty() {
        return String::new();
    }
    let mut text = "The conversation before this message:\n".to_owned();
    for EarlierMessage { sender, text: said } in messages {
        let _ = writeln!(text, "{sender}: {said}");
    }
    text.push('\n');
    text
}

/// The message, without the name of who answers it.
fn asked(view: &SeatView<'_, Chat>) -> String {
    let input = view.round.input().and_then(|input| Some((&input.sender, input.text.as_ref()?)));
    let Some((sender, text)) = input else { return view.asked() };
    match addressed(text, &view.session.agents) {
        Some((_, mission)) if !mission.is_empty() => format!("{sender}: {mission}"),
        Some(_) | None => view.asked(),
    }
}

/// Whom an agent may delegate to, and what each is good at.
fn team(view: &SeatView<'_, Chat>, agent: &Agent) -> String {
    let mut text = String::new();
    if agent.find_tool("delegate").is_some() {
        for worker in agent.workers.iter().filter_map(|id| view.session.find_agent(id)) {
            let role = view.rules.find(&worker.id).map_or("", |member| member.role.as_str());
            let role = if role.is_empty() { first_sentence(&worker.persona) } else { role };
            let gap = if role.is_empty() { "" } else { ": " };
            let _ = write!(text, "\n- {}{gap}{role}", worker.id.suffix());
        }
    }
    if text.is_empty() {
        return text;
    }
    format!(
        "\n\nYour workers, for the tool delegate:{text}\n\
         Delegate what a worker does better than you, with all that it has to know: it does not see \
         this conversation. Delegate independent missions in one reply, so that they run side by side. \
         When a worker fails, say so and answer as well as you can without it."
    )
}

/// What a persona begins with: who the agent is.
fn first_sentence(persona: &str) -> &str {
    let line = persona.lines().next().unwrap_or_default();
    line.split_once(". ").map_or(line, |(first, _)| first).trim_end_matches('.')
}

/// What the one who names a conversation is told, with examples: small models follow those, and no
/// rules.
const NAMING: &str = "You name conversations. Reply with a title of two to six words, in the language of the \
                      message, and with nothing else.";
const EXAMPLES: &str = "Message: how do i center a div in css?\nTitle: Centering a div\n\n\
                        Message: Schreib mir ein Gedicht über den Herbst.\nTitle: Gedicht über den Herbst\n\n\
                        Message: We have rice and two eggs. What can we cook tonight?\nTitle: Dinner with rice and eggs";

/// The first message, for whoever names the conversation.
fn title_brief(view: &SeatView<'_, Chat>) -> Brief {
    let said = view.round.input().and_then(|input| input.text.as_deref()).unwrap_or_default();
    let shown: String = said.chars().take(SHOWN).collect();
    let ask = format!("{EXAMPLES}\n\nMessage: {}\nTitle:", one_line(&shown));
    Brief { history: false, ..Brief::new("title", NAMING, ask) }
}

/// A title, as far as a model's text has one: its first line without decoration. A line that is as
/// long as a sentence is an answer to the message, and not a title.
pub(crate) fn read_title(text: &str) -> Option<String> {
    let text = printable(text);
    let line = text.lines().map(str::trim).find(|line| !line.is_empty())?;
    let decoration =
        |c: char| c.is_whitespace() || ['"', '\'', '“', '”', '#', '*', '.', '`'].contains(&c);
    let line = line.trim_matches(decoration);
    let line = line.strip_prefix("Title:").unwrap_or(line).trim_matches(decoration);
    let title = one_line(line);
    let fits = title.split(' ').count() <= TITLE_WORDS && title.chars().count() <= TITLE_LENGTH;
    (fits && !title.is_empty() && !title.contains('\u{fffd}')).then_some(title)
}

/// The beginning of a message, where no model gives it a title.
pub(crate) fn first_words(message: &str) -> Option<String> {
    let text = one_line(&printable(message));
    let mut title = String::new();
    for word in text.split(' ').take(TITLE_WORDS) {
        let gap = if title.is_empty() { "" } else { " " };
        if title.chars().count() + gap.len() + word.chars().count() > TITLE_LENGTH {
            break;
        }
        title.push_str(gap);
        title.push_str(word);
    }
    if title.is_empty() {
        // One word that is longer than a title.
        title = text.chars().take(TITLE_LENGTH).collect();
    }
    let rest = text.len() > title.len();
    let title = title.trim_end_matches([',', ';', ':', '-']).to_owned();
    (!title.is_empty()).then(|| if rest { format!("{title} …") } else { title })
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_title_is_one_plain_line() {
        let read = |text: &str| read_title(text).unwrap_or_default();
        assert_eq!(read("\n  \"Moving  billing to Rust.\"\nBecause…"), "Moving billing to Rust");
        assert_eq!(read("**Title:** Tea"), "Tea");
        assert_eq!(read("Title: Plans for May"), "Plans for May");
        assert_eq!(read("## Träume"), "Träume");
        for other in
            [" \n ", "\"\"", "The way I see it, a div is centered by means of its margins."]
        {
            assert_eq!(read_title(other), None, "{other}");
        }
    }

    #[test]
    fn where_no_model_gives_a_title_the_message_begins_it() {
        let first = |text: &str| first_words(text).unwrap_or_default();
        assert_eq!(first("Plans for\n May"), "Plans for May");
        assert_eq!(
            first("one two three four five six seven, eight nine"),
            "one two three four five six seven, eight …"
        );
        assert_eq!(first(&format!("{} end", "x".repeat(57))), format!("{} …", "x".repeat(57)));
        assert_eq!(first(&"x".repeat(99)), format!("{} …", "x".repeat(60)));
        assert_eq!(first("Well, then"), "Well, then");
        assert_eq!(first_words(" \n"), None);
    }
}
