//! What agents are called in everything that others read.

use std::collections::BTreeMap;

use super::mode::Naming;
use super::{Mode, Rules};
use roundtable_core::id::AgentId;

/// The names of a panel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Names {
    naming: Naming,
    /// The seats, from the first, with the names that people know.
    seats: Vec<(AgentId, String)>,
}

impl Names {
    /// The names of a panel that argues in this mode; the agents are those with a seat, in order.
    pub fn new(mode: Mode, seats: Vec<(AgentId, String)>) -> Self {
        Self { naming: mode.policy().naming(), seats }
    }

    /// What an agent with a seat is called.
    pub fn shown(&self, agent: &AgentId) -> Option<String> {
        let seat = self.seats.iter().position(|(id, _)| id == agent)?;
        Some(match self.naming {
            Naming::Names => self.seats[seat].1.clone(),
            Naming::Participants => format!("Participant {}", seat + 1),
            Naming::Members => format!("Member {}", letter(seat)),
        })
    }

    /// Who is meant by a name, as it is shown or as people know it.
    pub fn find(&self, name: &str) -> Option<AgentId> {
        let name = name.trim();
        let meant = |agent: &AgentId, known: &str| {
            self.shown(agent).is_some_and(|shown| shown.eq_ignore_ascii_case(name))
                || known.eq_ignore_ascii_case(name)
                || agent.as_str() == name
                || agent.suffix() == name
                // An expert that was made for the panel may carry its perspective's name by now.
                || agent.suffix().replace('-', " ").eq_ignore_ascii_case(name)
        };
        self.seats.iter().find(|(id, known)| meant(id, known)).map(|(id, _)| id.clone())
    }

    /// A text in which nobody is called by a name that others must not know.
    pub fn mask(&self, text: &str) -> String {
        if self.naming == Naming::Names {
            return text.to_owned();
        }
        // The longest first: one name may begin with another.
        let mut known: Vec<(&str, String)> = Vec::new();
        for (id, name) in &self.seats {
            let shown = self.shown(id).unwrap_or_default();
            known.push((name.as_str(), shown.clone()));
            known.push((id.as_str(), shown));
        }
        known.retain(|(name, _)| !name.is_empty());
        known.sort_by_key(|(name, _)| std::cmp::Reverse(name.len()));
        known
            .into_iter()
            .fold(text.to_owned(), |text, (name, shown)| replace_word(&text, name, &shown))
    }
}

impl Rules {
    /// What those who argue are called where their names are hidden; nothing where they are not.
    pub fn pseudonyms(&self, seats: &[AgentId]) -> BTreeMap<AgentId, String> {
        if self.mode.policy().naming() == Naming::Names {
            return BTreeMap::new();
        }
        let names =
            Names::new(self.mode, seats.iter().map(|seat| (seat.clone(), String::new())).collect());
        seats.iter().filter_map(|seat| Some((seat.clone(), names.shown(seat)?))).collect()
    }
}

/// `A` to `Z`, then `A1`, `B1`, and so on.
fn letter(seat: usize) -> String {
    let letter = char::from(b'A' + u8::try_from(seat % 26).unwrap_or_default());
    if seat < 26 { letter.to_string() } else { format!("{letter}{}", seat / 26) }
}

/// Replaces a word where it stands alone.
fn replace_word(text: &str, word: &str, by: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(word) {
        let (before, from) = rest.split_at(at);
        let after = &from[word.len()..];
        let joins = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
        let last = before.chars().next_back().or_else(|| out.chars().next_back());
        out.push_str(before);
        out.push_str(if joins(last) || joins(after.chars().next()) { word } else { by });
        rest = after;
    }
    out.push_str(rest);
    out
}

/// Names that differ: equal ones get a number behind them.
///
/// ```
/// let names = roundtable_debate::numbered(&["Expert", "Chair", "Expert"].map(str::to_owned));
/// assert_eq!(names, ["Expert 1", "Chair", "Expert 2"]);
/// ```
pub fn numbered(titles: &[String]) -> Vec<String> {
    let name = |(seat, title): (usize, &String)| {
        let equal = |titles: &[String]| titles.iter().filter(|other| *other == title).count();
        match equal(titles) {
            1 => title.clone(),
            _ => format!("{title} {}", equal(&titles[..=seat])),
        }
    };
    titles.iter().enumerate().map(name).collect()
}

/// Whether a name is a role with at most a number behind it, as those of made agents are. Then
/// there is no need to say both.
pub fn is_named_after(name: &str, role: &str) -> bool {
    name.trim_end_matches(|c: char| c.is_ascii_digit() || c == ' ').eq_ignore_ascii_case(role)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_only_says_the_role_is_known_as_such() {
        for (name, role, named) in [
            ("Proponent", "Proponent", true),
            ("proponent 12", "Proponent", true),
            ("Proponents", "Proponent", false),
            ("Ann", "Proponent", false),
        ] {
            assert_eq!(is_named_after(name, role), named, "{name}");
        }
    }

    fn names(mode: Mode) -> Names {
        let seat = |name: &str| (AgentId::new(&name.to_lowercase()).unwrap(), name.to_owned());
        Names::new(mode, vec![seat("Ann"), seat("Anna")])
    }

    #[test]
    fn an_anonymous_panel_has_numbers_or_letters_that_stay() {
        let ann = AgentId::new("ann").unwrap();
        let shown = |mode| names(mode).shown(&ann).unwrap();
        assert_eq!(shown(Mode::Delphi), "Participant 1");
        assert_eq!(shown(Mode::Council), "Member A");
        assert_eq!(shown(Mode::Collaborative), "Ann");
    }

    #[test]
    fn names_are_replaced_where_they_stand_alone() {
        let masked = names(Mode::Delphi).mask("Ann, Anna's plan (agt_ann) for an Annual fair");
        assert_eq!(
            masked,
            "Participant 1, Participant 2's plan (Participant 1) for an Annual fair"
        );
        assert_eq!(names(Mode::Adversarial).mask("Ann"), "Ann");
    }

    #[test]
    fn who_is_meant_is_found_by_any_name() {
        let names = names(Mode::Delphi);
        for name in ["participant 2", "ANNA", "agt_anna", "anna", " Anna "] {
            assert_eq!(names.find(name).unwrap().suffix(), "anna", "{name}");
        }
        assert_eq!(names.find("Bob"), None);
    }
}
