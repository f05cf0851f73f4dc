//! Starting other programs, from the root of the repository and with a clean environment.

use std::env;
use std::ffi::OsStr;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};
use cargo_metadata::{Metadata, MetadataCommand};

/// The root of the repository.
pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask lies in the repository")
}

/// A cargo command, as if typed at the root of the repository.
///
/// `cargo xtask` describes the xtask package in variables such as `CARGO_PKG_NAME`. Build scripts that watch them
/// would run again on every change between a direct and a nested build, so the nested one does not inherit them.
pub fn cargo<S: AsRef<OsStr>>(args: impl IntoIterator<Item = S>) -> Command {
    let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(root()).args(args);
    for (name, _) in env::vars_os() {
        let name = name.to_string_lossy();
        if name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_") {
            command.env_remove(name.as_ref());
        }
    }
    command
}

/// Runs the command with our own input and output; an exit code other than zero is an error.
pub fn run(command: &mut Command) -> Result<()> {
    let line = shown(command);
    let status = command.status().with_context(|| format!("cannot start `{line}`"))?;
    if !status.success() {
        bail!("`{line}` ended with {status}");
    }
    Ok(())
}

/// The command line for people: the program without its folder.
pub fn shown(command: &Command) -> String {
    let program = Path::new(command.get_program()).file_stem().unwrap_or_default();
    let words = std::iter::once(program).chain(command.get_args());
    words.map(OsStr::to_string_lossy).collect::<Vec<_>>().join(" ")
}

/// Installs a cargo subcommand unless it answers already.
pub fn ensure(subcommand: &str, install: &[&str]) -> Result<()> {
    let mut probe = cargo([subcommand, "--version"]);
    let found = probe
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success());
    if found {
        return Ok(());
    }
    let mut command = cargo(["install"].iter().chain(install));
    println!("cargo {subcommand} is missing; installing it with `{}`", shown(&command));
    run(&mut command)
}

/// What cargo knows about the workspace, dependencies included.
pub fn metadata() -> Result<Metadata> {
    let mut command = MetadataCommand::new();
    command.current_dir(root());
    command.exec().context("`cargo metadata` cannot read the workspace")
}
