//! Signals to a debate: what runs is finished and recorded, and `continue` goes on.

use std::net::TcpStream;

use roundtable_testing::provider::Answer;
use serde_json::json;

use crate::binary::{Home, finish, read_until, signal};
use crate::debate::{DEBATE, asking, home, two_rounds};
use crate::provider::{Provider, words};
use crate::{mcp, serve};

#[test]
fn a_signal_lets_the_call_finish_a_second_one_does_not_wait_and_continue_goes_on() {
    let mut answers = two_rounds();
    answers.insert(1, Answer::Stall(words("{\"position\": \"Be")));
    let provider = Provider::start(answers);
    let home = home(&provider);
    let mut child = home.command(&[], &DEBATE).spawn().unwrap();
    let (mut out, mut seen) = (child.stdout.take().unwrap(), String::new());
    assert!(read_until(&mut out, &mut seen, |seen| seen.contains("(YES")), "{seen}");
    // Ben is asked, and the provider keeps him waiting.
    while provider.received().len() < 2 {
        std::thread::yield_now();
    }
    signal(&child, "-INT");
    let mut err = child.stderr.take().unwrap();
    let mut told = Vec::new();
    while !String::from_utf8_lossy(&told).contains("press Ctrl-C again to stop at once") {
        let mut byte = [0];
        std::io::Read::read_exact(&mut err, &mut byte).unwrap();
        told.extend(byte);
    }
    signal(&child, "-INT");
    std::io::Read::read_to_end(&mut err, &mut told).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130));
    let session = home.session();
    let told = String::from_utf8(told).unwrap();
    assert!(
        told.contains(&format!("\nContinue: roundtable continue {session} --data-dir ")),
        "{told}"
    );
    let ran = home.run_with(&[], &["continue", &session]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert!(
        ran.out.contains("\nRound 1/2\n\nAda · proponent · vllm/m:\nBegin now.\n"),
        "{}",
        ran.out
    );
    assert!(ran.out.contains("Recommendation: proceed (the panel agrees (0.80))"), "{}", ran.out);
    home.assert_sound();
}

#[test]
fn a_drain_that_runs_out_of_time_names_the_calls_that_it_cut_and_exits_with_75() {
    for (drain_ms, stopped) in [(0, "the shutdown timed out"), (3_600_000, "stopped at once")] {
        let provider = Provider::start(vec![Answer::Silence]);
        let home = Home::new();
        let config = format!(
            "[defaults]\nmodel = \"vllm/m\"\n[providers.vllm]\nbase_url = \"{}\"\n\
             [server]\nwait_budget_ms = 0\ndrain_ms = {drain_ms}\n",
            provider.address
        );
        let config = home.write("roundtable.toml", &config);
        let (child, url) = serve::serve(&home, &["--config", config.to_str().unwrap()]);
        let started = mcp::post(&url, "/api/debates", &json!({ "topic": "Tabs or spaces?" }));
        while provider.received().len() < 4 {
            std::thread::yield_now();
        }
        signal(&child, "-TERM");
        if drain_ms > 0 {
            // A second signal does not wait.
            let address = url.strip_prefix("http://").unwrap();
            while TcpStream::connect(address).is_ok() {
                std::thread::yield_now();
            }
            signal(&child, "-TERM");
        }
        let ran = finish(child);
        assert_eq!(ran.code, Some(if drain_ms == 0 { 75 } else { 0 }), "{}", ran.err);
        let session = started["sessionId"].as_str().unwrap();
        let lines: Vec<&str> = ran.err.lines().collect();
        assert_eq!(lines[0], format!("{stopped}; interrupted:"), "{}", ran.err);
        for line in &lines[1..5] {
            assert!(line.starts_with(&format!("  {session}: call of model vllm/m for ")), "{line}");
        }
        assert_eq!(lines[5..], ["Their sessions continue in the next process that opens them."]);
        home.assert_sound();
    }
}

#[test]
fn a_signal_at_the_prompt_does_not_wait_for_someone_to_type() {
    let provider = Provider::start(asking());
    let home = home(&provider);
    let mut child = home.command(&[], &DEBATE).spawn().unwrap();
    let mut err = child.stderr.take().unwrap();
    let mut told = Vec::new();
    while !String::from_utf8_lossy(&told).contains("Your answer") {
        let mut byte = [0];
        std::io::Read::read_exact(&mut err, &mut byte).unwrap();
        told.extend(byte);
    }
    signal(&child, "-INT");
    std::io::Read::read_to_end(&mut err, &mut told).unwrap();
    assert!(child.stdin.is_some(), "somebody could have typed");
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert!(
        String::from_utf8_lossy(&told).contains("\nAnswer and continue: roundtable continue ses_")
    );
}
