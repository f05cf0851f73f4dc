//! `cargo xtask mutants`: mutation testing of the core's decisions. `docs/mutants.md` lists the survivors that are
//! accepted, with the reason; any other survivor fails.

use std::collections::BTreeSet;
use std::fs;

use anyhow::{Context, Result, bail};

use crate::shell;

const ACCEPTED: &str = "docs/mutants.md";
const MISSED: &str = "mutants.out/missed.txt";
/// The mutants that were built and run, one per line.
const TESTED: &[&str] = &["mutants.out/caught.txt", MISSED, "mutants.out/timeout.txt"];
/// Which mutants matter: those in files and functions that decide what happens to a session.
const DECISIONS: &str = "decide|evolve|follow|wants|session/command/|session/report/|session/close|session/ledger\
                         |turn/context|budget|context_request|debate/(exit|findings|reservation|measur|judgement|ranking)\
                         |\\b(say|provide|raise|begin_call|tool_ran)\\b";

#[derive(clap::Args)]
pub struct Args {
    /// Mutate these files (glob) instead of everything that decides
    #[arg(long, value_name = "GLOB")]
    file: Vec<String>,
}

pub fn mutants(args: &Args) -> Result<()> {
    let accepted = read(ACCEPTED).and_then(|text| accepted(&text))?;
    shell::ensure("mutants", &["cargo-mutants", "--locked", "--version", "27.1.0"])?;
    let mut command = shell::cargo(["mutants", "--package", "roundtable-core"]);
    if args.file.is_empty() {
        command.args(["--re", DECISIONS]);
    }
    for file in &args.file {
        command.args(["--file", file]);
    }
    // The random walks take most of the time, and what they find the traces find too.
    command.args(["--test-tool", "nextest", "--", "-E", "not test(walk::)"]);
    let status = command.status().context("cannot start `cargo mutants`")?;
    // 2: some survived, 3: some ran into the time limit. Anything else means that it did not get that far.
    if !matches!(status.code(), Some(0 | 2 | 3)) {
        bail!("`{}` ended with {status}", shell::shown(&command));
    }
    let tested =
        TESTED.iter().map(|path| Ok(read(path)?.lines().count())).sum::<Result<usize>>()?;
    if tested == 0 {
        bail!("no mutant was tested; were the functions renamed, or does the glob match no file?");
    }
    let survivors = survivors(&read(MISSED)?);
    judge(&survivors, &accepted, args.file.is_empty())
}

fn judge(survivors: &BTreeSet<String>, accepted: &BTreeSet<String>, complete: bool) -> Result<()> {
    if complete {
        for gone in accepted.difference(survivors) {
            println!("note: {ACCEPTED} lists a mutant that no longer survives, remove it: {gone}");
        }
    }
    let unlisted: Vec<_> = survivors.difference(accepted).map(String::as_str).collect();
    if !unlisted.is_empty() {
        bail!(
            "no test notices these changes; add one, or a reason to {ACCEPTED}:\n{}",
            unlisted.join("\n")
        );
    }
    println!("{} survivors, all listed in {ACCEPTED}", survivors.len());
    Ok(())
}

fn survivors(missed: &str) -> BTreeSet<String> {
    missed.lines().filter(|line| !line.trim().is_empty()).map(without_position).collect()
}

/// `src/a.rs:12:5: replace f with ()` is `src/a.rs: replace f with ()` wherever in the file it stands.
fn without_position(line: &str) -> String {
    let Some((position, change)) = line.trim().split_once(": ") else { return line.trim().into() };
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    let mut path = position;
    while let Some((rest, _)) = path.rsplit_once(':').filter(|(_, last)| is_number(last)) {
        path = rest;
    }
    format!("{path}: {change}")
}

/// The lines of the fenced blocks, each with a reason behind `  # `.
fn accepted(text: &str) -> Result<BTreeSet<String>> {
    let mut fenced = false;
    let mut accepted = BTreeSet::new();
    for line in text.lines() {
        if line.starts_with("```") {
            fenced = !fenced;
        } else if fenced && !line.trim().is_empty() {
            match line.rsplit_once("  # ") {
                Some((mutant, reason)) if !reason.trim().is_empty() => {
                    accepted.insert(mutant.trim().into())
                }
                _ => bail!("{ACCEPTED}: no reason given, write `mutant  # reason`: {line}"),
            };
        }
    }
    Ok(accepted)
}

fn read(path: &str) -> Result<String> {
    fs::read_to_string(shell::root().join(path)).with_context(|| format!("cannot read {path}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIST: &str =
        "# Survivors\n\n```text\nsrc/a.rs: replace f with ()  # logs only\n```\nsrc/b.rs: prose\n";

    fn set(lines: &[&str]) -> BTreeSet<String> {
        lines.iter().map(|line| line.to_string()).collect()
    }

    #[test]
    fn a_survivor_is_known_by_its_text_not_its_position() {
        let missed = "src/a.rs:12:5: replace f with ()\nsrc/a.rs:7:14: replace a::B < c: with >\n\nsrc/b.rs:x:7: g\n";
        assert_eq!(
            survivors(missed),
            set(&[
                "src/a.rs: replace a::B < c: with >",
                "src/a.rs: replace f with ()",
                "src/b.rs:x: g"
            ])
        );
    }

    #[test]
    fn only_fenced_lines_are_accepted_and_each_needs_a_reason() {
        assert_eq!(accepted(LIST).unwrap(), set(&["src/a.rs: replace f with ()"]));
        assert!(accepted("```\nsrc/a.rs: replace f with ()\n```").is_err());
        assert!(accepted("```\nsrc/a.rs: replace f with ()  # \n```").is_err());
    }

    #[test]
    fn a_survivor_that_is_not_listed_fails() {
        let listed = accepted(LIST).unwrap();
        assert!(judge(&listed, &listed, true).is_ok());
        assert!(judge(&BTreeSet::new(), &listed, true).is_ok());
        let error = judge(&set(&["src/a.rs: replace g with ()"]), &listed, true).unwrap_err();
        assert!(error.to_string().ends_with("\nsrc/a.rs: replace g with ()"), "{error}");
    }
}
