//! Words that someone looks for in messages: how a query is read, and what of a message is shown.
//!
//! A store may have an index of its own. The words that it is asked for come from here, so that the
//! text of a query never becomes syntax.

mod snippet;
mod stem;

pub use snippet::{Snippet, snippet};
use snippet::{Token, tokens};
pub use stem::stem;

/// How many characters a query may have.
pub const LONGEST_QUERY: usize = 500;
/// How many words a query may have.
pub const MOST_WORDS: usize = 32;

/// Why a text cannot be looked for.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadQuery {
    /// It has no word.
    #[error("the query has no words; use letters or digits")]
    Empty,
    /// It is too long.
    #[error("the query is too long; use at most {LONGEST_QUERY} characters and {MOST_WORDS} words")]
    TooLong,
}

/// Words to look for. A part in double quotes is a phrase: its words follow each other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WordQuery {
    /// Never empty, and no phrase is. The words are letters and digits, in lower case.
    phrases: Vec<Vec<String>>,
    /// Whether one phrase is enough.
    any: bool,
}

impl WordQuery {
    /// Reads what someone typed. Everything but letters, digits and double quotes separates words.
    ///
    /// # Errors
    /// [`BadQuery`] when there is nothing to look for, or too much.
    pub fn parse(text: &str) -> Result<Self, BadQuery> {
        if text.chars().count() > LONGEST_QUERY {
            return Err(BadQuery::TooLong);
        }
        let mut phrases: Vec<Vec<String>> = Vec::new();
        // Every second part is inside quotes; a quote that is left open reaches to the end.
        for (index, part) in text.split('"').enumerate() {
            let words = part.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
            let words = words.map(str::to_lowercase);
            match index % 2 {
                0 => phrases.extend(words.map(|word| vec![word])),
                _ => phrases.push(words.collect()),
            }
        }
        phrases.retain(|phrase| !phrase.is_empty());
        match phrases.iter().map(Vec::len).sum::<usize>() {
            0 => Err(BadQuery::Empty),
            1..=MOST_WORDS => Ok(Self { phrases, any: false }),
            _ => Err(BadQuery::TooLong),
        }
    }

    /// The same, where one of the phrases is enough.
    #[must_use]
    pub fn any(mut self) -> Self {
        self.any = true;
        self
    }

    /// Whether one of the phrases is enough.
    pub fn is_any(&self) -> bool {
        self.any
    }

    /// The phrases, each with its words.
    pub fn phrases(&self) -> impl Iterator<Item = &[String]> {
        self.phrases.iter().map(Vec::as_slice)
    }

    /// How well a text fits, for stores without an index: more phrases and more occurrences are
    /// better, and each further occurrence counts less. Nothing when it does not fit.
    pub fn score(&self, text: &str) -> Option<f64> {
        let tokens = tokens(text);
        let counts: Vec<usize> =
            self.stems().iter().map(|phrase| occurrences(phrase, &tokens).count()).collect();
        let fits = |count: &usize| *count > 0;
        let found = if self.any { counts.iter().any(fits) } else { counts.iter().all(fits) };
        let weight = |count: usize| {
            let count = f64::from(u32::try_from(count).unwrap_or(u32::MAX));
            count / (count + 1.0)
        };
        found.then(|| counts.into_iter().map(weight).sum())
    }

    fn stems(&self) -> Vec<Vec<String>> {
        let stems = |phrase: &[String]| phrase.iter().map(|word| stem(word)).collect();
        self.phrases().map(stems).collect()
    }
}

/// Where a phrase occurs: the index of the first token of each place.
fn occurrences<'a>(
    phrase: &'a [String],
    tokens: &'a [Token],
) -> impl Iterator<Item = usize> + use<'a> {
    let places = tokens.windows(phrase.len().max(1)).enumerate();
    places.filter_map(move |(index, window)| {
        let same = window.iter().zip(phrase).all(|(token, stem)| token.stem == *stem);
        same.then_some(index)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn phrases(text: &str) -> Vec<Vec<String>> {
        WordQuery::parse(text).unwrap().phrases
    }

    #[test]
    fn a_query_is_words_and_phrases_and_never_syntax() {
        let words = |words: &[&str]| words.iter().map(|word| vec![(*word).to_owned()]).collect();
        let expected: Vec<Vec<String>> = words(&["near", "a", "b", "or", "text", "x"]);
        assert_eq!(phrases("NEAR(a* b) OR text:x --"), expected);
        let phrase: Vec<String> = ["blue", "green"].map(str::to_owned).into();
        assert_eq!(phrases("\"Blue  green\" red"), [phrase.clone(), vec!["red".to_owned()]]);
        assert_eq!(phrases("red \"blue green"), [vec!["red".to_owned()], phrase]);
    }

    #[test]
    fn a_query_without_words_or_with_too_many_is_refused() {
        for empty in ["", "  ", "\"\"", "*", "\u{0}\u{202e}", "-- '; \""] {
            assert_eq!(WordQuery::parse(empty), Err(BadQuery::Empty), "{empty:?}");
        }
        assert!(WordQuery::parse(&"x ".repeat(32)).is_ok());
        assert_eq!(WordQuery::parse(&"x ".repeat(33)), Err(BadQuery::TooLong));
        assert_eq!(WordQuery::parse(&"x".repeat(501)), Err(BadQuery::TooLong));
    }

    #[test]
    fn a_text_fits_when_it_has_all_words_in_any_form_or_any_of_them_where_that_is_enough() {
        let both = WordQuery::parse("running dogs").unwrap();
        assert!(both.score("The dog runs.").is_some());
        assert_eq!(both.score("The dog sleeps."), None);
        assert!(both.clone().any().score("The dog sleeps.").is_some());
        assert_eq!(both.any().score("The cat sleeps."), None);
        let phrase = WordQuery::parse("\"blue green\"").unwrap();
        assert!(phrase.score("blue, green").is_some());
        assert_eq!(phrase.score("green blue"), None);
    }
}
