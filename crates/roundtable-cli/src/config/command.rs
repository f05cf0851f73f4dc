//! `roundtable config`: what the configuration says, and whether it makes sense.

use std::process::ExitCode;

use super::mistake::Mistakes;
use super::trust_command;
use super::{Config, Options, Overrides, Scope, schema};
use crate::out;

/// What to do with the configuration.
#[derive(clap::Subcommand)]
pub(crate) enum Command {
    /// Print every value and its origin; secrets are shown as ***
    Show {
        /// Print every value as a line of JSON
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        overrides: Overrides,
    },
    /// Validate the configuration without starting anything
    Check {
        #[command(flatten)]
        overrides: Overrides,
    },
    /// Print the JSON Schema of roundtable.toml, for editors
    Schema,
    /// Review ./roundtable.toml and trust it as it is now
    Trust(trust_command::Options),
    /// Withdraw the trust in ./roundtable.toml
    Untrust,
}

pub(crate) fn run(options: &Options, command: &Command) -> anyhow::Result<ExitCode> {
    let text = match command {
        Command::Show { json: true, overrides } => {
            Config::read(options, overrides, Scope::Project)?.json_lines()
        }
        Command::Show { json: false, overrides } => {
            out::plain(&Config::read(options, overrides, Scope::Project)?.lines())
        }
        Command::Check { overrides } => check(&Config::read(options, overrides, Scope::Project)?)?,
        Command::Trust(trust) => return trust_command::trust(options, trust),
        Command::Untrust => trust_command::untrust()?,
        Command::Schema => format!("{}\n", serde_json::to_string_pretty(&schema::schema())?),
    };
    out::put(&text)?;
    Ok(ExitCode::SUCCESS)
}

fn check(config: &Config) -> anyhow::Result<String> {
    if let Some(mistakes) = Mistakes::of(config.mistakes()) {
        return Err(mistakes.into());
    }
    let file = config.source.as_ref().map(|source| source.path.display().to_string());
    let file = file.unwrap_or_else(|| "no configuration file".to_owned());
    let (model, why) = config.speaking();
    Ok(format!("{file}: configuration is valid\nDefault model: {model} ({why})\n"))
}
