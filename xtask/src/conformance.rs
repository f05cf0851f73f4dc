//! `cargo xtask conformance`: the server against the protocol's own suite and other people's clients,
//! which it installs under `target`.

use std::io::{BufRead as _, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use anyhow::{Context as _, Result};

use crate::shell;

const HOME: &str = "target/conformance";
const TESTS: &str = "tests/mcp";

/// How the suite is run.
struct Run {
    /// The era of the protocol, as the suite names it.
    era: &'static str,
    /// What the fixtures are told.
    flags: &'static [&'static str],
    /// The failures that are expected, with why. Any other one fails the run, and so does one of these
    /// that does not fail any more.
    expected: Option<&'static str>,
}

/// Once for each era as debates are served, and once for the older one with sessions of the transport,
/// which it needs to ask clients something.
const RUNS: [Run; 3] = [
    Run { era: "2026-07-28", flags: &[], expected: None },
    Run { era: "2025-11-25", flags: &[], expected: Some("expected-failures-2025-11-25.yml") },
    Run {
        era: "2025-11-25",
        flags: &["--sessions"],
        expected: Some("expected-failures-2025-11-25-sessions.yml"),
    },
];

pub fn conformance() -> Result<()> {
    install()?;
    let packages = ["--package", "roundtable-cli", "--package", "roundtable-server"];
    shell::run(shell::cargo(["build", "--bins", "--examples"]).args(packages))?;
    let binary = built("roundtable");
    shell::run(python().arg(tests("hold.py")).arg(&binary))?;
    // Node looks for packages beside the script, so that one was copied there.
    shell::run(node().arg(home("events.mjs")).arg(&binary))?;
    shell::run(python().arg(tests("websocket.py")).arg(&binary).arg(node_path()))?;
    let inspector =
        home("node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js");
    shell::run(python().arg(tests("inspector.py")).arg(&binary).arg(node_path()).arg(inspector))?;
    shell::run(python().arg(tests("describe.py")).arg(&binary))?;
    suite()
}

/// The official suite against the fixtures, behind our router and its gate.
fn suite() -> Result<()> {
    RUNS.iter().try_for_each(|asked| {
        let mut fixtures = Command::new(built("examples/conformance"));
        let (fixtures, url) = start(fixtures.args(asked.flags))?;
        let suite = home("node_modules/@modelcontextprotocol/conformance/dist/index.js");
        let mut run = node();
        run.arg(suite).args(["server", "--url", &url, "--requirements", asked.era]);
        if let Some(expected) = asked.expected {
            run.arg("--expected-failures").arg(tests(expected));
        }
        let done = shell::run(run.arg("--output-dir").arg(home("results")));
        end(fixtures);
        done
    })
}

/// Starts a program that prints where it can be reached.
fn start(command: &mut Command) -> Result<(Child, String)> {
    let mut child = command.stdout(Stdio::piped()).spawn().context("starting the fixtures")?;
    let out = child.stdout.take().context("the fixtures print nothing")?;
    let mut line = String::new();
    BufReader::new(out).read_line(&mut line)?;
    Ok((child, line.trim().to_owned()))
}

fn end(mut child: Child) {
    // It may have ended already.
    let _ = child.kill();
    let _ = child.wait();
}

fn install() -> Result<()> {
    std::fs::create_dir_all(home(""))?;
    if !home("bin/python").exists() {
        shell::run(Command::new("python3").args(["-m", "venv"]).arg(home("")))?;
    }
    let quiet = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--requirement"];
    shell::run(python().args(quiet).arg(tests("requirements.txt")))?;
    std::fs::copy(tests("package.json"), home("package.json"))?;
    std::fs::copy(tests("events.mjs"), home("events.mjs"))?;
    let npm = ["install", "--no-audit", "--no-fund", "--loglevel", "error"];
    shell::run(Command::new("npm").args(npm).current_dir(home("")))
}

fn python() -> Command {
    Command::new(home("bin/python"))
}

/// The suite wants a newer Node than many machines have.
fn node() -> Command {
    Command::new(node_path())
}

fn node_path() -> PathBuf {
    home("node_modules/.bin/node")
}

fn home(below: &str) -> PathBuf {
    shell::root().join(HOME).join(below)
}

fn tests(name: &str) -> PathBuf {
    shell::root().join(TESTS).join(name)
}

fn built(name: &str) -> PathBuf {
    shell::root().join("target/debug").join(name)
}
