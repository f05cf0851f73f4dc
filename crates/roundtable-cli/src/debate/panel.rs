//! One speaker's words, as they are drawn: a panel on a terminal, plain lines elsewhere.

use roundtable::core::event::TurnOutcome;
use roundtable::core::window::Utterance;
use roundtable::debate::Position;

use super::words::readable;
use crate::wrap::wrapped;

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
        TurnOutcome::Failed { error } => parts.push(format!("no answer: {error}")),
        TurnOutcome::Cancelled => parts.push("stopped".to_owned()),
        TurnOutcome::Exhausted { budget } => {
            parts.push(format!("budget of {} exhausted", budget.word()));
        }
    }
    parts.join(" · ")
}

/// A whole panel.
pub(super) fn panel(top: &str, words: &str, summary: &str, width: usize) -> String {
    let words = if words.trim().is_empty() { String::new() } else { wrapped(words, width, MARGIN) };
    format!("{top}{words}{}", bottom(summary, width))
}

/// The colors of seats; they repeat from the first.
const COLORS: [console::Color; 6] = [
    console::Color::Cyan,
    console::Color::Yellow,
    console::Color::Green,
    console::Color::Magenta,
    console::Color::Blue,
    console::Color::Red,
];

/// The first line of a panel, in the color of the seat. Who has no seat has no color.
pub(super) fn top(heading: &str, seat: Option<usize>, width: usize) -> String {
    let heading = wrapped(heading, width, "  ");
    let heading = heading.strip_prefix("  ").unwrap_or(&heading).trim_end();
    let styled = console::style(heading).bold();
    let styled = match seat {
        Some(seat) => styled.fg(COLORS[seat % COLORS.len()]),
        None => styled,
    };
    format!("\n┌ {styled}\n")
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
        let top = top("Ada · for", Some(0), 14);
        let drawn = panel(&top, "We should begin now.\n\nIt works.", "YES", 14);
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
