//! Lines that are as wide as the screen, made of words as they come: nothing waits for the rest of the
//! text, as it would with a crate that wraps whole texts.

use unicode_width::UnicodeWidthChar;

/// Breaks words into lines as they come, each behind a margin. A word is written when it is whole.
pub(crate) struct Wrap {
    width: usize,
    margin: &'static str,
    /// How much of the line is written, in columns; nothing when it is not begun.
    column: Option<usize>,
    gap: usize,
    word: String,
}

impl Wrap {
    pub fn new(width: usize, margin: &'static str) -> Self {
        Self { width, margin, column: None, gap: 0, word: String::new() }
    }

    /// What is to be written because of these words.
    pub fn push(&mut self, text: &str) -> String {
        let mut out = String::new();
        for letter in text.chars() {
            match letter {
                '\n' => {
                    self.place(&mut out);
                    self.begin(&mut out);
                    self.end_line(&mut out);
                }
                letter if letter.is_whitespace() => {
                    self.place(&mut out);
                    self.gap += 1;
                }
                letter => self.word.push(letter),
            }
        }
        out
    }

    /// What is left to write; the next words begin a line.
    pub fn finish(&mut self) -> String {
        let mut out = String::new();
        self.place(&mut out);
        if self.column.is_some() {
            self.end_line(&mut out);
        }
        out
    }

    /// Writes the word that is whole, on this line or on the next.
    fn place(&mut self, out: &mut String) {
        let word = std::mem::take(&mut self.word);
        if word.is_empty() {
            return;
        }
        let room = self.width.saturating_sub(columns(self.margin));
        let gap = std::mem::take(&mut self.gap);
        let wide = columns(&word);
        if self.column.is_some_and(|column| column > 0 && column + gap + wide > room) {
            self.end_line(out);
        }
        let at_start = self.column.is_none_or(|column| column == 0);
        self.begin(out);
        // What a line is indented with stays; what parts words does not begin a line.
        let gap = if at_start && gap == 1 { 0 } else { gap.min(room / 2) };
        out.push_str(&" ".repeat(gap));
        self.advance(gap);
        for letter in word.chars() {
            let wide = columns_of(letter);
            if self.column.is_some_and(|column| column + wide > room.max(2)) {
                self.end_line(out);
                self.begin(out);
            }
            out.push(letter);
            self.advance(wide);
        }
    }

    /// Something was written on a new line besides these words.
    pub fn begin_after(&mut self, columns: usize) {
        (self.column, self.gap) = (Some(columns), 0);
    }

    /// The cursor is at the start of a line, whatever was written before.
    pub fn begin_line(&mut self) {
        (self.column, self.gap) = (None, 0);
    }

    fn begin(&mut self, out: &mut String) {
        if self.column.is_none() {
            out.push_str(self.margin);
            self.column = Some(0);
        }
    }

    fn end_line(&mut self, out: &mut String) {
        while out.ends_with(' ') {
            out.pop();
        }
        out.push('\n');
        self.column = None;
        self.gap = 0;
    }

    fn advance(&mut self, columns: usize) {
        self.column = Some(self.column.unwrap_or_default() + columns);
    }
}

/// A whole text in lines.
pub(crate) fn wrapped(text: &str, width: usize, margin: &'static str) -> String {
    let mut wrap = Wrap::new(width, margin);
    let lines = wrap.push(text.trim_end());
    format!("{lines}{}", wrap.finish())
}

/// The most columns in which a text is pleasant to read.
const WIDEST: usize = 100;

/// How wide lines are on a terminal; nothing where the output is not a terminal.
pub(crate) fn width_of(terminal: &console::Term) -> Option<usize> {
    let (_, columns) = terminal.size_checked().filter(|_| terminal.is_term())?;
    Some(usize::from(columns).clamp(20, WIDEST))
}

/// A text in lines that fit standard error, if that is a terminal. A command stays on one line, so
/// that it can be copied.
pub(crate) fn fitted(text: &str) -> String {
    let Some(width) = width_of(&console::Term::stderr()) else { return text.to_owned() };
    let fit = |line: &str| match line.contains(": roundtable ") {
        true => line.to_owned(),
        false => wrapped(line, width, "").trim_end_matches('\n').to_owned(),
    };
    text.split('\n').map(fit).collect::<Vec<_>>().join("\n")
}

/// How many columns a text takes.
pub(crate) fn columns(text: &str) -> usize {
    text.chars().map(columns_of).sum()
}

fn columns_of(letter: char) -> usize {
    UnicodeWidthChar::width(letter).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_break_between_words_and_keep_their_margin() {
        assert_eq!(wrapped("one two three\n\nfour", 11, "| "), "| one two\n| three\n|\n| four\n");
        assert_eq!(wrapped("- a\n    - b", 20, ""), "- a\n    - b\n");
    }

    #[test]
    fn a_word_wider_than_the_screen_is_cut_and_wide_letters_count_twice() {
        assert_eq!(wrapped("abcdefgh", 6, "| "), "| abcd\n| efgh\n");
        assert_eq!(wrapped("日本語です", 6, ""), "日本語\nです\n");
    }

    #[test]
    fn it_does_not_matter_in_which_pieces_words_come() {
        let text = "The quick brown fox\njumps  over the\n\n  lazy dog, again and again.";
        for width in [1, 5, 12, 40] {
            let mut wrap = Wrap::new(width, "| ");
            let pieces: String =
                text.chars().map(|letter| wrap.push(&letter.to_string())).collect();
            assert_eq!(pieces + &wrap.finish(), wrapped(text, width, "| "));
        }
    }
}
