//! Words compared as people compare them: case, spaces and the form of quotation marks do not matter.

use std::collections::BTreeSet;

/// So many characters are shown on either side of a passage.
const AROUND: usize = 80;
const SHORT: usize = 300;

/// What is looked for.
pub(super) struct Needle {
    text: String,
    words: BTreeSet<String>,
}

impl Needle {
    /// A quote to look for, unless it has no words.
    pub fn new(quote: &str) -> Option<Self> {
        let text = Plain::of(quote).text;
        let text = text.trim_matches(|char: char| "\"'.… ".contains(char)).to_owned();
        let words = words(&text);
        (!words.is_empty()).then_some(Self { text, words })
    }

    /// The passage of a text that has the quote, in the text's own spelling, with a little around it.
    pub fn find(&self, text: &str) -> Option<String> {
        let plain = Plain::of(text);
        let at = plain.text.find(&self.text)?;
        let (start, end) = (plain.origin(at), plain.origin(at + self.text.len()));
        let before = text[..start].char_indices().rev().nth(AROUND).map_or(0, |(place, _)| place);
        let after =
            text[end..].char_indices().nth(AROUND).map_or(text.len(), |(place, _)| end + place);
        let dots = |cut: bool| if cut { "…" } else { "" };
        Some(format!("{}{}{}", dots(before > 0), &text[before..after], dots(after < text.len())))
    }

    /// The share of the quote's words that a text has.
    pub fn nearness(&self, text: &str) -> f64 {
        let theirs = words(&Plain::of(text).text);
        let common = self.words.intersection(&theirs).count();
        common as f64 / self.words.len() as f64
    }
}

/// The beginning of a text.
pub(super) fn shortened(text: &str) -> String {
    match text.char_indices().nth(SHORT) {
        Some((place, _)) => format!("{}…", &text[..place]),
        None => text.to_owned(),
    }
}

fn words(text: &str) -> BTreeSet<String> {
    text.split(|char: char| !char.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_owned)
        .collect()
}

/// A text in the form in which texts are compared, and where each of its bytes comes from.
struct Plain {
    text: String,
    origins: Vec<usize>,
    end: usize,
}

impl Plain {
    fn of(text: &str) -> Self {
        let mut plain = Self { text: String::new(), origins: Vec::new(), end: text.len() };
        for (place, char) in text.char_indices() {
            match char {
                char if char.is_whitespace() => {
                    if !plain.text.ends_with(' ') {
                        plain.push(' ', place);
                    }
                }
                '“' | '”' | '„' | '«' | '»' => plain.push('"', place),
                '‘' | '’' | '‚' => plain.push('\'', place),
                char => char.to_lowercase().for_each(|lower| plain.push(lower, place)),
            }
        }
        plain
    }

    fn push(&mut self, char: char, origin: usize) {
        self.text.push(char);
        self.origins.resize(self.text.len(), origin);
    }

    fn origin(&self, place: usize) -> usize {
        self.origins.get(place).copied().unwrap_or(self.end)
    }
}
