//! Ids of tool calls as vendors accept them.

use std::borrow::Cow;
use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use crate::catalog::ToolIds;

/// The longest id that every vendor with ids like ours accepts.
const LONGEST: usize = 40;
const LETTERS: &[u8; 36] = b"0123456789abcdefghijklmnopqrstuvwxyz";

/// Gives each call of a prompt an id that no other call of it has.
pub struct Ids<'a> {
    style: ToolIds,
    taken: HashSet<Cow<'a, str>>,
}

impl<'a> Ids<'a> {
    pub fn new(style: ToolIds) -> Self {
        Self { style, taken: HashSet::new() }
    }

    /// The id of the next call. The same prompt gives the same ids, so what providers keep stays
    /// good.
    pub fn take(&mut self, ours: &'a str) -> Cow<'a, str> {
        let mut id = self.spell(ours, 0);
        let mut again = 1;
        while !self.taken.insert(id.clone()) {
            id = self.spell(ours, again);
            again += 1;
        }
        id
    }

    fn spell(&self, ours: &'a str, again: u32) -> Cow<'a, str> {
        match self.style {
            ToolIds::Ours if again == 0 && ours.len() <= LONGEST => ours.into(),
            ToolIds::Ours => format!("tcl_{}", letters(ours, again, 13)).into(),
            ToolIds::Nine => letters(ours, again, 9).into(),
        }
    }
}

fn letters(text: &str, again: u32, length: usize) -> String {
    let mut hasher = DefaultHasher::new();
    (text, again).hash(&mut hasher);
    let mut rest = hasher.finish();
    let mut letter = || {
        let letter = LETTERS[(rest % 36) as usize];
        rest /= 36;
        char::from(letter)
    };
    (0..length).map(|_| letter()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_used_once_and_keeps_its_form() {
        let mut ids = Ids::new(ToolIds::Ours);
        assert_eq!(ids.take("tcl_1"), "tcl_1");
        let again = ids.take("tcl_1");
        assert!(again != "tcl_1" && again.starts_with("tcl_"));
        assert!(ids.take(&format!("tcl_{}", "x".repeat(60))).len() <= LONGEST);
        let mut nine = Ids::new(ToolIds::Nine);
        let (one, two) = (nine.take("tcl_1"), nine.take("tcl_1"));
        assert!(one != two && one.len() == 9 && two.len() == 9);
        assert_eq!(Ids::new(ToolIds::Nine).take("tcl_1"), one);
    }
}
