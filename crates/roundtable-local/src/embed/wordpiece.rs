//! Text to the token numbers that MiniLM was trained on: cleaned, lower case, without accents, cut
//! into words and those into the longest pieces that the vocabulary has. Nothing in a text stands
//! for a special token: `[SEP]` is a bracket, three letters and a bracket.

use std::collections::HashMap;

use unicode_normalization::UnicodeNormalization as _;

use super::unicode::{is_dropped, is_ideograph, is_later, is_mark, is_punctuation};

/// Words with more characters are unknown as a whole.
const LONGEST_WORD: usize = 100;
/// How a piece inside of a word is marked in the vocabulary.
const INSIDE: &str = "##";

/// The vocabulary.
pub(super) struct WordPiece {
    /// Pieces that begin a word.
    first: HashMap<String, u32>,
    /// Pieces inside of a word, without their mark.
    inside: HashMap<String, u32>,
    begin: u32,
    end: u32,
    unknown: u32,
}

impl WordPiece {
    /// A vocabulary of one piece a line. Its size is what token numbers are below of. Nothing, if
    /// one of the special tokens is missing.
    pub(super) fn new(vocabulary: &str) -> Option<(Self, usize)> {
        let (mut first, mut inside, mut size) = (HashMap::new(), HashMap::new(), 0);
        for line in vocabulary.lines() {
            let number = u32::try_from(size).ok()?;
            match line.strip_prefix(INSIDE) {
                Some(piece) if !piece.is_empty() => inside.insert(piece.to_owned(), number),
                _ => first.insert(line.to_owned(), number),
            };
            size += 1;
        }
        let [begin, end, unknown] =
            ["[CLS]", "[SEP]", "[UNK]"].map(|name| first.get(name).copied());
        let (begin, end, unknown) = (begin?, end?, unknown?);
        Some((Self { first, inside, begin, end, unknown }, size))
    }

    /// The tokens of a text, `most` at the most, the beginning and the end among them. What does
    /// not fit is left out.
    pub(super) fn encode(&self, text: &str, most: usize) -> Vec<u32> {
        let mut tokens = vec![self.begin];
        let mut words = Words::new(text);
        while tokens.len() + 1 < most
            && let Some(word) = words.next()
        {
            self.add_pieces(&word, &mut tokens);
        }
        tokens.truncate(most.saturating_sub(1));
        tokens.push(self.end);
        tokens
    }

    /// The longest piece first, then the longest inside of the rest, and so on. A word that cannot
    /// be put together like that is unknown.
    fn add_pieces(&self, word: &str, tokens: &mut Vec<u32>) {
        let (before, mut rest) = (tokens.len(), word);
        if word.chars().nth(LONGEST_WORD).is_some() {
            return tokens.push(self.unknown);
        }
        while !rest.is_empty() {
            let pieces = if rest.len() == word.len() { &self.first } else { &self.inside };
            let ends = rest.char_indices().map(|(place, c)| place + c.len_utf8());
            let found = ends.rev().find_map(|end| Some((end, *pieces.get(rest.get(..end)?)?)));
            let Some((end, token)) = found else {
                tokens.truncate(before);
                return tokens.push(self.unknown);
            };
            tokens.push(token);
            rest = &rest[end..];
        }
    }
}

/// The words of a text, one by one: of a long text only the beginning is looked at.
struct Words<I> {
    letters: I,
    /// A punctuation mark that ended the last word, and is a word itself.
    next: Option<char>,
}

impl<'a> Words<Box<dyn Iterator<Item = char> + 'a>> {
    fn new(text: &'a str) -> Self {
        Self { letters: Box::new(letters(text)), next: None }
    }
}

impl<I: Iterator<Item = char>> Iterator for Words<I> {
    type Item = String;

    fn next(&mut self) -> Option<String> {
        if let Some(mark) = self.next.take() {
            return Some(mark.to_string());
        }
        let (mut word, mut count) = (String::new(), 0);
        for c in self.letters.by_ref() {
            if is_punctuation(c) {
                if word.is_empty() {
                    return Some(c.to_string());
                }
                self.next = Some(c);
                return Some(word);
            }
            if c.is_whitespace() {
                if !word.is_empty() {
                    return Some(word);
                }
            } else if count <= LONGEST_WORD {
                // Of a word that is too long, no more is kept than tells that it is.
                word.push(c);
                count += 1;
            }
        }
        (!word.is_empty()).then_some(word)
    }
}

/// The letters that count: no control characters, no accents, lower case, and every ideograph a
/// word of its own.
fn letters(text: &str) -> impl Iterator<Item = char> + '_ {
    let clean =
        text.chars().filter(|c| !is_dropped(*c)).map(|c| if c.is_whitespace() { ' ' } else { c });
    let apart = clean.flat_map(|c| {
        let space = is_ideograph(c).then_some(' ');
        [space, Some(c), space].into_iter().flatten()
    });
    Decomposed::new(apart).filter(|c| !is_mark(*c)).flat_map(char::to_lowercase)
}

/// Text in canonical decomposition, except for characters that the model's tokeniser does not know
/// how to decompose: they came to Unicode after it.
struct Decomposed<I: Iterator<Item = char>> {
    rest: std::iter::Peekable<I>,
    /// What is decomposed and not yet handed out.
    ready: std::collections::VecDeque<char>,
}

impl<I: Iterator<Item = char>> Decomposed<I> {
    fn new(rest: I) -> Self {
        Self { rest: rest.peekable(), ready: std::collections::VecDeque::new() }
    }
}

/// How much is decomposed at once. It ends sooner where a word ends.
const RUN: usize = 4096;

impl<I: Iterator<Item = char>> Iterator for Decomposed<I> {
    type Item = char;

    fn next(&mut self) -> Option<char> {
        if let Some(ready) = self.ready.pop_front() {
            return Some(ready);
        }
        let first = self.rest.next()?;
        if first.is_ascii() || is_later(first) {
            return Some(first);
        }
        // Marks may have to change places, so characters that follow each other go together.
        let mut run = String::from(first);
        while let Some(c) = self.rest.next_if(|c| !c.is_ascii() && !is_later(*c)) {
            run.push(c);
            if run.len() > RUN {
                break;
            }
        }
        self.ready.extend(run.nfd());
        self.ready.pop_front()
    }
}
