//! The texts of all error types, crate by crate, as a snapshot: a changed text shows in the difference.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::super::source_files;
use super::prose::first_literal;

#[test]
fn the_texts_of_all_errors_are_the_committed_ones() {
    let mut crates: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for file in source_files().expect("the files of the repository") {
        let Some((name, inside)) =
            file.path.strip_prefix("crates/").and_then(|path| path.split_once('/'))
        else {
            continue;
        };
        if !inside.starts_with("src/") || !file.path.ends_with(".rs") {
            continue;
        }
        let errors = file.text.split("#[error(").skip(1).filter_map(first_literal);
        let errors = errors.filter(|text| text.contains(' '));
        crates.entry(name.to_owned()).or_default().extend(errors);
    }
    let mut table = String::new();
    for (name, mut errors) in crates.into_iter().filter(|(_, errors)| !errors.is_empty()) {
        errors.sort();
        errors.dedup();
        let _ = writeln!(table, "{name}");
        for error in errors {
            let _ = writeln!(table, "  {error}");
        }
    }
    insta::assert_snapshot!("errors", table);
}
