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

/// A text that somebody decides on: everything in it can be seen. What a terminal would act on or
/// hide, and a model would still read, is written as its code.
pub(crate) fn visible(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' => shown.push(c),
            c if c.is_control() || is_direction(c) || is_invisible(c) => {
                shown.extend(c.escape_unicode());
            }
            c => shown.push(c),
        }
    }
    shown
}

/// Characters without a shape: joiners, fillers, marks, and the tags that spell hidden letters.
fn is_invisible(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
        | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}' | '\u{2029}'
        | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}'
        | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}')
}

/// Marks that turn the order of the letters around them.
fn is_direction(c: char) -> bool {
    matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// JSON for programs on a line of its own, in which nothing acts on a terminal either.
pub(crate) fn json_line(json: String) -> String {
    let mut line = spelled(json);
    line.push('\n');
    line
}

/// The beginning of a text, on one line.
pub(crate) fn line(text: &str, limit: usize) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() <= limit {
        return line;
    }
    format!("{}…", line.chars().take(limit.saturating_sub(1)).collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_moves_a_cursor_or_turns_letters_around_is_not_printed() {
        assert_eq!(plain("a\u{1b}[2Jb\r\nc\td\u{202e}e\u{7}"), "ab\nc\td\u{fffd}e\u{fffd}");
    }

    #[test]
    fn what_somebody_decides_on_hides_nothing() {
        let hidden = "a\u{1b}[2J\nb\t\u{202e}c\u{200b}\u{e0041}\u{e9}";
        let shown = "a\\u{1b}[2J\nb\\u{9}\\u{202e}c\\u{200b}\\u{e0041}\u{e9}";
        assert_eq!(visible(hidden), shown);
    }

    #[test]
    fn a_long_text_is_cut_between_letters() {
        assert_eq!(line("äö  ü\n", 5), "äö ü");
        assert_eq!(line("äöüäöü", 4), "äöü…");
    }
}
