//! `cargo xtask interop`: our clients against the vendors' own SDKs, which it installs under `target`.

use std::process::Command;

use anyhow::Result;

use crate::shell;

const HOME: &str = "target/interop";

pub fn interop() -> Result<()> {
    let python = shell::root().join(HOME).join("bin/python");
    if !python.exists() {
        shell::run(at_root(&mut Command::new("python3")).args(["-m", "venv", HOME]))?;
    }
    let install = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check"];
    let wanted = ["--requirement", "tests/sdk/requirements.txt"];
    shell::run(at_root(&mut Command::new(&python)).args(install).args(wanted))?;
    shell::ensure("nextest", &["cargo-nextest", "--locked"])?;
    let run = ["nextest", "run", "--package", "roundtable-models", "--run-ignored", "only"];
    shell::run(shell::cargo(run).args(["-E", "test(/^sdk::/)"]))
}

fn at_root(command: &mut Command) -> &mut Command {
    command.current_dir(shell::root())
}
