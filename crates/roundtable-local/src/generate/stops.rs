//! Ending an answer at a text: what might be the beginning of one is held back.

/// Text on its way out.
pub(super) struct Stops<'a> {
    stops: Vec<&'a str>,
    held: String,
}

/// What may go out.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Passed {
    /// This text, perhaps empty, and the answer goes on.
    On(String),
    /// This text, and then the answer ends.
    Last(String),
}

impl<'a> Stops<'a> {
    /// Ends at the first of these texts; empty ones are none.
    pub(super) fn new(stops: &'a [String]) -> Self {
        let stops = stops.iter().map(String::as_str).filter(|stop| !stop.is_empty()).collect();
        Self { stops, held: String::new() }
    }

    /// Takes the next text.
    pub(super) fn push(&mut self, text: &str) -> Passed {
        self.held.push_str(text);
        if let Some(place) = self.stops.iter().filter_map(|stop| self.held.find(stop)).min() {
            self.held.truncate(place);
            return Passed::Last(std::mem::take(&mut self.held));
        }
        let keep = self.stops.iter().map(|stop| begun(&self.held, stop)).max().unwrap_or(0);
        let held = self.held.split_off(self.held.len() - keep);
        Passed::On(std::mem::replace(&mut self.held, held))
    }

    /// What was held back, when the answer ends by itself.
    pub(super) fn finish(self) -> String {
        self.held
    }
}

/// The length of the longest end of `text` that is a beginning of `stop`.
fn begun(text: &str, stop: &str) -> usize {
    let lengths = stop.char_indices().map(|(length, _)| length).rev();
    lengths.into_iter().find(|length| text.ends_with(&stop[..*length])).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn passed(stops: &[&str], pieces: &[&str]) -> (String, bool) {
        let stops: Vec<String> = stops.iter().map(|stop| (*stop).to_owned()).collect();
        let mut out = String::new();
        let mut filter = Stops::new(&stops);
        for piece in pieces {
            match filter.push(piece) {
                Passed::On(text) => out.push_str(&text),
                Passed::Last(text) => return (out + &text, true),
            }
        }
        (out + &filter.finish(), false)
    }

    #[test]
    fn the_answer_ends_before_the_first_stop_however_it_is_cut() {
        assert_eq!(passed(&["\nUser:"], &["Yes.\nUs", "er: and"]), ("Yes.".into(), true));
        assert_eq!(passed(&["b", "a"], &["xaby"]), ("x".into(), true));
        assert_eq!(passed(&["aab"], &["a", "a", "a", "b"]), ("a".into(), true));
        assert_eq!(passed(&["…!"], &["wait…", "?"]), ("wait…?".into(), false));
        assert_eq!(passed(&["", "\n\n"], &["a\n"]), ("a\n".into(), false));
    }

    #[test]
    fn nothing_is_held_back_that_cannot_become_a_stop() {
        let stops = ["\nUser:".to_owned()];
        let mut filter = Stops::new(&stops);
        assert_eq!(filter.push("one\ntwo"), Passed::On("one\ntwo".into()));
        assert_eq!(filter.push("\nUse"), Passed::On(String::new()));
        assert_eq!(filter.push("d"), Passed::On("\nUsed".into()));
    }

    proptest! {
        #[test]
        fn cutting_into_pieces_changes_nothing(
            text in "[abé]{0,12}", stop in "[abé]{1,3}", cuts in prop::collection::vec(0usize..12, 0..4)
        ) {
            let mut pieces = vec![];
            let mut rest = text.as_str();
            for cut in cuts {
                let Some((at, _)) = rest.char_indices().nth(cut) else { continue };
                let (piece, after) = rest.split_at(at);
                pieces.push(piece);
                rest = after;
            }
            pieces.push(rest);
            let expected = match text.split_once(&stop) {
                Some((before, _)) => (before.to_owned(), true),
                None => (text.clone(), false),
            };
            prop_assert_eq!(passed(&[&stop], &pieces), expected);
        }
    }
}
