//! `cargo xtask interop`: our model clients and our OpenAI-compatible endpoint against what others wrote,
//! installed under `target`: the vendors' own SDKs, LangChain, and a proxy that speaks every wire.

use std::process::Command;

use anyhow::Result;

use crate::shell;

const HOME: &str = "target/interop";

/// What is installed, each in its own place: they do not agree on what they need.
const PARTS: [&str; 3] = ["sdk", "proxy", ENDPOINT];

/// The clients of our own endpoint, in Python and JavaScript.
const ENDPOINT: &str = "endpoint";

pub fn interop() -> Result<()> {
    for part in PARTS {
        install(part)?;
    }
    install_npm(ENDPOINT, "client.mjs")?;
    shell::ensure("nextest", &["cargo-nextest", "--locked"])?;
    let packages = ["--package", "roundtable-models", "--package", "roundtable-server"];
    let mut run = shell::cargo(["nextest", "run", "--run-ignored", "only"]);
    // What each of them did is worth reading.
    let which = ["--no-capture", "-E", "test(/^(sdk|proxy|openai::sdk)::/)"];
    shell::run(run.args(packages).args(which))
}

/// Installs what `tests/PART/package.json` names, with the script that uses it: Node looks for packages
/// beside it.
fn install_npm(part: &str, script: &str) -> Result<()> {
    let home = shell::root().join(HOME).join(part);
    for file in ["package.json", script] {
        std::fs::copy(shell::root().join("tests").join(part).join(file), home.join(file))?;
    }
    let npm = ["install", "--no-audit", "--no-fund", "--loglevel", "error"];
    shell::run(Command::new("npm").args(npm).current_dir(home))
}

/// Installs what `tests/PART/requirements.txt` names, unless it is there.
fn install(part: &str) -> Result<()> {
    let home = format!("{HOME}/{part}");
    let python = shell::root().join(&home).join("bin/python");
    if !python.exists() {
        println!("installing {part} into {home}; this takes a while the first time");
        shell::run(at_root(&mut Command::new("python3")).args(["-m", "venv", &home]))?;
    }
    let install = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check"];
    let wanted = format!("tests/{part}/requirements.txt");
    let mut pip = Command::new(&python);
    shell::run(at_root(&mut pip).args(install).args(["--requirement", &wanted]))
}

fn at_root(command: &mut Command) -> &mut Command {
    command.current_dir(shell::root())
}
