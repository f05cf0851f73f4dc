//! `roundtable debate` and `continue`, against a provider on this machine.

use std::io::Write as _;

use roundtable_testing::provider::Answer;
use serde_json::{Value, json};

use crate::binary::{Home, Ran, finish, read_until, steady};
use crate::provider::{Provider, calls, says, words};

/// Two named agents on one provider, one attempt each, so that nothing waits.
pub fn home(provider: &Provider) -> Home {
    let home = Home::new();
    let text = format!(
        "[defaults]\nmodel = \"vllm/m\"\nretry = {{ attempts = 1 }}\n\
         [providers.vllm]\nbase_url = \"{}\"\n[agents.ada]\n[agents.ben]\n",
        provider.address
    );
    home.write("roundtable.toml", &text);
    home
}

pub fn position(stance: &str, position: &str, confidence: f64) -> Answer {
    says(&json!({ "stance": stance, "position": position, "reasoning": "It is so.", "confidence": confidence }).to_string())
}

pub fn analysis(agreement: f64) -> Answer {
    let consensus = json!({
        "agreement": agreement,
        "clusters": [{ "agents": ["Ada"], "view": "now" }, { "agents": ["Ben"], "view": "later" }],
        "commonGround": ["Something has to be done."],
        "disagreements": [{ "issue": "when", "views": [] }],
        "partialAgreements": [], "conditions": [], "uncertainties": [],
        "summary": "They differ on the time.",
        "groupthinkWarning": null
    });
    says(&consensus.to_string())
}

/// Two rounds of two agents and an analyst.
pub fn two_rounds() -> Vec<Answer> {
    vec![
        position("YES", "Begin now.", 0.8),
        position("NO", "Wait.", 0.6),
        analysis(0.3),
        position("YES", "Begin with a pilot.", 0.7),
        position("YES", "A pilot is fine.", 0.7),
        analysis(0.8),
    ]
}

pub const DEBATE: [&str; 6] =
    ["debate", "Should we begin?", "--mode", "adversarial", "--rounds", "2"];

pub fn as_json(out: &str) -> Vec<Value> {
    out.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// What a debate came to, without what differs from run to run.
pub fn findings(ran: &Ran) -> Value {
    assert_eq!((ran.err.as_str(), ran.code), ("", Some(0)), "{}", ran.out);
    let mut last = as_json(&ran.out).pop().unwrap();
    assert_eq!(last["kind"], "findings");
    for own in ["/sessionId", "/nextStep", "/metadata/detailReference", "/consensus/sessionId"] {
        assert_ne!(last.pointer_mut(own).unwrap().take(), Value::Null, "{own}");
    }
    last
}

#[test]
fn a_debate_is_told_round_by_round_with_what_it_came_to_and_what_it_cost() {
    let provider = Provider::start(two_rounds());
    let home = home(&provider);
    let ran = home.run_with(&[], &DEBATE);
    insta::assert_snapshot!(ran.out, @r"
    Topic: Should we begin?
    Mode: adversarial, 2 agents, 2 rounds
    Models: vllm/m

    Round 1/2

    Ada · proponent · vllm/m:
    Begin now.

    It is so.
    (YES · confidence 0.80)

    Ben · opponent · vllm/m:
    Wait.

    It is so.
    (NO · confidence 0.60)

    Consensus: low (agreement 0.30)
    They differ on the time.
    Groups: Ada (now); Ben (later).
    Common ground: Something has to be done.
    In dispute: when.
    Total so far: 3 model calls, 81 tokens, cost unknown

    Round 2/2

    Ada · proponent · vllm/m:
    Begin with a pilot.

    It is so.
    (YES · confidence 0.70)

    Ben · opponent · vllm/m:
    A pilot is fine.

    It is so.
    (YES · confidence 0.70)

    Consensus: high (agreement 0.80)
    They differ on the time.
    Groups: Ada (now); Ben (later).
    Common ground: Something has to be done.
    In dispute: when.
    Total so far: 6 model calls, 162 tokens, cost unknown

    The debate is over: all rounds are done.
    Recommendation: proceed (the panel agrees (0.80))
    Effect of the debate: agreement changed from 0.30 to 0.80; votes changed from 1 YES, 1 NO to 2 YES; Ada, Ben (NO to YES) changed position (for 3 model calls, 81 tokens, cost unknown).
    Total: 6 model calls, 162 tokens, cost unknown
    ");
    let data = home.path().display().to_string();
    let err = steady(&ran.err).replace(&data, "DATA");
    insta::assert_snapshot!(err, @r"
    Model: vllm/m (set by roundtable.toml:2)
    Minutes: roundtable export ses_… --data-dir DATA
    ");
    assert!(!ran.out.contains('\u{1b}'), "no escape codes where nobody looks at a screen");
    assert_eq!((ran.code, provider.received().len()), (Some(0), 6));
    home.assert_sound();
}

#[test]
fn without_agents_some_are_made_for_the_mode_and_the_most_it_may_cost_is_told() {
    let provider = Provider::start(vec![position("YES", "Begin now.", 0.9)]);
    let home = Home::new();
    let address = provider.address.clone();
    let key = [("OPENAI_API_KEY", "sk-canary-1234567890"), ("OPENAI_BASE_URL", address.as_str())];
    let ran = home.run_with(&key, &["debate", "Begin?", "--agents", "3", "--rounds", "1"]);
    for name in ["Synthesizer · openai-chat/gpt-5-mini:", "Analyst · ", "Creative · "] {
        assert!(ran.out.contains(name), "{name} in {}", ran.out);
    }
    assert!(ran.err.contains("\nEstimated cost: at most $0.0"), "{}", ran.err);
    assert_eq!((ran.code, provider.received().len()), (Some(0), 4), "{}", ran.err);
    let one = home.run_with(&key, &["debate", "Begin?", "--agents", "11"]);
    assert_eq!((one.code, one.out.as_str()), (Some(2), ""));
    assert!(one.err.contains("11 is not in 2..=10"), "{}", one.err);
}

#[test]
fn without_any_key_scripted_voices_argue_and_it_is_said_once() {
    let home = Home::new();
    let ran = home.run_with(&[], &["debate", "Should we begin?", "--agents", "2", "--rounds", "1"]);
    insta::assert_snapshot!(ran.out, @r"
    Topic: Should we begin?
    Mode: collaborative, 2 agents, 1 round
    Models: scripted

    Round 1/1

    Synthesizer · scripted:
    Scripted answer of Synthesizer: no model was called.

    Analyst · scripted:
    Scripted answer of Analyst: no model was called.

    Consensus: medium (agreement 1.00)
    The positions are close to each other.
    Reservation: Scripted answer: no model was called
    Total so far: 2 model calls, 708 tokens, cost unknown

    The debate is over: all rounds are done.
    Recommendation: verify (agreement 1.00; Scripted answer: no model was called)
    Total: 2 model calls, 708 tokens, cost unknown
    ");
    assert_eq!(ran.err.matches("No model: answers are scripted").count(), 1, "{}", ran.err);
    home.assert_sound();
}

#[test]
fn as_json_every_event_is_a_line_and_the_last_line_is_what_it_came_to() {
    let provider = Provider::start(two_rounds());
    let home = home(&provider);
    let ran = home.run_with(&[], &[&DEBATE[..], &["--json"]].concat());
    let lines = as_json(&ran.out);
    let stored = home.json(&["show", &home.session()]);
    assert_eq!(lines[..lines.len() - 1], stored[..], "each event once, in order");
    let last = findings(&ran);
    assert_eq!(last["status"], "completed");
    assert_eq!(last["decision"]["consensusLevel"], "high");
    assert_eq!(last["agentResponses"][1]["position"], "A pilot is fine.");
    assert_eq!(last["usage"]["calls"], 6);
    // The names are those of MCP and HTTP, with what the calls for details would add.
    assert_eq!(last["agentResponses"][1]["reasoning"], "It is so.");
    assert_eq!(last["consensus"]["measured"]["by"], "hashed-ngrams-1/512");
    assert_eq!(last["consensus"]["added"]["lastVote"]["yes"], 2);
    let next = &as_json(&ran.out).pop().unwrap()["nextStep"];
    assert!(next.as_str().unwrap().starts_with("Minutes: roundtable export ses_"), "{next}");
}

#[test]
fn a_mode_that_there_is_not_is_refused_with_the_nearest() {
    let ran = Home::new().run(&["debate", "Begin?", "--mode", "adverserial"]);
    assert_eq!((ran.out.as_str(), ran.code), ("", Some(2)));
    assert!(
        ran.err.contains("'adversarial'") && ran.err.contains("devils-advocate"),
        "{}",
        ran.err
    );
    let ran = Home::new().run(&["debate", "Begin?", "--budget", "words=9"]);
    assert!(ran.err.contains("expected calls=N, tokens=N or dollars=N"), "{}", ran.err);
    let ran = Home::new().run(&["debate", "Begin?", "--agent", "ada"]);
    assert_eq!(ran.refused(), "error: --agent: unknown agent \"ada\"\n");
}

#[test]
fn a_round_without_budget_names_the_command_that_runs_it_again_with_more() {
    let home = Home::new();
    let small = ["--rounds", "1", "--model", "scripted", "--budget", "tokens=10"];
    let ran = home.run(&[&["debate", "Begin?", "--agents", "2"][..], &small].concat());
    let session = home.session();
    let hint = format!(
        "your message is saved; retry with roundtable continue {session} --budget tokens=N"
    );
    assert!(ran.code == Some(1) && ran.err.contains(&hint), "{}", ran.err);
    let ran = home.run(&["continue", &session, "--budget", "tokens=100000"]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert!(ran.out.contains("The debate is over: all rounds are done."), "{}", ran.out);
    home.assert_sound();
}

#[test]
fn consensus_and_a_budget_end_it_early_and_say_so() {
    let agree =
        || vec![position("YES", "Begin.", 0.9), position("YES", "Begin.", 0.9), analysis(0.95)];
    let provider = Provider::start(agree());
    let ran = home(&provider).run_with(&[], &[&DEBATE[..], &["--exit-on-consensus"]].concat());
    assert!(ran.out.contains("The debate is over: consensus: the panel agrees"), "{}", ran.out);
    assert_eq!(provider.received().len(), 3);
    let provider = Provider::start(agree());
    let ran = home(&provider).run_with(&[], &[&DEBATE[..], &["--budget", "calls=1"]].concat());
    assert!(ran.out.contains("budget of calls exhausted"), "{}", ran.out);
    assert_eq!(provider.received().len(), 1);
}

/// The first round, in which Ada asks for something, and a second one.
pub fn asking() -> Vec<Answer> {
    let question = r#"{"query":"How old is she?","reason":"It matters.","priority":"required"}"#;
    let mut answers = vec![calls("request_context", question)];
    answers.extend(two_rounds());
    answers
}

#[test]
fn what_an_agent_asks_is_put_to_the_person_and_the_answer_reaches_everyone() {
    let provider = Provider::start(asking());
    let home = home(&provider);
    let mut child = home.command(&[], &DEBATE).spawn().unwrap();
    child.stdin.take().unwrap().write_all(b"Nineteen.\n").unwrap();
    let ran = finish(child);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let question = "\nAda asks (required): How old is she?\n  because: It matters.\n\
                    Your answer (press Enter if you cannot answer):\n";
    assert!(ran.err.contains(question), "{}", ran.err);
    for request in &provider.received()[4..6] {
        assert!(request.body["messages"].to_string().contains("Nineteen."));
    }
    home.assert_sound();
}

#[test]
fn an_empty_line_means_that_it_is_not_available_and_the_debate_goes_on() {
    let provider = Provider::start(asking());
    let home = home(&provider);
    let mut child = home.command(&[], &DEBATE).spawn().unwrap();
    child.stdin.take().unwrap().write_all(b"\n").unwrap();
    assert_eq!(finish(child).code, Some(0));
    assert!(provider.received()[4].body["messages"].to_string().contains("[Error: not available]"));
}

#[test]
fn r000_7_r000_8_without_an_answer_nothing_is_run_and_the_exact_text_says_what_is_missing() {
    let provider = Provider::start(asking());
    let home = home(&provider);
    let ran = home.run_with(&[], &DEBATE);
    assert_eq!((ran.code, provider.received().len()), (Some(3), 4), "{}", ran.err);
    let pending = |home: &Home| {
        let exported = home.run(&["export", &home.session(), "--json"]).ok();
        serde_json::from_str::<Value>(&exported).unwrap()["pendingContextRequests"].clone()
    };
    let id = pending(&home)[0]["id"].as_str().unwrap().to_owned();
    let refusal = format!(
        "\nCannot continue: 1 required context request(s) pending.\n\n\
         You MUST provide contextResults for these requests:\n\
         - [{id}] (agt_ada): How old is she?\n\n\
         Answer the questions at the prompt to continue.\n"
    );
    assert!(ran.err.contains(&refusal), "{}", ran.err);
    let session = home.session();
    assert!(ran.err.contains(&format!("Answer and continue: roundtable continue {session} \"…\"")));
    let before = (home.json(&["show", &session]), pending(&home));
    let again = home.run_with(&[], &["continue", &session]);
    assert!(again.err.contains(&refusal) && again.code == Some(3), "{}", again.err);
    assert_eq!((home.json(&["show", &session]), pending(&home)), before, "nothing changed");
    let ran = home.run_with(&[], &["continue", &session, "Nineteen."]);
    assert_eq!((ran.code, provider.received().len()), (Some(0), 7), "{}", ran.err);
    assert!(ran.out.contains("\nRound 2/2\n") && !ran.out.contains("Round 1/2"), "{}", ran.out);
    assert_eq!(pending(&home), Value::Null);
    home.assert_sound();
}

#[test]
fn the_text_of_continue_is_what_the_next_round_is_about_when_nothing_is_asked() {
    let mut answers = two_rounds();
    answers.insert(2, Answer::Stall(words("{\"agreement\": 0.")));
    let provider = Provider::start(answers);
    let home = home(&provider);
    let mut child = home.command(&[], &DEBATE).spawn().unwrap();
    let (mut out, mut seen) = (child.stdout.take().unwrap(), String::new());
    assert!(read_until(&mut out, &mut seen, |seen| seen.contains("(NO ")), "{seen}");
    while provider.received().len() < 3 {
        std::thread::yield_now();
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let session = home.session();
    let ran = home.run_with(&[], &["continue", &session, "And the costs?"]);
    assert!(ran.out.contains("\nRound 1/2\n") && ran.code == Some(0), "{}{}", ran.out, ran.err);
    let asked = provider.received();
    let hears = |index: usize| asked[index].body["messages"].to_string().contains("And the costs?");
    // The round that was cut off is finished as it was begun; the next one hears it.
    assert_eq!([3, 4, 5].map(hears), [false, true, true]);
    let over = home.run_with(&[], &["continue", &session, "And the people?"]);
    assert_eq!((over.out.as_str(), over.code), ("", Some(1)));
    let told =
        "error: the debate is over (all rounds are done)\nhint: read it with `roundtable export ";
    assert!(over.err.contains(told), "{}", over.err);
}

#[test]
fn killed_in_the_middle_it_goes_on_to_the_same_findings_and_no_recorded_call_is_made_again() {
    let undisturbed = Provider::start(two_rounds());
    let whole = home(&undisturbed).run_with(&[], &[&DEBATE[..], &["--json"]].concat());
    let whole = findings(&whole);
    for cut_at in 0..6 {
        let mut answers = two_rounds();
        answers.insert(cut_at, Answer::Stall(words("{\"position\": \"Be")));
        let provider = Provider::start(answers);
        let home = home(&provider);
        let mut child = home.command(&[], &[&DEBATE[..], &["--json"]].concat()).spawn().unwrap();
        let (mut out, mut seen) = (child.stdout.take().unwrap(), String::new());
        let started = |seen: &str| seen.matches("\"model_call_started\"").count() > cut_at;
        assert!(read_until(&mut out, &mut seen, started), "{seen}");
        while provider.received().len() <= cut_at {
            std::thread::yield_now();
        }
        child.kill().unwrap();
        child.wait().unwrap();
        let ran = home.run_with(&[], &["continue", &home.session(), "--json"]);
        let mut again = findings(&ran);
        // The call that was cut off may have been billed: it is counted, its tokens are estimated,
        // and nothing else differs.
        let usage = again["usage"].take();
        assert_eq!((&usage["calls"], &usage["estimated"]), (&7.into(), &true.into()), "{cut_at}");
        assert!(usage["tokens"].as_u64() > whole["usage"]["tokens"].as_u64(), "cut at {cut_at}");
        let mut expected = whole.clone();
        expected["usage"].take();
        for found in [&mut again, &mut expected] {
            found["consensus"]["added"]["usage"].take();
            for response in found["agentResponses"].as_array_mut().unwrap() {
                response["usage"].take();
            }
        }
        assert_eq!(again, expected, "cut at {cut_at}");
        assert_eq!(provider.received().len(), 7, "six answers, and the one that was cut off");
        home.assert_sound();
    }
}

#[test]
fn a_debate_in_which_nobody_can_answer_says_why_and_what_to_do() {
    let provider = Provider::start(vec![crate::provider::refuses(401, &[], "no")]);
    let ran = home(&provider).run_with(&[], &DEBATE);
    assert_eq!(ran.code, Some(1), "{}", ran.out);
    assert!(ran.out.contains("(no answer: "), "{}", ran.out);
    let kept = "error: no answer: vllm/m: the provider rejected the API key: no";
    assert!(
        ran.err.contains(kept) && ran.err.contains("your message is saved; retry with "),
        "{}",
        ran.err
    );
}
