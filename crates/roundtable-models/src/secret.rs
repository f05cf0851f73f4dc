//! Keys: values that are used and never shown.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Deserializer};

/// A key. It prints as `***`, cannot be serialised, and is taken out of every text that a provider
/// sends back.
///
/// ```
/// use roundtable_models::Secret;
/// let key = Secret::new("sk-canary");
/// assert_eq!(format!("{key} {key:?}"), "*** ***");
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(Arc<str>);

/// Shorter keys are not looked for in texts: they would hit ordinary words.
const SHORTEST: usize = 6;

impl Secret {
    /// A key, without the blanks around it that copying leaves behind.
    pub fn new(text: impl AsRef<str>) -> Self {
        Self(text.as_ref().trim().into())
    }

    /// The key itself, to be sent to its owner and nowhere else.
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// Whether there is nothing to hide.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// A text without the key.
    pub fn scrub(&self, text: &str) -> String {
        if self.0.len() < SHORTEST { text.to_owned() } else { text.replace(&*self.0, "***") }
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

impl fmt::Display for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

impl<'de> Deserialize<'de> for Secret {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(Self::new)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn s28_a_key_prints_as_stars_however_it_is_printed() {
        let key = Secret::new(" sk-canary-1\n");
        assert_eq!(key.reveal(), "sk-canary-1");
        assert_eq!(
            format!("{key} {key:?} {:#?} {:>9}", Some(&key), key),
            "*** *** Some(\n    ***,\n) ***"
        );
    }

    #[test]
    fn s28_a_key_is_taken_out_of_texts_and_short_ones_leave_words_alone() {
        assert_eq!(Secret::new("sk-canary").scrub("key sk-canary, sk-canary!"), "key ***, ***!");
        assert_eq!(Secret::new("").scrub("as it was"), "as it was");
        assert_eq!(Secret::new("a").scrub("a cat"), "a cat");
    }
}
