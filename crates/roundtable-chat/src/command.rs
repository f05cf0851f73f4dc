//! A message that begins with `#Name` is for that agent.

use roundtable_core::agent::Agent;

/// Who a message is for, and what it says to them. Nothing for a message without a name, or with one
/// that nobody has.
pub(crate) fn addressed<'a>(
    text: &'a str,
    agents: impl IntoIterator<Item = &'a Agent>,
) -> Option<(&'a Agent, &'a str)> {
    let rest = text.trim_start().strip_prefix('#')?;
    let agents = agents.into_iter();
    // The longest name wins: "#Research Lead" is not for "Research".
    let named = agents.filter_map(|agent| Some((agent, after_name(rest, agent)?)));
    named.min_by_key(|(_, mission)| mission.len())
}

/// What comes after the agent's name or id, when the text begins with one of them.
fn after_name<'a>(text: &'a str, agent: &Agent) -> Option<&'a str> {
    let names = [agent.name.as_str(), agent.id.suffix()].into_iter();
    let rest = names.filter_map(|name| strip_word(text, name)).min_by_key(|rest| rest.len())?;
    Some(rest.trim_start_matches([':', ',']).trim())
}

/// What follows a word, without regard to case; the word has to end there.
fn strip_word<'a>(text: &'a str, word: &str) -> Option<&'a str> {
    let mut rest = text.chars();
    for expected in word.chars() {
        let found = rest.next()?;
        if !found.to_lowercase().eq(expected.to_lowercase()) {
            return None;
        }
    }
    let rest = rest.as_str();
    let ends =
        rest.chars().next().is_none_or(|next| next.is_whitespace() || [':', ','].contains(&next));
    ends.then_some(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn to(text: &str) -> Option<(String, String)> {
        let agents =
            ["Boss", "Research", "Research Lead"].map(|name| Agent::new(name, "m").unwrap());
        let found = addressed(text, &agents)?;
        Some((found.0.name.clone(), found.1.to_owned()))
    }

    fn is(name: &str, mission: &str) -> Option<(String, String)> {
        Some((name.to_owned(), mission.to_owned()))
    }

    #[test]
    fn a_name_at_the_start_chooses_who_answers() {
        assert_eq!(to("#Research find it"), is("Research", "find it"));
        assert_eq!(to("  #research: find it"), is("Research", "find it"));
        assert_eq!(to("#research-lead find it"), is("Research Lead", "find it"));
        assert_eq!(to("#Research Lead, find it"), is("Research Lead", "find it"));
        assert_eq!(to("#RESEARCH\nfind it"), is("Research", "find it"));
        assert_eq!(to("#Research"), is("Research", ""));
    }

    #[test]
    fn anything_else_is_plain_text() {
        for text in [
            "Research this",
            "#Unknown find it",
            "#Researcher find",
            "# Research",
            "#",
            "",
            "x #Boss",
        ] {
            assert_eq!(to(text), None, "{text}");
        }
    }
}
