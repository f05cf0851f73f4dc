//! Words of a speaker, written as they come.

use roundtable::core::id::TurnId;

use super::panel;
use crate::wrap::Wrap;

/// A speaker whose words are written as they come.
pub(super) struct Speaking {
    pub turn: TurnId,
    pub wrap: Wrap,
    /// What is written of the words of this model call.
    pub written: String,
}

impl Speaking {
    /// What is to be written of these words. What is heard of an answer before it is checked may
    /// differ from what it is in the end, when it had to be repaired or requested again: then the
    /// whole answer is written with a note.
    pub fn extend(&mut self, words: String) -> String {
        let text = match words.strip_prefix(&self.written) {
            Some(fresh) => self.wrap.push(fresh),
            None => {
                let before = self.wrap.finish();
                format!("{before}{}[corrected answer:]\n{}", panel::MARGIN, self.wrap.push(&words))
            }
        };
        self.written = words;
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_go_on_and_what_turns_out_otherwise_is_written_as_a_whole()
    -> Result<(), Box<dyn std::error::Error>> {
        let turn = "trn_1".parse()?;
        let wrap = Wrap::new(40, panel::MARGIN);
        let mut speaking = Speaking { turn, wrap, written: String::new() };
        let said = ["Begin ", "Begin now ", "Wait a year. "]
            .map(|words| speaking.extend(words.to_owned()));
        let margin = panel::MARGIN;
        let anew = format!("\n{margin}[corrected answer:]\n{margin}Wait a year.");
        assert_eq!(said, [format!("{margin}Begin"), " now".to_owned(), anew]);
        Ok(())
    }
}
