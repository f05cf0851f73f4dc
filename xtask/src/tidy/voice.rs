//! Plain English in what users read: phrases that readers would have to translate are refused.

use super::{Finding, SourceFile};

/// Phrases that have a plain replacement.
const PHRASES: [(&str, &str); 22] = [
    ("is none", "is invalid, is missing"),
    ("are none", "are invalid, are missing"),
    ("is no number", "is not a number"),
    ("is no whole number", "is not a whole number"),
    ("is no debate", "is not a debate"),
    ("this is no ", "this is not a, invalid"),
    ("is not there", "is not installed, was not found"),
    ("are not there", "are not installed, were not found"),
    ("goes together", "is valid"),
    ("came to", "resulted in, the result"),
    ("comes to", "results in, the result"),
    ("counts before", "overrides"),
    ("stands so", "has the status"),
    ("is told", "receives"),
    ("speaks by default", "is the default model"),
    ("speaks through", "uses the model"),
    ("say --", "pass --"),
    ("or say ", "or pass, or set"),
    ("} says so", "set by"),
    (" mend ", "fix"),
    ("go on with", "continue"),
    (", too.", "remove it"),
];

/// Where user-facing text is plain already, and stays so.
const CHECKED: [&str; 1] = ["crates/roundtable-cli/src/"];

/// Where users read text that is not checked yet.
const READ: [&str; 5] = ["crates/", "docs/guides/", "README.md", "CHANGELOG.md", "xtask/src/"];

pub fn check(files: &[SourceFile]) -> Vec<Finding> {
    let is_checked = |path: &str| CHECKED.iter().any(|start| path.starts_with(start));
    hits(files, |path| is_checked(path) && !path.ends_with("/tests.rs"))
}

/// How many phrases are left in the text that is not checked yet.
pub fn note(files: &[SourceFile]) -> Option<String> {
    let is_open = |path: &str| {
        READ.iter().any(|start| path.starts_with(start))
            && !CHECKED.iter().any(|start| path.starts_with(start))
            && !path.contains("/tests/")
            && !path.ends_with("tidy/voice.rs")
    };
    let count = hits(files, is_open).len();
    (count > 0).then(|| {
        format!("{count} lines outside of {} have phrases that VOICE refuses", CHECKED.join(", "))
    })
}

fn hits(files: &[SourceFile], wanted: impl Fn(&str) -> bool) -> Vec<Finding> {
    let read = files.iter().filter(|file| wanted(&file.path));
    read.flat_map(|file| lines(file).flat_map(move |(number, text)| find(file, number, &text)))
        .collect()
}

fn find(file: &SourceFile, number: usize, text: &str) -> Option<Finding> {
    let text = text.to_lowercase();
    let (phrase, plain) = PHRASES.iter().find(|(phrase, _)| text.contains(phrase))?;
    let message = format!("write plain English instead of {phrase:?}: {plain}");
    Some(Finding::at(file, number, message))
}

/// What users read of a file, line by line: texts of a program and help texts; all of a document.
fn lines(file: &SourceFile) -> impl Iterator<Item = (usize, String)> {
    let is_code = file.path.ends_with(".rs");
    let is_document = file.path.ends_with(".md");
    let has_help = file.text.contains("clap::");
    // Tests are at the end of a file and are read by contributors.
    let shipped = file.text.split("#[cfg(test)]").next().unwrap_or_default();
    let line = move |(index, line): (usize, &str)| {
        let text = match line.trim_start() {
            all if is_document => all.to_owned(),
            _ if !is_code => return None,
            help if help.starts_with("///") && has_help => help.to_owned(),
            comment if comment.starts_with("//") => return None,
            code => literals(code),
        };
        (!text.is_empty()).then_some((index + 1, text))
    };
    shipped.lines().enumerate().filter_map(line).collect::<Vec<_>>().into_iter()
}

/// The string literals of a line; a literal that goes on over lines has its rest on those.
fn literals(code: &str) -> String {
    let goes_on = !code.contains('"') && code.trim_end().ends_with('\\');
    if goes_on {
        return code.to_owned();
    }
    code.replace("\\\"", "'").split('"').skip(1).step_by(2).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(path: &str, text: &str) -> Vec<String> {
        let file = SourceFile { path: path.to_owned(), text: text.to_owned() };
        check(&[file]).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_phrase_in_a_text_is_found_and_one_in_a_comment_or_a_test_is_not() {
        let path = "crates/roundtable-cli/src/a.rs";
        let hits = found(path, "let x = 1;\nbail!(\"A filter is none.\");");
        assert_eq!(hits.len(), 1);
        assert!(hits[0].starts_with("crates/roundtable-cli/src/a.rs:2: write plain English"));
        assert!(found(path, "// a filter is none\nfn is_none() {}").is_empty());
        assert!(found(path, "#[cfg(test)]\nmod tests { \"it is none\" }").is_empty());
        assert_eq!(found(path, "#[derive(clap::Args)]\n/// The value is none.").len(), 1);
        assert!(found("crates/roundtable-server/src/a.rs", "\"is none\"").is_empty());
    }
}
