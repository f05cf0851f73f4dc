//! Names of tools as vendors accept them, and back.

use std::borrow::Cow;

use crate::output::Shape;

const LONGEST: usize = 64;

/// The names of the tools on offer, as we spell them and as the vendor does. There are few.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Names(Vec<(String, String)>);

impl Names {
    /// The names of these tools, and of the one that a reply may have to be given through.
    pub fn new<'a>(tools: impl Iterator<Item = &'a str>, shape: &'a Shape) -> Self {
        let all: Vec<(&str, String)> =
            tools.chain(shape.tool()).map(|name| (name, spell(name))).collect();
        // A name that is fine as it is keeps its spelling, whatever others look like.
        let (fine, odd): (Vec<_>, Vec<_>) =
            all.into_iter().partition(|(name, plain)| name == plain);
        let mut names =
            Self(fine.into_iter().map(|(name, plain)| (name.to_owned(), plain)).collect());
        for (name, plain) in odd {
            if names.0.iter().any(|(ours, _)| ours == name) {
                continue;
            }
            let numbered = (2..).map(|number| number_of(&plain, number));
            let free = std::iter::once(plain.clone()).chain(numbered);
            let spelled = { free }.find(|spelled| !names.is_taken(spelled)).unwrap_or(plain);
            names.0.push((name.to_owned(), spelled));
        }
        names
    }

    fn is_taken(&self, spelled: &str) -> bool {
        self.0.iter().any(|(_, theirs)| theirs == spelled)
    }

    /// The name as the vendor is told it. A tool that is no longer on offer is spelled alike.
    pub fn there<'a>(&self, name: &'a str) -> Cow<'a, str> {
        match self.0.iter().find(|(ours, _)| ours == name) {
            Some((_, theirs)) if theirs == name => Cow::Borrowed(name),
            Some((_, theirs)) => Cow::Owned(theirs.clone()),
            None => Cow::Owned(spell(name)),
        }
    }

    /// The name as we know it. A name that was never offered stays what the model made of it.
    pub fn back(&self, spelled: &str) -> String {
        let known = self.0.iter().find(|(_, theirs)| theirs == spelled);
        known.map_or(spelled, |(ours, _)| ours).to_owned()
    }
}

/// Letters, digits, `_` and `-`, not beginning with a digit or `-`, not too long.
fn spell(name: &str) -> String {
    let fine = |c: char| if c.is_ascii_alphanumeric() || c == '_' || c == '-' { c } else { '_' };
    let mut spelled: String = name.chars().map(fine).take(LONGEST).collect();
    if !spelled.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') {
        spelled.insert(0, '_');
        spelled.truncate(LONGEST);
    }
    spelled
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
    fn names_that_vendors_refuse_are_spelled_otherwise_and_come_back_as_they_were() {
        let tools = ["search", "files.read", "files/read", "files_read", "9lives", ""];
        let names = Names::new(tools.into_iter(), &Shape::Free);
        let there: Vec<_> = tools.iter().map(|name| names.there(name)).collect();
        assert_eq!(there, ["search", "files_read_2", "files_read_3", "files_read", "_9lives", "_"]);
        let back: Vec<String> = there.iter().map(|spelled| names.back(spelled)).collect();
        assert_eq!(back, tools);
        assert_eq!(names.back("made_up"), "made_up");
    }

    #[test]
    fn long_names_that_begin_alike_stay_apart() {
        let tools = ["a".repeat(70), "a".repeat(71)];
        let names = Names::new(tools.iter().map(String::as_str), &Shape::Free);
        let there: Vec<_> = tools.iter().map(|name| names.there(name)).collect();
        assert!(there[0] != there[1] && there.iter().all(|name| name.len() <= LONGEST));
        assert_eq!(names.back(&there[1]), tools[1]);
    }
}
