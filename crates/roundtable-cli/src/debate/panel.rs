//! One speaker's words, as they are drawn: a panel on a terminal, plain lines elsewhere.

use roundtable::core::event::TurnOutcome;
use roundtable::core::window::Utterance;
use roundtable::debate::Position;

use super::words::readable;
use super::wrap::wrapped;

/// What stands before every line of a panel.
pub(super) const MARGIN: &str = "│ ";

/// The prose of an answer; its position when it is data without any.
pub(super) fn prose(answer: &str) -> String {
    let words = readable(answer);
    if words.trim().is_empty() { Position::read(answer).position } else { words }
}

/// The side that was taken, how sure, with which tools; or why there is no answer.
pub(super) fn summary(turn: &Utterance, outcome: &TurnOutcome) -> String {
    let mut parts: Vec<String> = Vec::new();
    if !turn.text.is_empty() {
        let position = Position::read(&turn.text);
        parts.extend(position.stance.map(|stance| stance.word().to_owned()));
        parts.extend(position.confidence.map(|value| format!("confidence {value:.2}")));
    }
    if !turn.tools.is_empty() {
        let mut tools = turn.tools.clone();
        tools.dedup();
        parts.push(format!("used {}", tools.join(", ")));
    }
    match outcome {
        TurnOutcome::Answered => {}
        TurnOutcome::Failed { error } => parts.push(format!("could not answer: {error}")),
        TurnOutcome::Cancelled => parts.push("stopped".to_owned()),
        TurnOutcome::Exhausted { budget } => {
            parts.push(format!("the budget of {} is spent", budget.word()));
        }
    }
    parts.join(" · ")
}

/// A whole panel.
pub(super) fn panel(heading: &str, words: &str, summary: &str, width: usize) -> String {
    let words = if words.trim().is_empty() { String::new() } else { wrapped(words, width, MARGIN) };
    format!("{}{words}{}", top(heading), bottom(summary, width))
}

pub(super) fn top(heading: &str) -> String {
    format!("\n┌ {}\n", console::style(heading).bold())
}

pub(super) fn bottom(summary: &str, width: usize) -> String {
    if summary.is_empty() {
        return end().to_owned();
    }
    let lines = wrapped(summary, width, "  ");
    let lines = lines.strip_prefix("  ").unwrap_or(&lines).trim_end();
    format!("└ {}\n", console::style(lines).dim())
}

/// The end of a panel of which there is nothing more to say.
pub(super) fn end() -> &'static str {
    "└\n"
}

/// The same where nobody looks at a screen.
pub(super) fn plain(heading: &str, words: &str, summary: &str) -> String {
    let words = words.trim_end();
    let words = if words.is_empty() { String::new() } else { format!("{words}\n") };
    let summary = if summary.is_empty() { String::new() } else { format!("({summary})\n") };
    format!("\n{heading}:\n{words}{summary}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panel_has_a_heading_a_margin_and_what_was_made_of_the_words() {
        console::set_colors_enabled(false);
        let drawn = panel("Ada · for", "We should begin now.\n\nIt works.", "YES", 14);
        insta::assert_snapshot!(drawn, @r"
        ┌ Ada · for
        │ We should
        │ begin now.
        │
        │ It works.
        └ YES
        ");
    }

    #[test]
    fn on_paper_there_are_no_lines_around_it() {
        assert_eq!(
            plain("Ada", "Yes.\n", "YES · confidence 0.80"),
            "\nAda:\nYes.\n(YES · confidence 0.80)\n"
        );
    }
}
