//! `roundtable demo`.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::process::{Child, Command, Stdio};

fn roundtable(arguments: &[&str]) -> Child {
    Command::new(env!("CARGO_BIN_EXE_roundtable"))
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

fn finish(child: Child) -> (String, String, Option<i32>) {
    let output = child.wait_with_output().unwrap();
    (
        String::from_utf8(output.stdout).unwrap(),
        String::from_utf8(output.stderr).unwrap(),
        output.status.code(),
    )
}

/// Ids differ from run to run.
fn without_ids(text: &str) -> String {
    let mut out = String::new();
    for (index, piece) in text.split("ses_").flat_map(|piece| piece.split("ctx_")).enumerate() {
        let rest = if index == 0 {
            piece
        } else {
            piece.trim_start_matches(|c: char| c.is_ascii_hexdigit())
        };
        out.push_str(rest);
    }
    out
}

#[test]
fn the_question_is_asked_at_the_prompt_and_the_answer_lets_the_debate_go_on() {
    let mut child = roundtable(&["demo", "--pace", "0"]);
    child.stdin.take().unwrap().write_all(b"Two of five\n").unwrap();
    let (out, err, code) = finish(child);
    assert_eq!((err.as_str(), code), ("", Some(0)));
    let (show, log) = out.split_once("\nThe log of ").unwrap();
    insta::assert_snapshot!(without_ids(show), @r#"
    You: Should we move our billing service to Rust this year?

    --- Round 1 ---

    Ada: [calls estimate_effort {"modules":12}]
        progress: {"counted":12}
        nested prompt "risk": A third of the modules touch money; count those double.
        = About 18 weeks. A third of the modules touch money; count those double.
    Twelve modules are about eighteen weeks, and the riskiest third comes first. I am for it.

    Ben: [calls request_context {"priority":"required","query":"How many people on the team have shipped Rust before?","reason":"The plan stands or falls with it."}]
        asks for context: How many people on the team have shipped Rust before?
        = Context request queued.
    I have asked who would do it. Until that is answered I will not say yes.

    --- Round complete ---

    Going on without an answer is refused:

      | Cannot continue: 1 required context request(s) pending.
      | 
      | You MUST provide contextResults for these requests:
      | - [] (agt_ben): How many people on the team have shipped Rust before?
      | 
      | Use WebSearch or other tools to fulfill these requests, then call continue_roundtable with contextResults.

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
}

#[test]
fn nobody_at_the_prompt_is_an_answer_too() {
    let mut child = roundtable(&["demo", "--pace", "0"]);
    drop(child.stdin.take());
    let (out, err, code) = finish(child);
    assert_eq!((err.as_str(), code), ("", Some(0)));
    assert!(out.contains("[Error: nobody answered]"), "{out}");
}

#[test]
fn json_is_one_event_per_line_and_nothing_else() {
    let (out, err, code) =
        finish(roundtable(&["demo", "--pace", "0", "--json", "--answer", "Two"]));
    assert_eq!((err.as_str(), code), ("", Some(0)));
    let seqs: Vec<u64> = out
        .lines()
        .map(|line| {
            serde_json::from_str::<serde_json::Value>(line).unwrap()["seq"].as_u64().unwrap()
        })
        .collect();
    assert_eq!(seqs, (1..=54).collect::<Vec<u64>>());
}

#[test]
fn a_signal_drains_what_runs_is_finished_and_recorded() {
    let mut child = roundtable(&["demo", "--pace", "50", "--answer", "Two"]);
    let mut out = BufReader::new(child.stdout.take().unwrap());
    let mut seen = String::new();
    while !seen.contains("nested prompt") {
        assert_ne!(out.read_line(&mut seen).unwrap(), 0, "{seen}");
    }
    let killed = Command::new("kill").args(["-TERM", &child.id().to_string()]).status().unwrap();
    assert!(killed.success());
    out.read_to_string(&mut seen).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(143));
    assert!(seen.contains("Stopping: what runs is finished and recorded"), "{seen}");
    let (_, log) = seen.split_once("\nThe log of ").unwrap();
    let count = |kind: &str| log.lines().filter(|line| line.contains(kind)).count();
    assert_eq!(count("model_call_started"), count("model_call_finished"), "{log}");
    assert_eq!(count("model_call_interrupted"), 0);
    assert_eq!(count("round_closed"), 0, "the round goes on when the engine is back");
}

#[test]
fn a_reader_that_goes_away_is_not_a_crash() {
    let mut child = roundtable(&["demo", "--pace", "0", "--answer", "Two"]);
    drop(child.stdout.take());
    let mut err = String::new();
    child.stderr.take().unwrap().read_to_string(&mut err).unwrap();
    assert_eq!((err.as_str(), child.wait().unwrap().code()), ("", Some(0)));
}

#[test]
fn a_wrong_flag_is_named_with_the_right_ones() {
    let (_, err, code) = finish(roundtable(&["demo", "--paec", "0"]));
    assert_eq!(code, Some(2));
    assert!(err.contains("--paec") && err.contains("--pace"), "{err}");
}
