//! `roundtable demo`.

use std::io::{Read as _, Write as _};
use std::process::Stdio;

use crate::binary::{Home, finish, read_until, roundtable, signal, steady};

#[test]
fn the_question_is_asked_at_the_prompt_and_the_answer_lets_the_debate_go_on() {
    let home = Home::new();
    let mut child = home.start(&["demo", "--pace", "0"]);
    child.stdin.take().unwrap().write_all(b"Two of five\n").unwrap();
    let out = finish(child).ok();
    let (show, log) = out.split_once("\nThe log of ").unwrap();
    insta::assert_snapshot!(steady(show), @r#"
    You: Should we move our billing service to Rust this year?

    --- Round 1 ---

    Ada: [calls estimate_effort {"modules":12}]
        progress: {"counted":12}
        nested prompt "risk": A third of the modules touch money; count those double.
        = About 18 weeks. A third of the modules touch money; count those double.
    Twelve modules are about eighteen weeks, and the riskiest third comes first. I am for it.

    Ben: [calls request_context {"priority":"required","query":"How many people on the team have shipped Rust before?","reason":"The plan depends on it."}]
        asks for context: How many people on the team have shipped Rust before?
        = Context request queued.
    I have asked who would do it. Until that is answered I will not say yes.

    --- Round complete ---

    The next round cannot start without an answer:

      | Cannot continue: 1 required context request(s) pending.
      | 
      | You MUST provide contextResults for these requests:
      | - [ctx_…] (agt_ben): How many people on the team have shipped Rust before?
      | 
      | Answer the questions at the prompt to continue.

    Ben asks: How many people on the team have shipped Rust before?
    Your answer: Two of five

    --- Round 2 ---

    Ada: Then a pilot on the invoice module, with a way back, is the honest first step.

    Ben: With that answer I can agree to the pilot, and to nothing more yet.

    --- Round complete ---

    The session is over: all rounds are done.
    "#);
    assert!(
        log.contains("context_provided") && log.contains("session_completed all rounds are done"),
        "{log}"
    );
    home.assert_sound();
}

#[test]
fn nobody_at_the_prompt_is_an_answer_too() {
    let home = Home::new();
    let out = home.run(&["demo", "--pace", "0"]).ok();
    assert!(out.contains("[Error: nobody answered]"), "{out}");
}

#[test]
fn json_is_one_event_per_line_and_nothing_else() {
    let home = Home::new();
    let events = home.json(&["demo", "--pace", "0", "--answer", "Two"]);
    let seqs: Vec<u64> = events.iter().map(|event| event["seq"].as_u64().unwrap()).collect();
    assert_eq!(seqs, (1..=54).collect::<Vec<u64>>());
    assert_eq!(events, home.json(&["show", &home.session()]), "the log is what was printed");
}

#[test]
fn at_the_end_it_says_how_to_look_at_it_again() {
    let home = Home::new();
    let out = home.run(&["demo", "--pace", "0", "--answer", "Two"]).ok();
    let (_, again) = out.split_once("\nShow it again: roundtable ").unwrap();
    let (log, _) = out.split_once("\nShow it again").unwrap();
    let (_, log) = log.split_once("\nThe log of ").unwrap();
    let words: Vec<&str> = again.split_whitespace().collect();
    let shown = finish(roundtable().args(words).spawn().unwrap()).ok();
    assert_eq!(log.split_once(":\n").unwrap().1, shown);
}

#[test]
fn a_demonstration_that_is_over_is_left_alone_and_another_one_begins() {
    let (home, first) = Home::with_demo();
    let out = home.run(&["demo", "--pace", "0", "--answer", "Two"]).ok();
    assert!(!out.contains("Resuming ses_"), "{out}");
    let sessions = home.json(&["sessions"]);
    assert_eq!(sessions.len(), 2);
    assert_eq!(sessions[1]["session"], first.as_str(), "newest first");
    assert!(sessions.iter().all(|session| session["status"] == "completed"));
}

#[test]
fn fresh_leaves_what_was_cut_off_and_begins_anew() {
    let home = Home::new();
    let mut child = home.start(&["demo", "--pace", "0"]);
    let (mut out, mut seen) = (child.stdout.take().unwrap(), String::new());
    assert!(read_until(&mut out, &mut seen, |seen| seen.contains("Your answer: ")), "{seen}");
    child.kill().unwrap();
    child.wait().unwrap();
    let cut_off = home.session();
    home.run(&["demo", "--fresh", "--pace", "0", "--answer", "Two"]).ok();
    let status = |home: &Home| -> Vec<String> {
        let sessions = home.json(&["sessions"]);
        sessions.iter().map(|session| session["status"].to_string()).collect()
    };
    assert_eq!(status(&home), ["\"completed\"", "\"active\""]);
    let out = home.run(&["demo", "--pace", "0", "--answer", "Two"]).ok();
    let line = format!("Resuming {cut_off} where it was interrupted.\n");
    assert!(out.starts_with(&line), "{out}");
    assert_eq!(status(&home), ["\"completed\"", "\"completed\""]);
    home.assert_sound();
}

#[test]
fn what_was_said_before_the_cut_is_shown_and_the_question_is_asked_again() {
    let home = Home::new();
    let mut child = home.start(&["demo", "--pace", "0"]);
    let (mut out, mut seen) = (child.stdout.take().unwrap(), String::new());
    assert!(read_until(&mut out, &mut seen, |seen| seen.contains("Your answer: ")), "{seen}");
    child.kill().unwrap();
    child.wait().unwrap();
    let mut child = home.start(&["demo", "--pace", "0"]);
    child.stdin.take().unwrap().write_all(b"Two of five\n").unwrap();
    let again = finish(child).ok();
    let (first, shown) = again.split_once("\n\n").unwrap();
    assert_eq!(steady(first), "Resuming ses_… where it was interrupted.");
    assert!(shown.starts_with(&seen), "{shown}\n---\n{seen}");
    home.assert_sound();
}

#[test]
fn a_signal_drains_what_runs_is_finished_and_recorded() {
    let home = Home::new();
    let mut child = home.start(&["demo", "--pace", "50", "--answer", "Two"]);
    let (mut out, mut seen) = (child.stdout.take().unwrap(), String::new());
    assert!(read_until(&mut out, &mut seen, |seen| seen.contains("nested prompt")), "{seen}");
    signal(&child, "-TERM");
    out.read_to_string(&mut seen).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(143));
    assert!(seen.contains("Stopping. Running calls are finished and saved"), "{seen}");
    let (_, log) = seen.split_once("\nThe log of ").unwrap();
    let count = |kind: &str| log.lines().filter(|line| line.contains(kind)).count();
    assert_eq!(count("model_call_started"), count("model_call_finished"), "{log}");
    assert_eq!(count("model_call_interrupted"), 0);
    assert_eq!(count("round_closed"), 0, "the round goes on when the engine is back");
    assert!(log.contains("\nContinue it:      roundtable demo --data-dir "), "{log}");
    home.run(&["demo", "--pace", "0", "--answer", "Two"]).ok();
    let log = home.run(&["show", &home.session()]).ok();
    assert!(!log.contains("model_call_interrupted"), "{log}");
    home.assert_sound();
}

#[test]
fn a_signal_at_the_prompt_does_not_wait_for_someone_to_type() {
    let home = Home::new();
    let mut child = home.start(&["demo", "--pace", "0"]);
    let (mut out, mut seen) = (child.stdout.take().unwrap(), String::new());
    assert!(read_until(&mut out, &mut seen, |seen| seen.contains("Your answer: ")), "{seen}");
    signal(&child, "-INT");
    out.read_to_string(&mut seen).unwrap();
    assert!(child.stdin.is_some(), "somebody could have typed");
    assert_eq!(child.wait().unwrap().code(), Some(130));
}

#[test]
fn a_reader_that_goes_away_is_not_a_crash() {
    let home = Home::new();
    let mut child = home.start(&["demo", "--pace", "0", "--answer", "Two"]);
    drop(child.stdout.take());
    let ran = finish(child);
    assert_eq!((ran.err.as_str(), ran.code), ("", Some(0)));
    home.assert_sound();
}

#[test]
fn a_wrong_flag_is_named_with_the_right_ones() {
    let ran = Home::new().run(&["demo", "--paec", "0"]);
    assert_eq!(ran.code, Some(2));
    assert!(ran.err.contains("--paec") && ran.err.contains("--pace"), "{}", ran.err);
}

#[test]
fn the_data_directory_comes_from_the_flag_the_environment_or_the_platform() {
    let home = Home::new();
    let demo = || {
        let mut command = roundtable();
        command.args(["demo", "--pace", "0", "--answer", "Two"]).stdin(Stdio::null());
        command
    };
    let (named, shared) = (home.path().join("named"), home.path().join("shared"));
    finish(demo().env("ROUNDTABLE_DATA_DIR", &named).spawn().unwrap()).ok();
    assert!(named.join("roundtable.db").exists());
    let shared_home = demo().env("XDG_DATA_HOME", &shared).env("HOME", &shared).spawn().unwrap();
    let out = finish(shared_home).ok();
    let place = if cfg!(target_os = "macos") {
        "Library/Application Support/roundtable"
    } else {
        "roundtable"
    };
    assert!(shared.join(place).join("roundtable.db").exists());
    assert!(!out.contains("--data-dir"), "what need not be typed again is not shown");
    let err = finish(demo().spawn().unwrap()).failed();
    assert_eq!(
        err,
        "error: no home directory found for the data directory; pass --data-dir DIR, or set \
         ROUNDTABLE_DATA_DIR\n"
    );
}

#[test]
fn r000_7_r000_8_demo_context_refuses_to_go_on_with_the_exact_text_until_there_is_an_answer() {
    let home = Home::new();
    let mut child = home.start(&["demo", "context", "--pace", "0"]);
    child.stdin.take().unwrap().write_all(b"Two of five\n").unwrap();
    let out = finish(child).ok();
    let (_, refused) =
        out.split_once("\nThe next round cannot start without an answer:\n").unwrap();
    insta::assert_snapshot!(steady(refused.split_once("\nThe log of ").unwrap().0), @r"

      | Cannot continue: 1 required context request(s) pending.
      | 
      | You MUST provide contextResults for these requests:
      | - [ctx_…] (agt_ben): How many people on the team have shipped Rust before?
      | 
      | Answer the questions at the prompt to continue.

    Ben asks: How many people on the team have shipped Rust before?
    Your answer: Two of five

    --- Round 2 ---

    Ada: Then a pilot on the invoice module, with a way back, is the honest first step.

    Ben: With that answer I can agree to the pilot, and to nothing more yet.

    --- Round complete ---

    The session is over: all rounds are done.
    ");
    home.assert_sound();
}

#[test]
fn demo_nested_is_killed_in_its_second_prompt_and_the_first_is_not_asked_again() {
    let home = Home::new();
    let out = home.run(&["demo", "nested", "--pace", "0"]).ok();
    assert!(
        out.contains("\nThe process was killed (SIGKILL) during the second model call.\n"),
        "{out}"
    );
    assert!(out.contains("\nResuming ses_"), "{out}");
    let log = home.json(&["show", &home.session()]);
    let count = |kind: &str| log.iter().filter(|event| event["kind"] == kind).count();
    // The call with the tool, the two nested ones, the one that was cut off, the answer.
    assert_eq!([count("model_call_started"), count("model_call_finished")], [5, 4]);
    assert_eq!([count("model_call_interrupted"), count("tool_call_interrupted")], [1, 1]);
    assert_eq!(count("session_completed"), 1);
    home.assert_sound();
}
