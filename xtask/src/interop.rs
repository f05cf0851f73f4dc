//! `cargo xtask interop`: our model clients against what others wrote, installed under `target`: the
//! vendors' own SDKs, and a proxy that speaks every wire.

use std::process::Command;

use anyhow::Result;

use crate::shell;

const HOME: &str = "target/interop";

/// What is installed, each in its own place: they do not agree on what they need.
const PARTS: [&str; 2] = ["sdk", "proxy"];

pub fn interop() -> Result<()> {
    for part in PARTS {
        install(part)?;
    }
    shell::ensure("nextest", &["cargo-nextest", "--locked"])?;
    let run = ["nextest", "run", "--package", "roundtable-models", "--run-ignored", "only"];
    // What each of them did is worth reading.
    let which = ["--no-capture", "-E", "test(/^(sdk|proxy)::/)"];
    shell::run(shell::cargo(run).args(which))
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
