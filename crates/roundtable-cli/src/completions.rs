//! `roundtable completions`: scripts for shells.

use std::process::ExitCode;

use clap::CommandFactory;
use clap_complete::Shell;

use crate::out;

/// Which shell.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// The shell
    #[arg(value_enum)]
    shell: Shell,
}

pub(crate) fn run<C: CommandFactory>(options: &Options) -> anyhow::Result<ExitCode> {
    let mut script = Vec::new();
    clap_complete::generate(options.shell, &mut C::command(), "roundtable", &mut script);
    out::put(&String::from_utf8_lossy(&script))?;
    Ok(ExitCode::SUCCESS)
}
