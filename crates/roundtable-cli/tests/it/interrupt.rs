//! Signals to a debate: what runs is finished and recorded, and `continue` goes on.

use roundtable_testing::provider::Answer;

use crate::binary::{read_until, signal};
use crate::debate::{DEBATE, asking, home, two_rounds};
use crate::provider::{Provider, words};

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
    while !String::from_utf8_lossy(&told).contains("another signal stops at once") {
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
        told.contains(&format!("\nGo on: roundtable continue {session} --data-dir ")),
        "{told}"
    );
    let ran = home.run_with(&[], &["continue", &session]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert!(
        ran.out.starts_with("\nRound 1/2\n\nAda · proponent · vllm/m:\nBegin now.\n"),
        "{}",
        ran.out
    );
    assert!(ran.out.contains("Decision: act on it: the panel agrees (0.80)."), "{}", ran.out);
    home.assert_sound();
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
        String::from_utf8_lossy(&told).contains("\nAnswer and go on: roundtable continue ses_")
    );
}
