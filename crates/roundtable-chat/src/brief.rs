//! The words of a chat: what the one who answers is told, and what the one who names the
//! conversation is.

use std::fmt::Write as _;

use roundtable_core::agent::Agent;
use roundtable_core::printable;
use roundtable_core::program::{Brief, SeatView};

use crate::command::addressed;
use crate::program::{Chat, TITLE};

/// How many characters of a message and of its answer the conversation is named after.
const SHOWN: usize = 1_000;

/// How many characters a title may have.
const TITLE_LENGTH: usize = 60;

pub(crate) fn brief(view: &SeatView<'_, Chat>) -> Brief {
    if view.stage.purpose == TITLE {
        return title_brief(view);
    }
    let agent = view.session.find_agent(view.agent);
    let mut system = view.persona().to_owned();
    if let Some(agent) = agent {
        system.push_str(&team(view, agent));
    }
    let output = agent.and_then(|agent| agent.output.clone());
    Brief { output, ..Brief::new("seat", system, asked(view)) }
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

/// The first exchange, for whoever names the conversation.
fn title_brief(view: &SeatView<'_, Chat>) -> Brief {
    let said = view.round.input().and_then(|input| input.text.as_deref()).unwrap_or_default();
    let answered = view.round.messages().next().map_or("", |spoken| spoken.text.as_str());
    let ask = format!(
        "Person: {}\n\nAnswer: {}\n\nGive this conversation a title of two to six words, in its language. \
         Reply with the title alone.",
        cut(said),
        cut(answered)
    );
    Brief { history: false, ..Brief::new("title", "You name conversations.", ask) }
}

fn cut(text: &str) -> String {
    text.chars().take(SHOWN).collect()
}

/// A title, as far as a model's text has one: its first line without decoration.
pub(crate) fn read_title(text: &str) -> Option<String> {
    let text = printable(text);
    let line = text.lines().map(str::trim).find(|line| !line.is_empty())?;
    let decoration =
        |c: char| c.is_whitespace() || ['"', '\'', '“', '”', '#', '*', '.', '`'].contains(&c);
    let line = line.trim_matches(decoration);
    let line = line.strip_prefix("Title:").unwrap_or(line).trim_matches(decoration);
    let title = line.split_whitespace().collect::<Vec<_>>().join(" ");
    if title.is_empty() || title.contains('\u{fffd}') {
        return None;
    }
    if title.chars().count() <= TITLE_LENGTH {
        return Some(title);
    }
    let short: String = title.chars().take(TITLE_LENGTH).collect();
    let whole = short.rsplit_once(' ').map_or(short.as_str(), |(whole, _)| whole);
    Some(format!("{whole} …"))
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
        assert_eq!(read(&"word ".repeat(40)), format!("{} …", "word ".repeat(12).trim_end()));
        assert_eq!(read_title(" \n "), None);
        assert_eq!(read_title("\"\""), None);
    }
}
