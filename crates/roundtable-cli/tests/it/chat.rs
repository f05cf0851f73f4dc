//! `roundtable chat`, its team, and `roundtable demo tabs`.

use std::io::Write as _;

use crate::binary::{Home, Ran, finish};

/// Runs `chat` with these lines on its standard input.
fn typed(home: &Home, arguments: &[&str], lines: &str) -> Ran {
    let arguments: Vec<&str> = ["chat"].iter().chain(arguments).copied().collect();
    let mut child = home.command(&[], &arguments).spawn().unwrap();
    child.stdin.take().unwrap().write_all(lines.as_bytes()).unwrap();
    finish(child)
}

#[test]
fn a_conversation_is_held_line_by_line_and_continued_later() {
    let home = Home::new();
    let ran = typed(&home, &[], "Hello\n#Coder one\\\ntwo\n/stop\n/nope\n/help\n");
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let said = "Scripted answer: no model was called. Your message: User: ";
    assert_eq!(ran.out, format!("Supervisor: {said}Hello\nCoder: {said}one\ntwo\n"));
    for note in ["Nothing is running.", "Unknown command /nope.", "/regenerate"] {
        assert!(ran.err.contains(note), "{note}: {}", ran.err);
    }
    let session = home.session();
    let ran = typed(&home, &["--conversation", &session], "/regenerate\n/quit\n");
    assert_eq!(ran.out, format!("Coder: {said}one\ntwo\n"), "{}", ran.err);
}

#[test]
fn the_team_of_the_configuration_answers() {
    let home = Home::new();
    home.write(
        "roundtable.toml",
        "[agents.lead]\n[agents.finder]\n[agents.legal]\n[team]\nsupervisor = \"lead\"\n\
         workers = [\"finder\"]\ncommand_only = [\"legal\"]\n",
    );
    let ran = typed(&home, &[], "Hello\n#legal check\n");
    let speakers: Vec<&str> =
        ran.out.lines().filter_map(|line| Some(line.split_once(':')?.0)).collect();
    assert_eq!(speakers, ["Lead", "Legal"], "{}\n{}", ran.out, ran.err);
    assert!(ran.err.contains("Lead, with Finder, Legal."), "{}", ran.err);
}

#[test]
fn a_team_that_cannot_delegate_is_found_by_config_check() {
    let refused = |text: &str| {
        let home = Home::new();
        home.write("roundtable.toml", text);
        home.run_with(&[], &["config", "check"]).refused()
    };
    let why = refused("[agents.ada]\ntools = [\"delegate\"]\n");
    assert!(why.contains("delegate needs workers"), "{why}");
    let why = refused("[agents.ada]\n[team]\nsupervisor = \"eve\"\n");
    assert!(why.contains("unknown agent \"eve\""), "{why}");
    let why = refused("[agents.ada]\n[team]\nworkers = [\"ada\"]\n");
    assert!(why.contains("the team needs a supervisor"), "{why}");
    let why = refused(
        "[agents.ada]\nworkers = [\"ben\"]\n[agents.ben]\n[team]\nsupervisor = \"ada\"\n\
         command_only = [\"ben\"]\n",
    );
    assert!(why.contains("ben is command-only and cannot be a worker"), "{why}");
}

#[test]
fn the_demo_of_tabs_finds_nothing_in_the_wrong_conversation() {
    let home = Home::new();
    let out = home.run(&["demo", "tabs", "--pace", "0"]).ok();
    assert!(out.contains("payloads: 0 in the wrong conversation."), "{out}");
    let own = |label: &str, canary: &str| {
        let lines = out.lines().filter(|line| line.starts_with(label));
        lines.filter(|line| line.contains(canary)).count()
    };
    assert_eq!([own("abc", "ORANGE-7"), own("xyz", "VIOLET-3")], [2, 2], "{out}");
    assert_eq!([own("abc", "VIOLET-3"), own("xyz", "ORANGE-7")], [0, 0], "{out}");
}

#[test]
fn a_file_goes_with_the_next_message_and_with_no_other() {
    let home = Home::new();
    let notes = home.write("notes.txt", "canary-file");
    let lines = format!(
        "/attach {}\n/attach {}\n/attach {}/nowhere\nRead this.\nAnd now?\n",
        notes.display(),
        home.path().display(),
        home.path().display(),
    );
    let ran = typed(&home, &[], &lines);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    for note in ["Attached notes.txt (text/plain).", "is not a file", "cannot read"] {
        assert!(ran.err.contains(note), "{note}: {}", ran.err);
    }
    let events = home.json(&["show", &home.session()]);
    let files = events.iter().filter_map(|event| event["data"]["files"].as_array());
    let files: Vec<_> = files.collect();
    assert_eq!(files.len(), 1, "{files:?}");
    assert_eq!(files[0][0]["text"], "canary-file");
}
