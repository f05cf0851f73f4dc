//! What the command prints, and to whom.

use std::io::{ErrorKind, Result, Write as _};

use roundtable::core::{printable, spelled};

/// Writes at once. False when nobody reads any more: that is no error, and no reason to panic.
pub(crate) fn put(text: &str) -> Result<bool> {
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(false),
        Err(error) => Err(error),
    }
}

/// A text for people's terminals: what a model or a tool wrote cannot move the cursor, ring, or
/// hide what stands before it.
pub(crate) fn plain(text: &str) -> String {
    printable(text)
}

/// JSON for programs on a line of its own, in which nothing acts on a terminal either.
pub(crate) fn json_line(json: String) -> String {
    let mut line = spelled(json);
    line.push('\n');
    line
}

/// The beginning of a text, on one line.
pub(crate) fn line(text: &str, most: usize) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() <= most {
        return line;
    }
    format!("{}…", line.chars().take(most.saturating_sub(1)).collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_moves_a_cursor_or_turns_letters_around_is_not_printed() {
        assert_eq!(plain("a\u{1b}[2Jb\r\nc\td\u{202e}e\u{7}"), "ab\nc\td\u{fffd}e\u{fffd}");
    }

    #[test]
    fn a_long_text_is_cut_between_letters() {
        assert_eq!(line("äö  ü\n", 5), "äö ü");
        assert_eq!(line("äöüäöü", 4), "äöü…");
    }
}
