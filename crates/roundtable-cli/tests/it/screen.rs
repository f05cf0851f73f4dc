//! What a person at a terminal sees of a debate. The terminal is Python's: there is none in Rust's
//! standard library, and a test that cannot look fails.

use std::process::{Command, Stdio};

use roundtable_testing::provider::Answer;

use crate::binary::{Home, finish, roundtable, steady};
use crate::debate::{DEBATE, home, two_rounds};
use crate::provider::{Provider, words};

/// Runs a command in a terminal of so many columns and prints everything that it wrote. As soon as
/// the screen has certain words, the keys behind them are typed.
const TERMINAL: &str = r#"
import fcntl, os, pty, struct, sys, termios
columns, steps, command = int(sys.argv[1]), sys.argv[2], sys.argv[3:]
steps = [step.split("=>") for step in steps.split("|") if step]
child, ours = pty.fork()
if child == 0:
    fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    os.execv(command[0], command)
out, looked = b"", 0
while True:
    try:
        piece = os.read(ours, 65536)
    except OSError:
        break
    if not piece:
        break
    out += piece
    while steps and (at := out.find(steps[0][0].encode(), looked)) >= 0:
        looked = at + len(steps[0][0])
        os.write(ours, steps.pop(0)[1].encode().decode("unicode_escape").encode())
sys.stdout.buffer.write(out)
_, status = os.waitpid(child, 0)
sys.exit(os.waitstatus_to_exitcode(status))
"#;

/// What is left on the screen: no colors, and no line that was overwritten.
fn screen(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes).replace("\r\n", "\n");
    let mut plain = String::new();
    let mut rest = text.as_str();
    while let Some((before, escape)) = rest.split_once('\u{1b}') {
        plain.push_str(before);
        let end = escape.find(|c: char| c.is_ascii_alphabetic()).map_or(escape.len(), |at| at + 1);
        if escape[..end].ends_with('K') {
            let line = plain.rfind('\n').map_or(0, |at| at + 1);
            plain.truncate(line);
        }
        rest = &escape[end..];
    }
    plain.push_str(rest);
    let last = |line: &str| line.rsplit('\r').next().unwrap_or_default().trim_end().to_owned();
    plain.lines().map(last).collect::<Vec<_>>().join("\n")
}

/// What is seen of a command at a terminal, and how it ended.
fn seen(home: &Home, columns: u32, steps: &str, arguments: &[&str]) -> (String, Option<i32>) {
    let mut command = Command::new("python3");
    command.env_clear().env("PATH", "/usr/local/bin:/usr/bin:/bin").env("TERM", "xterm-256color");
    command.current_dir(home.path().parent().unwrap());
    command.args(["-c", TERMINAL, &columns.to_string(), steps]);
    if home.path().with_file_name("roundtable.toml").is_file() {
        command.env("ROUNDTABLE_CONFIG", "roundtable.toml");
    }
    command.arg(roundtable().get_program()).args(arguments).arg("--data-dir").arg(home.path());
    let output = command.stdin(Stdio::null()).output().unwrap_or_else(|error| {
        panic!("python3 has to be there, because it brings the terminal: {error}")
    });
    let complaints = String::from_utf8_lossy(&output.stderr);
    assert_eq!(complaints, "", "the terminal itself went wrong");
    (screen(&output.stdout), output.status.code())
}

const TWO: [&str; 8] =
    ["debate", "Should we begin?", "--mode", "adversarial", "--agents", "2", "--rounds", "1"];

#[test]
fn on_a_terminal_every_speaker_has_a_panel_that_fits_it() {
    let home = Home::new();
    let (seen, code) = seen(&home, 60, "", &TWO);
    assert_eq!(code, Some(0), "{seen}");
    let (_, panels) = seen.split_once("Round 1/1\n").unwrap();
    let (panels, _) = panels.split_once("\nMinutes: ").unwrap();
    insta::assert_snapshot!(panels, @r"
    ┌ Proponent · scripted
    │ Scripted answer of Proponent: no model was called.
    └

    ┌ Opponent · scripted
    │ Scripted answer of Opponent: no model was called.
    └

    Consensus: low (agreement 0.20)
    The positions fall into 2 groups: Proponent; Opponent.
    Reservation: Scripted answer: no model was called
    Total so far: 2 model calls, 823 tokens, cost unknown

    The debate is over: all rounds are done.
    Recommendation: verify (agreement 0.20; Scripted answer: no
    model was called)
    Total: 2 model calls, 823 tokens, cost unknown
    ");
}

#[test]
fn a_wide_terminal_has_lines_that_are_pleasant_to_read() {
    let home = Home::new();
    let (seen, code) = seen(&home, 200, "", &TWO);
    assert_eq!(code, Some(0), "{seen}");
    let (_, panels) = seen.split_once("Round 1/1\n").unwrap();
    let (panels, _) = panels.split_once("\nMinutes: ").unwrap();
    let widest = panels.lines().map(|line| line.chars().count()).max().unwrap();
    assert!((61..=100).contains(&widest), "{widest}: {panels}");
    assert!(panels.contains("\n│ Scripted answer of Proponent: no model was called.\n└"));
}

#[test]
fn on_a_terminal_panels_of_a_parallel_mode_are_drawn_when_they_are_done() {
    let home = Home::new();
    let arguments = ["debate", "Should we begin?", "--agents", "3", "--rounds", "2"];
    let (seen, code) = seen(&home, 60, "", &arguments);
    assert_eq!(code, Some(0), "{seen}");
    for name in ["Synthesizer", "Analyst", "Creative"] {
        assert_eq!(
            seen.matches(&format!("\n┌ {name} · scripted\n│ Scripted answer")).count(),
            2,
            "{seen}"
        );
    }
    assert!(seen.contains("\nRound 2/2\n") && !seen.contains("have answered"), "{seen}");
}

#[test]
fn ctrl_c_lets_go_of_the_screen_says_how_to_go_on_and_continue_does() {
    let mut answers = two_rounds();
    answers.insert(1, Answer::Stall(words("{\"position\": \"Let us wait for ")));
    let provider = Provider::start(answers);
    let home = home(&provider);
    // Ben's words come as he says them, and stop; then the keys are pressed, and once more.
    let steps = "us wait=>\\x03|to stop at once=>\\x03";
    let (first, code) = seen(&home, 60, steps, &DEBATE);
    assert_eq!(code, Some(130), "{first}");
    let told = steady(&first);
    let (_, told) = told.split_once("\n┌ Ben · opponent · vllm/m\n│ Let us wait").unwrap();
    assert!(told.contains("\n└\n\nStopping. Waiting for the answers of Ben"), "{told}");
    assert!(told.contains("\nContinue: roundtable continue ses_…"), "{told}");
    let (second, code) = seen(&home, 60, "", &["continue", &home.session()]);
    assert_eq!(code, Some(0), "{second}");
    assert!(second.contains("\nRecommendation: proceed (the panel agrees (0.80))\n"), "{second}");
    home.assert_sound();
}

#[test]
fn what_an_agent_asks_is_asked_at_the_terminal_and_typed_there() {
    let provider = Provider::start(crate::debate::asking());
    let home = home(&provider);
    let (seen, code) = seen(&home, 60, "cannot answer):=>Nineteen.\\n", &DEBATE);
    assert_eq!(code, Some(0), "{seen}");
    assert!(seen.contains("\nAda asks (required): How old is she?\n"), "{seen}");
    assert!(provider.received()[4].body["messages"].to_string().contains("Nineteen."));
}

#[test]
fn without_a_terminal_nothing_is_drawn() {
    let home = Home::new();
    let ran = finish(home.command(&[], &TWO).spawn().unwrap());
    assert!(!ran.out.contains(['┌', '│', '\u{1b}', '\r']), "{}", ran.out);
}

/// Whether no line is wider than the terminal, and these words are broken only between words.
fn assert_fits(seen: &str, columns: usize, words: &str) {
    let widest = seen.lines().map(|line| line.chars().count()).max().unwrap_or_default();
    assert!(widest <= columns, "{widest} columns: {seen}");
    let joined = seen.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(joined.contains(words), "{words:?} is not in {seen}");
}

#[test]
fn a_narrow_terminal_breaks_answers_of_a_chat_between_words() {
    let home = Home::new();
    let question = "Which day of the week is the best one for a release of our software?";
    // The end of the answer is waited for: what is typed before it would be echoed inside of it.
    let steps = format!("lists the commands.=>{question}\\n|message: User:=>|software?=>/quit\\n");
    let (seen, code) = seen(&home, 60, &steps, &["chat"]);
    assert_eq!(code, Some(0), "{seen}");
    let (_, answer) = seen.split_once("Supervisor: Scripted").unwrap();
    let (answer, _) = answer.split_once("software?").unwrap();
    let whole = format!("no model was called. Your message: User: {question}");
    assert_fits(answer, 60, whole.trim_end_matches("software?").trim_end());
}

#[test]
fn a_narrow_terminal_breaks_lists_demos_notes_and_help_between_words() {
    let home = Home::new();
    let (seen_demo, code) =
        seen(&home, 60, "", &["demo", "--pace", "0", "--answer", "Two of five"]);
    assert_eq!(code, Some(0), "{seen_demo}");
    let (debate, _) = seen_demo.split_once("The log of").unwrap();
    assert_fits(debate, 60, "Twelve modules are about eighteen weeks, and the riskiest third");
    let (listed, _) = seen(&home, 60, "", &["sessions"]);
    assert_fits(&listed, 60, "debate, completed, 2 rounds: Should we move our billing");
    let (help, _) = seen(&home, 60, "", &["debate", "--help"]);
    assert_fits(&help, 60, "Create N agents for the mode, 2 to 10, on the available models");
    let (noted, _) = seen(&home, 60, "", &TWO);
    let (noted, _) = noted.split_once("\nTopic:").unwrap();
    assert_fits(noted, 60, "No model: answers are scripted (no API key found, and the local model");
}
