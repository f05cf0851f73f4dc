//! The words that are turned into tokens one by one: every digit alone, and between digits what
//! GPT-2's pattern gives: `'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+`.

use super::letters::{LETTERS, NUMBERS};

const CONTRACTIONS: [&str; 7] = ["'s", "'t", "'re", "'ve", "'m", "'ll", "'d"];

/// The words of a text, in order; together they are the text.
pub(super) fn words(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    // Numbers are words of their own, and what follows does not look past them.
    let mut until_number = upto_number(text);
    std::iter::from_fn(move || {
        let first = rest.chars().next()?;
        let length = if until_number == 0 { first.len_utf8() } else { word(&rest[..until_number]) };
        let (word, after) = rest.split_at(length);
        rest = after;
        until_number = if until_number == 0 { upto_number(rest) } else { until_number - length };
        Some(word)
    })
}

fn upto_number(text: &str) -> usize {
    text.find(|letter| is_in(&NUMBERS, letter)).unwrap_or(text.len())
}

/// Whether a character lies in one of the runs whose borders these are.
fn is_in(borders: &[u32], letter: char) -> bool {
    let passed = borders.partition_point(|border| *border <= u32::from(letter));
    !passed.is_multiple_of(2)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Space,
    Letter,
    Other,
}

impl Class {
    fn of(letter: char) -> Self {
        if letter.is_whitespace() {
            Self::Space
        } else if is_in(&LETTERS, letter) {
            Self::Letter
        } else {
            Self::Other
        }
    }
}

/// The length of the first word of a text without numbers, which is not empty.
fn word(text: &str) -> usize {
    if let Some(contraction) = CONTRACTIONS.iter().find(|short| text.starts_with(**short)) {
        return contraction.len();
    }
    // One blank goes with the word after it.
    let blank = text
        .strip_prefix(' ')
        .filter(|rest| first_class(rest).is_some_and(|class| class != Class::Space));
    let begin = text.len() - blank.unwrap_or(text).len();
    let Some(class) = first_class(&text[begin..]) else { return text.len() };
    let run = text[begin..].find(|letter| Class::of(letter) != class);
    match (class, run) {
        (_, None) => text.len(),
        // The last space before a word is left to it, if it is not the only one.
        (Class::Space, Some(run)) => {
            let last = text[..run].chars().next_back().map_or(0, char::len_utf8);
            if run > last { run - last } else { run }
        }
        (_, Some(run)) => begin + run,
    }
}

fn first_class(text: &str) -> Option<Class> {
    text.chars().next().map(Class::of)
}
