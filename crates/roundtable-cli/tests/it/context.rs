//! Context requests at the terminal: R000-1 to R000-18, as far as there is something to see. R000-7 and
//! R000-8 are with the other tests of debates.

use std::io::Write as _;

use roundtable_testing::provider::Answer;
use serde_json::{Value, json};

use crate::binary::{Home, Ran, finish, signal};
use crate::debate::home;
use crate::provider::{Provider, calls, says};
use crate::{mcp, serve};

const DEBATE: [&str; 6] = ["debate", "Shall we?", "--mode", "adversarial", "--rounds", "2"];

fn asks(query: &str, priority: &str) -> Answer {
    let arguments = json!({ "query": query, "reason": "why", "priority": priority });
    calls("request_context", &arguments.to_string())
}

fn position(text: &str) -> Answer {
    says(&json!({ "position": text, "reasoning": "because", "confidence": 0.5 }).to_string())
}

/// What the two agents do in the first round; then both say the same, and nothing is judged.
fn first_round(answers: Vec<Answer>) -> (Provider, Home) {
    let provider = Provider::start(answers.into_iter().chain([position("Now.")]).collect());
    let home = home(&provider);
    (provider, home)
}

/// Ada needs one thing and would like another, Ben needs a third.
fn asking() -> (Provider, Home) {
    first_round(vec![
        asks("Budget?", "required"),
        asks("Color?", "optional"),
        position("Wait."),
        asks("Deadline?", "required"),
        position("Perhaps."),
    ])
}

/// Runs the binary for someone who types this and then hangs up.
fn typing(home: &Home, arguments: &[&str], typed: &str) -> Ran {
    let mut child = home.command(&[], arguments).spawn().unwrap();
    child.stdin.take().unwrap().write_all(typed.as_bytes()).unwrap();
    finish(child)
}

/// What is pending, as another process reads it.
fn pending(home: &Home) -> Vec<Value> {
    let exported = home.run(&["export", &home.session(), "--json"]).ok();
    let exported: Value = serde_json::from_str(&exported).unwrap();
    exported["pendingContextRequests"].as_array().cloned().unwrap_or_default()
}

fn queries(home: &Home) -> Vec<String> {
    pending(home).iter().map(|request| request["query"].as_str().unwrap().to_owned()).collect()
}

/// In how many prompts something is.
fn prompts_with(provider: &Provider, text: &str) -> usize {
    let received = provider.received();
    received.iter().filter(|request| request.body["messages"].to_string().contains(text)).count()
}

#[test]
fn r000_1_a_debate_without_requests_asks_nobody_and_runs_to_its_end() {
    let (_provider, home) = first_round(vec![]);
    let ran = typing(&home, &DEBATE, "");
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert!(ran.out.contains("Round 2/2") && !ran.err.contains(" asks "), "{}", ran.err);
    assert!(pending(&home).is_empty());
}

#[test]
fn r000_2_a_request_has_id_agent_query_reason_priority_and_time() {
    let (_provider, home) = asking();
    typing(&home, &DEBATE, "");
    let mut first = pending(&home).remove(0);
    let (id, at) = (first["id"].take(), first["timestamp"].take());
    assert!(id.as_str().unwrap().starts_with("ctx_"), "{id}");
    assert!(at.as_str().unwrap().ends_with('Z'), "{at}");
    let shown = [&first["agentId"], &first["query"], &first["reason"], &first["priority"]];
    assert_eq!(shown, ["agt_ada", "Budget?", "why", "required"]);
}

#[test]
fn r000_3_r000_4_r000_6_requests_are_saved_before_the_run_ends_and_another_one_reads_them() {
    let (_provider, home) = asking();
    let ran = typing(&home, &DEBATE, "");
    assert_eq!(ran.code, Some(3), "it waits for answers: {}", ran.err);
    assert_eq!(queries(&home), ["Budget?", "Color?", "Deadline?"]);
    let again = typing(&home, &["continue", &home.session()], "");
    assert!(again.err.contains("Ada asks (required): Budget?"), "{}", again.err);
}

#[test]
fn r000_5_r000_9_what_is_answered_is_cleared_and_only_the_rest_is_counted_and_listed() {
    let (_provider, home) = asking();
    let ran = typing(&home, &DEBATE, "A million.\nRed.\n");
    assert_eq!(ran.code, Some(3), "{}", ran.err);
    let refusal = "Cannot continue: 1 required context request(s) pending.";
    assert!(ran.err.contains(refusal), "{}", ran.err);
    assert_eq!(queries(&home), ["Deadline?"]);
    let listed = ran.err.split(refusal).nth(1).unwrap();
    assert!(listed.contains("(agt_ben): Deadline?") && !listed.contains("Budget?"), "{listed}");
}

#[test]
fn r000_10_an_empty_line_counts_as_an_answer() {
    let (provider, home) = asking();
    let ran = typing(&home, &DEBATE, "\n\n\n");
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert!(prompts_with(&provider, "[Error: not available]") >= 2);
}

#[test]
fn r000_11_an_optional_request_holds_nobody_up() {
    let (_provider, home) = first_round(vec![asks("Color?", "optional")]);
    let ran = typing(&home, &DEBATE, "");
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert!(ran.out.contains("Round 2/2"), "{}", ran.out);
}

#[test]
fn r000_12_r000_13_with_all_answers_nothing_is_pending_and_both_agents_read_them() {
    let (provider, home) = asking();
    let ran = typing(&home, &DEBATE, "A million.\nRed.\nIn May.\n");
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert!(ran.out.contains("Round 2/2") && pending(&home).is_empty());
    for answer in ["A million.", "Red.", "In May."] {
        assert!(prompts_with(&provider, answer) >= 2, "{answer}");
    }
    home.assert_sound();
}

#[test]
fn r000_14_r000_16_r000_17_each_request_is_its_own_agents_one_after_another() {
    let (_provider, home) = asking();
    typing(&home, &DEBATE, "");
    let agents: Vec<Value> = pending(&home).iter().map(|it| it["agentId"].clone()).collect();
    assert_eq!(agents, ["agt_ada", "agt_ada", "agt_ben"]);
}

#[test]
fn r000_15_the_agent_is_told_that_its_request_is_queued_and_its_id() {
    let (provider, home) = asking();
    typing(&home, &DEBATE, "");
    let second = provider.received()[1].body["messages"].clone();
    let told = second.as_array().unwrap().last().unwrap().clone();
    assert_eq!(told["role"], "tool");
    let (message, data) = told["content"].as_str().unwrap().split_once('\n').unwrap();
    assert_eq!(message, "Context request queued.");
    let id = pending(&home).remove(0)["id"].take();
    let data: Value = serde_json::from_str(data).unwrap();
    assert_eq!(data, json!({ "requestId": id, "message": "Context request queued." }));
}

#[test]
fn r000_18_a_missing_or_ended_session_is_named_before_what_is_pending() {
    let (_provider, home) = asking();
    typing(&home, &DEBATE, "");
    let nobody = typing(&home, &["continue", "ses_nobody"], "");
    assert!(nobody.err.contains("no session nobody"), "{}", nobody.err);
    let session = home.session();
    let config = home.path().with_file_name("roundtable.toml");
    let (server, url) = serve::serve(&home, &["--config", config.to_str().unwrap()]);
    let control = format!("/api/debates/{session}/control");
    let stopped = mcp::post(&url, &control, &json!({ "action": "stop" }));
    assert_eq!(stopped["status"], "completed", "{stopped}");
    signal(&server, "-TERM");
    finish(server);
    let ended = typing(&home, &["continue", &session], "");
    assert!(!ended.err.contains("Cannot continue"), "{}", ended.err);
    assert!(ended.err.contains("the debate is over (it was stopped)"), "{}", ended.err);
}
