//! Words and file names that have no place here, or only in one place.

use super::purity::{self, PURE};
use super::text::{code_only, lines_with, lines_with_std};
use super::{Finding, SourceFile};

const CLI: &str = "roundtable-cli";
const ENV_WORDS: &[&str] = &["env::var", "env::var_os", "env::vars", "env::vars_os"];
const PRINT_WORDS: &[&str] = &["print!", "println!", "eprint!", "eprintln!", "dbg!"];
// What is kept per thread or per task is seen by whoever runs there next.
const LOCAL_WORDS: &[&str] = &["thread_local!", "task_local!"];
const VAGUE_NAMES: &[&str] = &["utils", "common", "helpers", "manager", "misc"];
const CONVERSATION_WORDS: &[&str] = &[
    "struct Conversation",
    "enum Conversation",
    "type Conversation",
    "trait Conversation",
    "mod conversation",
];
// Spelled in two parts, so that this file keeps its own rules.
const MARKERS: &[&str] = &[concat!("TO", "DO"), concat!("FIX", "ME"), concat!("XX", "X")];
const MACHINE_PATHS: &[&str] =
    &[concat!("/wo", "rk/"), concat!("/ro", "ot/"), concat!("/ho", "me/")];

pub fn check(files: &[SourceFile]) -> Vec<Finding> {
    files.iter().flat_map(check_file).collect()
}

fn check_file(file: &SourceFile) -> Vec<Finding> {
    let is_rust = file.path.ends_with(".rs");
    let mut findings = Vec::new();
    if is_rust {
        findings.extend(name(file));
        findings.extend(code(file));
    }
    if is_rust || file.path.ends_with(".md") {
        findings.extend(each(file, &file.text, MARKERS, "do it now, or leave it out"));
    }
    if file.path != "Cargo.lock" {
        findings.extend(machine_paths(file));
    }
    findings
}

fn name(file: &SourceFile) -> Option<Finding> {
    let mut parts = file.path.trim_end_matches(".rs").split('/');
    let vague = parts.find(|part| VAGUE_NAMES.contains(part))?;
    Some(Finding::new(
        &file.path,
        format!("`{vague}` says nothing; name the file after the concept that it holds"),
    ))
}

/// The rules for code under `crates/`.
fn code(file: &SourceFile) -> Vec<Finding> {
    let Some((krate, inside)) =
        file.path.strip_prefix("crates/").and_then(|path| path.split_once('/'))
    else {
        return Vec::new();
    };
    let code = code_only(&file.text);
    let mut findings = each(
        file,
        &code,
        CONVERSATION_WORDS,
        "the word is session, or the part of one that is meant",
    );
    let Some(module) = inside.strip_prefix("src/") else { return findings };
    findings.extend(each(
        file,
        &code,
        LOCAL_WORDS,
        "hidden state; pass a value, or keep it in the task that owns it",
    ));
    if PURE.contains(&krate) {
        findings.extend(purity::check_code(file, &code));
    } else if !(krate == CLI && (module == "config.rs" || module.starts_with("config/"))) {
        findings.extend(environment(file, &code));
    }
    if krate != CLI {
        findings.extend(each(
            file,
            &code,
            PRINT_WORDS,
            "only roundtable-cli prints, return the text or an event",
        ));
    }
    findings
}

fn environment(file: &SourceFile, code: &str) -> Vec<Finding> {
    let mut lines: Vec<_> = ENV_WORDS.iter().flat_map(|word| lines_with(code, word)).collect();
    lines.extend(lines_with_std(code, "env"));
    lines.sort_unstable();
    lines.dedup();
    let message =
        "reads the environment; only the config of roundtable-cli does, take a value instead";
    lines.into_iter().map(|line| Finding::at(file, line, message)).collect()
}

/// A path counts where it starts, not as the tail of an address or of another path.
fn machine_paths(file: &SourceFile) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (index, line) in file.text.lines().enumerate() {
        let begins = |place| {
            !line[..place].ends_with(|char: char| char.is_alphanumeric() || "_.-}".contains(char))
        };
        for path in MACHINE_PATHS
            .iter()
            .filter(|path| line.match_indices(**path).any(|(place, _)| begins(place)))
        {
            let message =
                format!("`{path}` is a path of one machine; make it relative or configurable");
            findings.push(Finding::at(file, index + 1, message));
        }
    }
    findings
}

fn each(file: &SourceFile, text: &str, words: &[&str], advice: &str) -> Vec<Finding> {
    let mut findings = Vec::new();
    for word in words {
        let lines = lines_with(text, word).into_iter();
        findings.extend(lines.map(|line| Finding::at(file, line, format!("`{word}`; {advice}"))));
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::super::file;
    use super::*;

    /// The places of the findings in one file.
    fn places(path: &str, text: &str) -> Vec<String> {
        check(&[file(path, text)]).into_iter().map(|finding| finding.place).collect()
    }

    #[test]
    fn only_the_config_of_the_cli_reads_the_environment() {
        let read =
            "let version = env!(\"A\");\nlet key = std::env::var(\"KEY\");\nuse std::{env, io};";
        let engine = "crates/roundtable-engine/src/a.rs";
        assert_eq!(places(engine, read), [format!("{engine}:2"), format!("{engine}:3")]);
        assert_eq!(places(engine, "env::var_os(name)"), [format!("{engine}:1")]);
        assert_eq!(places("crates/roundtable-cli/src/main.rs", read).len(), 2);
        assert_eq!(places("crates/roundtable-server/src/config.rs", read).len(), 2);
        for free in [
            "crates/roundtable-cli/src/config.rs",
            "crates/roundtable-cli/src/config/file.rs",
            "xtask/src/a.rs",
        ] {
            assert_eq!(places(free, read), [""; 0], "{free}");
        }
    }

    #[test]
    fn only_the_cli_prints() {
        let print = "/// println!(\"in a doc example\");\nprintln!(\"a\");\neprintln!(\"b\");\nprint!(\"c\");";
        let engine = "crates/roundtable-engine/src/a.rs";
        assert_eq!(places(engine, print).len(), 3);
        for free in [
            "crates/roundtable-cli/src/main.rs",
            "crates/roundtable/examples/a.rs",
            "bench/src/bin/a.rs",
        ] {
            assert_eq!(places(free, print), [""; 0], "{free}");
        }
    }

    #[test]
    fn no_state_is_kept_per_thread_or_task() {
        let local = "thread_local! {}\nstd::thread_local! {}\ntokio::task_local! {}\n// thread_local!\nthread_local()";
        for krate in ["engine", "cli", "server", "core", "testing"] {
            let path = format!("crates/roundtable-{krate}/src/a.rs");
            let expected = [1, 2, 3].map(|line| format!("{path}:{line}"));
            let mut found = places(&path, local);
            found.sort_unstable();
            assert_eq!(found, expected);
        }
        assert_eq!(places("crates/roundtable/tests/it/a.rs", local), [""; 0]);
        assert_eq!(places("xtask/src/a.rs", local), [""; 0]);
    }

    #[test]
    fn the_core_is_held_to_its_own_rules() {
        assert_eq!(places("crates/roundtable-core/src/a.rs", "use std::time;").len(), 1);
        assert_eq!(places("crates/roundtable-core/tests/a.rs", "use std::time;"), [""; 0]);
        assert_eq!(places("crates/roundtable-ports/src/a.rs", "use std::time;"), [""; 0]);
    }

    #[test]
    fn names_that_say_nothing_are_refused() {
        for name in VAGUE_NAMES {
            let path = format!("crates/roundtable/src/{name}.rs");
            assert_eq!(places(&path, ""), [path]);
        }
        assert_eq!(places("crates/roundtable/tests/common/mod.rs", "").len(), 1);
        assert_eq!(places("crates/roundtable/src/common_sense.rs", ""), [""; 0]);
        assert_eq!(places("web/src/utils.ts", ""), [""; 0]);
    }

    #[test]
    fn a_session_is_not_called_by_another_name() {
        let path = "crates/roundtable/tests/a.rs";
        assert_eq!(places(path, "pub struct Conversation {").len(), 1);
        assert_eq!(places(path, "enum Conversation {\nmod conversation;").len(), 2);
        assert_eq!(
            places(path, "struct ConversationId;\nmod conversations;\n// struct Conversation"),
            [""; 0]
        );
    }

    #[test]
    fn nothing_is_left_for_later() {
        for marker in MARKERS {
            let text = format!("// {marker}: later");
            assert_eq!(places("xtask/src/a.rs", &text), ["xtask/src/a.rs:1"]);
            assert_eq!(places("docs/a.md", &text), ["docs/a.md:1"]);
            assert_eq!(places("web/a.ts", &text), [""; 0]);
        }
    }

    #[test]
    fn no_text_file_names_a_place_on_one_machine() {
        for path in MACHINE_PATHS {
            assert_eq!(places("a.toml", &format!("\nx = \"{path}b\"")), ["a.toml:2"]);
            assert_eq!(places("Cargo.lock", path), [""; 0]);
            let tails = format!("https://example.org{path} ..{path} {{dir}}{path}");
            assert_eq!(places("a.toml", &tails), [""; 0]);
        }
    }
}
