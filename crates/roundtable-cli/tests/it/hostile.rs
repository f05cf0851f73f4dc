//! A hostile provider against the built binary: whatever it answers, the session stays readable,
//! whole and usable, nothing acts on the terminal, and memory stays bounded.

use std::process::Stdio;

use roundtable_testing::provider::Answer;
use serde_json::json;

use crate::binary::{Home, Ran, finish};
use crate::provider::{Provider, calls, refuses, says};

/// How much memory a run may map, in kilobytes: far more than it needs, and less than what a
/// provider can send.
const MEMORY: &str = "8388608";

/// A home whose agents ask this provider.
fn configure(home: &Home, provider: &Provider) {
    let file = format!(
        "[defaults]\nmodel = \"vllm/m\"\nretry = {{ attempts = 1 }}\n\
         [providers.vllm]\nbase_url = \"{}\"\n\
         [agents.ada]\ntools = [\"fact_check\"]\n[agents.bob]\ntools = [\"fact_check\"]\n",
        provider.address
    );
    home.write("roundtable.toml", &file);
}

/// Runs the binary with bounded memory. It neither panics nor dies of a signal, and nothing that it
/// prints acts on a terminal.
fn run(home: &Home, arguments: &[&str]) -> Ran {
    let own = home.command(&[], arguments);
    let mut bounded = std::process::Command::new("/bin/sh");
    bounded.args(["-c", "ulimit -v \"$1\"; shift; exec \"$@\"", "sh", MEMORY]);
    bounded.arg(own.get_program()).args(own.get_args());
    bounded.current_dir(own.get_current_dir().unwrap()).env_clear();
    bounded.envs(own.get_envs().filter_map(|(name, value)| Some((name, value?))));
    bounded.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let ran = finish(bounded.spawn().unwrap());
    assert!(matches!(ran.code, Some(0..=3)), "{arguments:?}: {:?} {}", ran.code, ran.err);
    for text in [&ran.out, &ran.err] {
        assert!(!text.contains("panicked"), "{arguments:?}: {text}");
        let acting: Vec<char> = text.chars().filter(|c| roundtable::core::acts(*c)).collect();
        assert_eq!(acting, ['x'; 0], "{arguments:?}");
    }
    ran
}

/// A debate with a provider that answers so, and then everything that people do with a session.
fn survives(answers: Vec<Answer>) {
    let home = Home::new();
    let provider = Provider::start(answers);
    configure(&home, &provider);
    run(&home, &["debate", "Trams?", "--rounds", "2"]);
    let session = home.session();
    let reads = |what: &str| {
        for arguments in [
            &["show", &session][..],
            &["show", &session, "--json"],
            &["verify"],
            &["export", &session],
            &["export", &session, "--json"],
        ] {
            let ran = run(&home, arguments);
            assert_eq!(ran.code, Some(0), "{what}: {arguments:?}: {}", ran.err);
        }
    };
    reads("after the debate");
    let friendly = Provider::start(vec![says(
        r#"{"stance":"YES","position":"Begin.","reasoning":"Now.","confidence":0.8,"keyPoints":[],"citations":[]}"#,
    )]);
    configure(&home, &friendly);
    run(&home, &["continue", &session]);
    reads("after another round");
}

/// Arguments nested so deep.
fn nested(depth: usize) -> String {
    format!("{{\"quote\":{}1{}}}", "[".repeat(depth), "]".repeat(depth))
}

/// A whole answer with so many tool calls.
fn many_calls(count: usize) -> Answer {
    let function = json!({ "name": "fact_check", "arguments": "{\"quote\":\"1\"}" });
    let call = |index: usize| json!({ "index": index, "id": format!("call_{index}"), "type": "function", "function": function });
    let delta = json!({ "tool_calls": (0..count).map(call).collect::<Vec<_>>() });
    let choice = json!({ "index": 0, "delta": delta, "finish_reason": "tool_calls" });
    Answer::events(&format!("data: {}\n\ndata: [DONE]\n\n", json!({ "choices": [choice] })))
}

#[test]
fn s23_tool_arguments_nested_127_levels_leave_the_session_readable() {
    survives(vec![calls("fact_check", &nested(126)), says("Done.")]);
}

#[test]
fn s23_tool_arguments_nested_a_hundred_thousand_levels_leave_the_session_readable() {
    survives(vec![calls("fact_check", &nested(100_000)), says("Done.")]);
}

#[test]
fn ten_thousand_tool_calls_in_one_answer_leave_the_session_readable() {
    survives(vec![many_calls(10_000), says("Done.")]);
}

#[test]
fn fifty_megabytes_of_arguments_leave_the_session_readable() {
    let arguments = json!({ "quote": "1".repeat(50_000_000) }).to_string();
    survives(vec![calls("fact_check", &arguments), says("Done.")]);
}

#[test]
fn an_endless_stream_leaves_the_session_readable() {
    let delta = json!({ "index": 0, "delta": { "content": "and so on " }, "finish_reason": null });
    let event = format!("data: {}\n\n", json!({ "choices": [delta] }));
    survives(vec![Answer::Endless(event.repeat(1_000)), says("Done.")]);
}

#[test]
fn answers_that_are_not_json_leave_the_session_readable() {
    survives(vec![
        Answer::events("data: {\"choices\":[{\n\n"),
        Answer::events("data: \u{1b}[2J\n\ndata: [DONE]\n\n"),
        Answer::json(200, "[[[["),
    ]);
}

#[test]
fn empty_answers_leave_the_session_readable() {
    survives(vec![Answer::json(200, ""), Answer::events("")]);
}

#[test]
fn terminal_sequences_and_direction_overrides_do_nothing_to_a_terminal() {
    survives(vec![says(
        "\u{1b}[2J\u{1b}]0;owned\u{7}\u{202e}gnp.exe\u{9b}31m\0\u{7f}![x](http://x)",
    )]);
}

#[test]
fn s23_lone_surrogates_and_nul_leave_the_session_readable() {
    let event = r#"data: {"choices":[{"index":0,"delta":{"content":"a\ud800b\u0000c"},"finish_reason":"stop"}]}"#;
    survives(vec![Answer::events(&format!("{event}\n\ndata: [DONE]\n\n"))]);
    survives(vec![calls("fact_check", r#"{"quote":"\ud800\u0000"}"#), says("Done.")]);
}

#[test]
fn tools_that_do_not_exist_leave_the_session_readable() {
    survives(vec![calls("\u{1b}[31mrm -rf\u{202e}", "{}"), calls("", "{}"), says("Done.")]);
}

#[test]
fn refusals_for_ever_leave_the_session_readable() {
    survives(vec![refuses(429, &[], "slow down \u{1b}[2J\u{202e}")]);
}
