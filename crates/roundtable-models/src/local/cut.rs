//! Where an answer of the local model ends. It is fluent for a few sentences and wanders off then,
//! so it gets a few, and one that is not finished is marked.

/// What follows a sentence's end inside of it: quotes and brackets that close.
const CLOSING: [char; 6] = ['"', '\'', ')', ']', '\u{201d}', '\u{2019}'];
/// Short forms whose dot ends no sentence.
const SHORT: [&str; 12] =
    ["mr", "mrs", "ms", "dr", "st", "vs", "etc", "e.g", "i.e", "no", "jr", "sr"];

/// Lets so many sentences through, piece by piece.
#[derive(Debug)]
pub(super) struct Cut {
    left: usize,
    /// The word that is being said, without what comes after it.
    word: String,
    /// Whether the last word ended a sentence, if nothing but space follows.
    ended: bool,
    /// Space that is passed on only when something follows.
    space: String,
}

impl Cut {
    pub(super) fn after(sentences: usize) -> Self {
        Self { left: sentences, word: String::new(), ended: false, space: String::new() }
    }

    /// What of a piece belongs to the answer.
    pub(super) fn take(&mut self, piece: &str) -> String {
        let mut out = String::new();
        for c in piece.chars() {
            if self.is_over() {
                break;
            }
            if c.is_whitespace() {
                self.ended = is_end(&self.word);
                self.left -= usize::from(self.ended);
                self.word.clear();
                self.space.push(c);
            } else {
                out.push_str(&std::mem::take(&mut self.space));
                self.word.push(c);
                self.ended = false;
                out.push(c);
            }
        }
        out
    }

    /// Whether nothing more belongs to the answer.
    pub(super) fn is_over(&self) -> bool {
        self.left == 0
    }

    /// What is added at the very end: a sentence that was not finished is said to be so.
    pub(super) fn finish(&self, cut_off: bool) -> &'static str {
        if cut_off && !self.ended && !is_end(&self.word) { "…" } else { "" }
    }
}

fn is_end(word: &str) -> bool {
    let bare = word.trim_end_matches(CLOSING);
    let Some(before) = bare.strip_suffix(['.', '!', '?', '…', '。', '！', '？']) else {
        return false;
    };
    let spoken = before.trim_start_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
    // An initial or a numbered point is no end, either.
    let alone = before.chars().count() == 1 && bare.ends_with('.') && before != "I";
    let number =
        !before.is_empty() && before.chars().all(|c| c.is_ascii_digit()) && before.len() < 3;
    !(SHORT.contains(&spoken.as_str()) || alone || number)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(text: &str, sentences: usize) -> String {
        // Cut anywhere, the pieces give the same.
        let whole = Cut::after(sentences).take(text);
        let mut by_letter = Cut::after(sentences);
        let letters: String = text.chars().map(|c| by_letter.take(&c.to_string())).collect();
        assert_eq!(whole, letters);
        whole
    }

    #[test]
    fn an_answer_ends_after_so_many_sentences() {
        assert_eq!(cut("One. Two! Three? Four.", 2), "One. Two!");
        assert_eq!(cut("\"Is it?\" he asked. Yes.", 2), "\"Is it?\" he asked.");
        assert_eq!(cut("好。 Yes. No.", 2), "好。 Yes.");
        assert_eq!(cut("No end", 1), "No end");
        assert_eq!(cut("One.\n\nTwo.", 1), "One.");
    }

    #[test]
    fn short_forms_initials_and_numbers_end_nothing() {
        let text = "Dr. J. Smith paid 3.50 vs. 4, e.g. at 1. Main St. and left. Then";
        assert_eq!(cut(text, 1), "Dr. J. Smith paid 3.50 vs. 4, e.g. at 1. Main St. and left.");
        assert_eq!(cut("It was in 1999. Then", 1), "It was in 1999.");
    }

    #[test]
    fn a_sentence_that_was_cut_off_is_marked() {
        let finish = |text: &str, cut_off: bool| {
            let mut cut = Cut::after(3);
            cut.take(text);
            cut.finish(cut_off)
        };
        assert_eq!(finish("It goes on and", true), "…");
        assert_eq!(finish("It is done.", true), "");
        assert_eq!(finish("It is done. ", true), "");
        assert_eq!(finish("As it likes", false), "", "the model ended it");
    }
}
