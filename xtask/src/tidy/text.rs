//! Looking for words in source text without a parser: good enough for rules whose authors cooperate.

/// The text with its `//` comments blanked, line for line.
pub fn code_only(text: &str) -> String {
    let code = |line: &str| match line.trim_start() {
        comment if comment.starts_with("//") => String::new(),
        _ => line.split(" // ").next().unwrap_or_default().into(),
    };
    text.lines().map(code).collect::<Vec<_>>().join("\n")
}

/// The numbers of the lines on which `word` stands, not as a part of a longer word.
pub fn lines_with(text: &str, word: &str) -> Vec<usize> {
    let mut lines: Vec<_> =
        places(text, word).into_iter().map(|place| line_of(text, place)).collect();
    lines.dedup();
    lines
}

/// The numbers of the lines that name a module of the standard library, alone or in a group.
///
/// The macro `std::env!` is not the module `std::env`.
pub fn lines_with_std(text: &str, module: &str) -> Vec<usize> {
    let path = format!("std::{module}");
    let is_macro = |place: &usize| text[place + path.len()..].starts_with('!');
    let alone = places(text, &path).into_iter().filter(|place| !is_macro(place));
    let grouped = places(text, "std::{").into_iter().filter(|&place| {
        let group = &text[place + "std::{".len()..];
        members(group).any(|member| member == module)
    });
    let mut lines: Vec<_> = alone.chain(grouped).map(|place| line_of(text, place)).collect();
    lines.sort_unstable();
    lines.dedup();
    lines
}

/// The first segments of a group of imports, given what follows its opening brace.
fn members(group: &str) -> impl Iterator<Item = &str> {
    let (mut depth, mut start, mut members) = (0, 0, Vec::new());
    for (at, char) in group.char_indices() {
        match char {
            '{' => depth += 1,
            '}' if depth > 0 => depth -= 1,
            ',' if depth > 0 => {}
            ',' | '}' => {
                members.push(&group[start..at]);
                start = at + 1;
                if char == '}' {
                    break;
                }
            }
            _ => {}
        }
    }
    members
        .into_iter()
        .map(|member| member.trim_start().split(|char| !is_word(char)).next().unwrap_or_default())
}

fn places(text: &str, word: &str) -> Vec<usize> {
    let joins_before = |place| word.starts_with(is_word) && text[..place].ends_with(is_word);
    let joins_after = |end| word.ends_with(is_word) && text[end..].starts_with(is_word);
    let places = text.match_indices(word).map(|(place, _)| place);
    places.filter(|place| !joins_before(*place) && !joins_after(place + word.len())).collect()
}

fn line_of(text: &str, place: usize) -> usize {
    text[..place].matches('\n').count() + 1
}

fn is_word(char: char) -> bool {
    char.is_alphanumeric() || char == '_'
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_are_no_code_and_lines_keep_their_numbers() {
        let text = "//! std::fs\nlet a = 1; // std::fs\n    /// std::fs\nlet url = \"http://b\";";
        assert_eq!(code_only(text), "\nlet a = 1;\n\nlet url = \"http://b\";");
    }

    #[test]
    fn a_word_is_not_found_inside_a_longer_one() {
        let text = "println!\neprintln!\nmy_println!\nprintln! println!";
        assert_eq!(lines_with(text, "println!"), [1, 4]);
        assert_eq!(
            lines_with("struct ConversationId\nstruct Conversation {", "struct Conversation"),
            [2]
        );
    }

    #[test]
    fn a_module_of_std_is_found_alone_and_in_groups() {
        assert_eq!(lines_with_std("use std::fs;\nstd::fs::read(a)\nuse std::fsx;", "fs"), [1, 2]);
        assert_eq!(
            lines_with_std("use std::{\n    collections::{BTreeMap, fs},\n    fs::File,\n};", "fs"),
            [1]
        );
        assert_eq!(
            lines_with_std("use std::{collections::{BTreeMap, fs}, io};\nuse a::{fs};", "fs"),
            [0; 0]
        );
        assert_eq!(lines_with_std("use std::{fs};\nuse std::{io, fs};", "fs"), [1, 2]);
    }

    #[test]
    fn the_env_macro_is_not_the_env_module() {
        assert_eq!(lines_with_std("std::env!(\"A\")\nenv!(\"A\")\nstd::env::args()", "env"), [3]);
    }
}
