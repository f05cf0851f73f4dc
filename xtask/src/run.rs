//! `cargo xtask run`: build the binary and become it.

use std::env::consts::EXE_SUFFIX;
use std::process::Command;

use anyhow::Result;

use crate::shell;

#[derive(clap::Args)]
pub struct Args {
    /// Arguments for `roundtable`; none means `demo`.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    args: Vec<String>,
}

pub fn run(args: &Args) -> Result<()> {
    shell::run(&mut shell::cargo(["build", "-p", "roundtable-cli"]))?;
    let binary =
        shell::metadata()?.target_directory.join("debug").join(format!("roundtable{EXE_SUFFIX}"));
    let mut command = Command::new(binary);
    command.args(chosen(&args.args));
    become_it(&mut command)
}

fn chosen(args: &[String]) -> Vec<&str> {
    if args.is_empty() { vec!["demo"] } else { args.iter().map(String::as_str).collect() }
}

/// Replaces this process, so that signals reach `roundtable` itself and it can drain.
#[cfg(unix)]
fn become_it(command: &mut Command) -> Result<()> {
    use std::os::unix::process::CommandExt;
    let line = shell::shown(command);
    let error = command.exec();
    Err(anyhow::Error::new(error).context(format!("cannot start `{line}`")))
}

#[cfg(not(unix))]
fn become_it(command: &mut Command) -> Result<()> {
    shell::run(command)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_arguments_the_demo_runs() {
        assert_eq!(chosen(&[]), ["demo"]);
        assert_eq!(chosen(&["serve".into(), "--help".into()]), ["serve", "--help"]);
    }
}
