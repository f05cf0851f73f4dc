//! Text of others for people to read: nothing in it acts on a terminal or turns letters around.
//!
//! Escape sequences are removed, and every kind of line break becomes a line feed. Other control
//! characters except tabs become U+FFFD, and so do the characters that override the direction of text. The implicit direction marks
//! (U+200E, U+200F, U+061C) and joiners stay: Arabic, Hebrew and Persian text needs them.

use std::fmt::Write as _;

const REPLACEMENT: char = '\u{fffd}';
const ESCAPE: char = '\u{1b}';

/// How many characters of an escape sequence are looked at. A longer one is no sequence that a
/// terminal needs, and its text stays.
const SEQUENCE: usize = 4096;

/// The text without escape sequences, control characters and direction overrides.
#[must_use]
pub fn printable(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut rest = text.chars();
    while let Some(c) = rest.next() {
        match c {
            '\r' if rest.as_str().starts_with('\n') => {}
            '\r' | '\u{b}' | '\u{c}' | '\u{85}' | '\u{2028}' | '\u{2029}' => shown.push('\n'),
            ESCAPE | '\u{9b}' | '\u{9d}' | '\u{90}' => {
                let length = sequence(c, rest.as_str());
                if length == 0 {
                    shown.push(REPLACEMENT);
                } else {
                    rest = rest.as_str()[length..].chars();
                }
            }
            c if acts(c) => shown.push(REPLACEMENT),
            c => shown.push(c),
        }
    }
    shown
}

/// Whether a character acts on what shows it: a control character other than a line break or a tab,
/// an override or isolate of direction, or a line separator.
#[must_use]
pub fn acts(c: char) -> bool {
    let control = c.is_control() && !matches!(c, '\n' | '\t');
    control
        || matches!(c, '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{206f}' | '\u{fff9}'..='\u{fffb}')
}

/// JSON in which the characters that act on what shows them are spelled out: it reads back the same.
/// They are inside of strings, because JSON has none of them anywhere else.
#[must_use]
pub fn spelled(json: String) -> String {
    if !json.contains(acts) {
        return json;
    }
    let mut text = String::with_capacity(json.len() + json.len() / 16);
    for c in json.chars() {
        if acts(c) {
            let _ = write!(text, "\\u{:04x}", u32::from(c));
        } else {
            text.push(c);
        }
    }
    text
}

/// How many bytes of the text belong to the sequence that its introducer begins; none if it is not
/// complete.
fn sequence(introducer: char, after: &str) -> usize {
    let (kind, start) = match (introducer, after.chars().next()) {
        ('\u{9b}', _) => ('[', 0),
        ('\u{9d}' | '\u{90}', _) => (']', 0),
        (_, Some(kind)) => (kind, kind.len_utf8()),
        (_, None) => return 0,
    };
    let body = &after[start..];
    let length = match kind {
        '[' => control_sequence(body),
        ']' | 'P' | 'X' | '^' | '_' => string_sequence(body),
        // A character set, or another sequence with one letter more.
        ' '..='/' => body.chars().next().filter(|c| ('0'..='~').contains(c)).map(char::len_utf8),
        '0'..='~' => Some(0),
        _ => None,
    };
    length.map_or(0, |length| start + length)
}

/// Parameters, then one final letter.
fn control_sequence(body: &str) -> Option<usize> {
    let (end, last) = body.char_indices().take(SEQUENCE).find(|(_, c)| !(' '..='?').contains(c))?;
    ('@'..='~').contains(&last).then_some(end + 1)
}

/// A text that ends with a bell or a string terminator.
fn string_sequence(body: &str) -> Option<usize> {
    let mut chars = body.char_indices().take(SEQUENCE);
    while let Some((at, c)) = chars.next() {
        match c {
            '\u{7}' | '\u{9c}' => return Some(at + c.len_utf8()),
            ESCAPE => return chars.next().filter(|(_, c)| *c == '\\').map(|(at, _)| at + 1),
            '\n' => return None,
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, shown: &str) {
        assert_eq!(printable(text), shown);
    }

    #[test]
    fn text_without_control_characters_stays_as_it_is() {
        let text = "Zoë said:\n\t“שלום\u{200f}”, 👩\u{200d}👧, می\u{200c}خواهم";
        check(text, text);
    }

    #[test]
    fn escape_sequences_are_removed_with_their_parameters() {
        check("a\u{1b}[2J\u{1b}[1;31mred\u{1b}[0m", "ared");
        check("\u{9b}31mred", "red");
        check("\u{1b}]0;title\u{7}a\u{1b}]8;;https://x\u{1b}\\b", "ab");
        check("\u{1b}Pq\u{1b}\\a\u{1b}(Bb\u{1b}cc", "abc");
    }

    #[test]
    fn an_incomplete_sequence_loses_its_introducer_and_hides_nothing() {
        check("a\u{1b}", "a\u{fffd}");
        check("\u{1b}[31", "\u{fffd}[31");
        check("\u{1b}]0;all the rest\nof the text", "\u{fffd}]0;all the rest\nof the text");
        check("\u{1b}[31\u{1b}[0mx", "\u{fffd}[31x");
        check("\u{1b}ä", "\u{fffd}ä");
    }

    #[test]
    fn control_characters_and_direction_overrides_are_replaced() {
        check("a\0b\u{7}c\u{7f}d\u{8d}e", "a\u{fffd}b\u{fffd}c\u{fffd}d\u{fffd}e");
        check("\u{202e}a\u{2066}b\u{fff9}c", "\u{fffd}a\u{fffd}b\u{fffd}c");
    }

    #[test]
    fn every_kind_of_line_break_becomes_a_line_feed() {
        check("a\r\nb\rc\u{b}d\u{c}e\u{85}f\u{2028}g\u{2029}h", "a\nb\nc\nd\ne\nf\ng\nh");
    }

    #[test]
    fn json_with_characters_spelled_out_reads_back_the_same() {
        let text = "a\u{7f}\u{9b}\u{202e}\u{2028}\n\u{1b}ä";
        let json = spelled(serde_json::to_string(text).unwrap());
        assert_eq!(json, r#""a\u007f\u009b\u202e\u2028\n\u001bä""#);
        assert_eq!(serde_json::from_str::<String>(&json).unwrap(), text);
    }

    #[test]
    fn what_is_printable_stays_the_same_a_second_time() {
        let hostile = "\u{1b}\u{1b}[31\u{1b}[0m]0;x\u{7}\u{202e}\u{9b}";
        let shown = printable(hostile);
        assert_eq!(printable(&shown), shown);
        assert!(!shown.chars().any(acts));
    }
}
