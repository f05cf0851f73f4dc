//! What a person at a terminal sees of a debate. The terminal is Python's; without it, nothing is
//! looked at.

use std::process::Command;

use crate::binary::{Home, roundtable};

/// Runs a command in a terminal of 60 columns, and prints everything that it wrote.
const TERMINAL: &str = r#"
import fcntl, os, pty, struct, subprocess, sys, termios
ours, theirs = pty.openpty()
fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 60, 0, 0))
child = subprocess.Popen(sys.argv[1:], stdin=theirs, stdout=theirs, stderr=theirs, close_fds=True)
os.close(theirs)
out = b""
while True:
    try:
        piece = os.read(ours, 65536)
    except OSError:
        break
    if not piece:
        break
    out += piece
sys.stdout.buffer.write(out)
sys.exit(child.wait())
"#;

/// What is left on the screen: no colours, and no line that was overwritten.
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

fn seen(home: &Home, arguments: &[&str]) -> Option<String> {
    let binary = roundtable().get_program().to_owned();
    let mut command = Command::new("python3");
    command.env_clear().env("PATH", "/usr/local/bin:/usr/bin:/bin").env("TERM", "xterm-256color");
    command.args(["-c", TERMINAL]).arg(binary).args(arguments);
    command.arg("--data-dir").arg(home.path());
    match command.output() {
        Ok(output) => {
            let seen = screen(&output.stdout);
            assert!(output.status.success(), "{seen}{}", String::from_utf8_lossy(&output.stderr));
            Some(seen)
        }
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            eprintln!("there is no python3: no terminal was looked at");
            None
        }
        Err(error) => panic!("python3: {error}"),
    }
}

#[test]
fn on_a_terminal_every_speaker_has_a_panel_that_fits_it() {
    let home = Home::new();
    let arguments =
        ["debate", "Should we begin?", "--mode", "adversarial", "--agents", "2", "--rounds", "1"];
    let Some(seen) = seen(&home, &arguments) else { return };
    let (_, panels) = seen.split_once("Round 1/1\n").unwrap();
    let (panels, _) = panels.split_once("\nMinutes: ").unwrap();
    insta::assert_snapshot!(panels, @r"

    ┌ Proponent · scripted
    │ I am Proponent, a scripted voice and not a model: I hold
    │ no position.
    └

    ┌ Opponent · scripted
    │ I am Opponent, a scripted voice and not a model: I hold no
    │ position.
    └

    Consensus low, agreement 0.19.
    The positions fall into 2 groups: Proponent; Opponent
    (agreement 0.19, low).

    The debate is over: all rounds are done.
    Decision: not yet: the panel is divided (0.19); read the
    positions.
    It took 2 model calls and 841 tokens.
    ");
}

#[test]
fn on_a_terminal_panels_of_a_parallel_mode_are_drawn_when_they_are_done() {
    let home = Home::new();
    let arguments = ["debate", "Should we begin?", "--agents", "3", "--rounds", "2"];
    let Some(seen) = seen(&home, &arguments) else { return };
    for name in ["Synthesizer", "Analyst", "Creative"] {
        assert_eq!(seen.matches(&format!("\n┌ {name} · scripted\n│ I am")).count(), 2, "{seen}");
    }
    assert!(seen.contains("\nRound 2/2\n") && !seen.contains("have answered"), "{seen}");
}
