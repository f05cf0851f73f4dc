//! Names of tools as vendors accept them, and back.

use std::collections::{BTreeMap, BTreeSet};

use crate::output::Shape;

const LONGEST: usize = 64;

/// The names of the tools on offer, in both spellings.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Names {
    there: BTreeMap<String, String>,
    back: BTreeMap<String, String>,
}

impl Names {
    /// The names of these tools, and of the one that a reply may have to be given through.
    pub fn new<'a>(tools: impl Iterator<Item = &'a str>, shape: &'a Shape) -> Self {
        let mut names = Self::default();
        let mut taken = BTreeSet::new();
        let all: Vec<&str> = tools.chain(shape.tool()).collect();
        // A name that is fine as it is keeps its spelling, whatever others look like.
        for name in all.iter().filter(|name| spell(name) == **name) {
            taken.insert((*name).to_owned());
            names.pair(name, name);
        }
        for name in all {
            if names.there.contains_key(name) {
                continue;
            }
            let plain = spell(name);
            let numbered = (2..).map(|number| number_of(&plain, number));
            let free = std::iter::once(plain.clone()).chain(numbered);
            let spelt = { free }.find(|spelt| !taken.contains(spelt)).unwrap_or(plain);
            taken.insert(spelt.clone());
            names.pair(name, &spelt);
        }
        names
    }

    fn pair(&mut self, name: &str, spelt: &str) {
        self.there.insert(name.to_owned(), spelt.to_owned());
        self.back.insert(spelt.to_owned(), name.to_owned());
    }

    /// The name as the vendor is told it. A tool that is no longer on offer is spelt alike.
    pub fn there(&self, name: &str) -> String {
        self.there.get(name).cloned().unwrap_or_else(|| spell(name))
    }

    /// The name as we know it. A name that was never offered stays what the model made of it.
    pub fn back(&self, spelt: &str) -> String {
        self.back.get(spelt).cloned().unwrap_or_else(|| spelt.to_owned())
    }
}

/// Letters, digits, `_` and `-`, not beginning with a digit or `-`, not too long.
fn spell(name: &str) -> String {
    let fine = |c: char| if c.is_ascii_alphanumeric() || c == '_' || c == '-' { c } else { '_' };
    let mut spelt: String = name.chars().map(fine).take(LONGEST).collect();
    if !spelt.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') {
        spelt.insert(0, '_');
        spelt.truncate(LONGEST);
    }
    spelt
}

fn number_of(plain: &str, number: u32) -> String {
    let number = format!("_{number}");
    let room = LONGEST - number.len();
    format!("{}{number}", plain.get(..room).unwrap_or(plain))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_vendors_refuse_are_spelt_otherwise_and_come_back_as_they_were() {
        let tools = ["search", "files.read", "files/read", "files_read", "9lives", ""];
        let names = Names::new(tools.into_iter(), &Shape::Free);
        let there: Vec<String> = tools.iter().map(|name| names.there(name)).collect();
        assert_eq!(there, ["search", "files_read_2", "files_read_3", "files_read", "_9lives", "_"]);
        let back: Vec<String> = there.iter().map(|spelt| names.back(spelt)).collect();
        assert_eq!(back, tools);
        assert_eq!(names.back("made_up"), "made_up");
    }

    #[test]
    fn long_names_that_begin_alike_stay_apart() {
        let tools = ["a".repeat(70), "a".repeat(71)];
        let names = Names::new(tools.iter().map(String::as_str), &Shape::Free);
        let there: Vec<String> = tools.iter().map(|name| names.there(name)).collect();
        assert!(there[0] != there[1] && there.iter().all(|name| name.len() <= LONGEST));
        assert_eq!(names.back(&there[1]), tools[1]);
    }
}
