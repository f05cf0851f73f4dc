//! The part of a message that a search shows: plain text, and where in it the words are.

use serde::{Deserialize, Serialize};

use super::{WordQuery, occurrences, stem};
use crate::printable;

/// How many characters of a message are shown.
const LENGTH: usize = 240;
/// How many of them come before the first word that was found.
const LEAD: usize = 60;
/// How many characters of a message are looked at for a snippet.
const LOOKED_AT: usize = 1 << 20;
/// Stands where text was left out.
const LEFT_OUT: char = '…';

/// A part of a message: one line of plain text.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Snippet {
    /// The text. It has no control characters and no line breaks.
    pub text: String,
    /// Where the words are that were looked for: start and end, counted in characters (code points).
    pub matches: Vec<(usize, usize)>,
}

/// A word of a text.
pub(super) struct Token {
    /// In characters.
    start: usize,
    end: usize,
    pub stem: String,
}

/// The words of a text.
pub(super) fn tokens(text: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    let (mut word, mut start) = (String::new(), 0);
    let mut end = 0;
    for (at, c) in text.chars().enumerate() {
        end = at + 1;
        if c.is_alphanumeric() {
            if word.is_empty() {
                start = at;
            }
            word.extend(c.to_lowercase());
        } else if !word.is_empty() {
            tokens.push(Token { start, end: at, stem: stem(&word) });
            word.clear();
        }
    }
    if !word.is_empty() {
        tokens.push(Token { start, end, stem: stem(&word) });
    }
    tokens
}

/// The part of a text around the first place that has what was looked for; its beginning where
/// nothing does.
pub fn snippet(text: &str, query: &WordQuery) -> Snippet {
    let text = one_line(text);
    let tokens = tokens(&text);
    let mut matches: Vec<(usize, usize)> = Vec::new();
    for phrase in query.stems() {
        for first in occurrences(&phrase, &tokens) {
            let last = first + phrase.len().saturating_sub(1);
            if let (Some(first), Some(last)) = (tokens.get(first), tokens.get(last)) {
                matches.push((first.start, last.end));
            }
        }
    }
    matches.sort_unstable();
    cut(&text, &tokens, &matches)
}

/// The text as one line that acts on nothing.
fn one_line(text: &str) -> String {
    let looked_at: String = text.chars().take(LOOKED_AT).collect();
    let words: Vec<String> = printable(&looked_at).split_whitespace().map(str::to_owned).collect();
    words.join(" ")
}

fn cut(text: &str, tokens: &[Token], matches: &[(usize, usize)]) -> Snippet {
    let length = text.chars().count();
    let wanted = matches.first().map_or(0, |(start, _)| start.saturating_sub(LEAD));
    // A snippet that shows the end anyway shows as much before it as there is room for.
    let wanted = wanted.min(length.saturating_sub(LENGTH));
    // It begins with a whole word.
    let mut starts = tokens.iter().map(|token| token.start);
    let from = starts.find(|start| *start >= wanted).filter(|_| wanted > 0).unwrap_or(wanted);
    let shown: String = text.chars().skip(from).take(LENGTH).collect();
    let until = from + shown.chars().count();
    let lead = usize::from(from > 0);
    let mut whole = String::with_capacity(shown.len() + 2 * LEFT_OUT.len_utf8());
    if lead > 0 {
        whole.push(LEFT_OUT);
    }
    whole.push_str(&shown);
    if until < length {
        whole.push(LEFT_OUT);
    }
    let mut inside: Vec<(usize, usize)> = Vec::new();
    for (start, end) in matches.iter().filter(|(start, end)| *start >= from && *end <= until) {
        let (start, end) = (start - from + lead, end - from + lead);
        // Phrases may share words: what is marked is marked once.
        match inside.last_mut() {
            Some(last) if start < last.1 => last.1 = last.1.max(end),
            _ => inside.push((start, end)),
        }
    }
    Snippet { text: whole, matches: inside }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str, query: &str) -> (String, Vec<String>) {
        let snippet = snippet(text, &WordQuery::parse(query).unwrap());
        let chars: Vec<char> = snippet.text.chars().collect();
        let marked =
            snippet.matches.iter().map(|(start, end)| chars[*start..*end].iter().collect());
        (snippet.text.clone(), marked.collect())
    }

    #[test]
    fn a_short_text_is_shown_whole_with_its_words_marked() {
        let (text, marked) = shown("Ünder the lake,\n two dogs ran.", "dog LAKE \"ran\"");
        assert_eq!(text, "Ünder the lake, two dogs ran.");
        assert_eq!(marked, ["lake", "dogs", "ran"]);
    }

    #[test]
    fn a_long_text_is_cut_around_the_first_word() {
        let text = format!("{}the canary sings {}", "before ".repeat(100), "after ".repeat(100));
        let (text, marked) = shown(&text, "canary");
        assert_eq!(marked, ["canary"]);
        assert!(text.starts_with("…before") && text.ends_with('…'), "{text}");
        assert!(text.chars().count() <= LENGTH + 2, "{text}");
    }

    #[test]
    fn a_word_at_the_end_of_a_long_text_is_shown_with_what_comes_before_it() {
        let text = format!("{}canary", "before ".repeat(100));
        let (text, marked) = shown(&text, "canary");
        assert!(text.starts_with('…') && text.ends_with("canary"), "{text}");
        assert_eq!(marked, ["canary"]);
    }

    #[test]
    fn s15_a_snippet_has_nothing_that_acts_on_what_shows_it() {
        let (text, marked) = shown("a\u{202e}b \u{1b}[2Jcanary\u{0}<b>x</b>", "canary");
        assert_eq!(text, "a\u{fffd}b canary\u{fffd}<b>x</b>");
        assert_eq!(marked, ["canary"]);
    }

    #[test]
    fn a_text_without_the_words_is_shown_from_its_beginning() {
        let (text, marked) = shown(&"word ".repeat(100), "canary");
        assert!(text.starts_with("word word") && text.ends_with('…'), "{text}");
        assert!(marked.is_empty());
    }

    #[test]
    fn words_that_two_phrases_share_are_marked_once() {
        let (_, marked) = shown("red green blue", "\"red green\" \"green blue\"");
        assert_eq!(marked, ["red green blue"]);
    }
}
