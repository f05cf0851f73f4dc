//! `roundtable mcp`: debates for an editor or an assistant that starts this program, over standard
//! input and output. Whatever is for people goes to standard error.

mod install;

use std::process::ExitCode;

use anyhow::{Context as _, anyhow};
use roundtable_server::serve_stdio;

use crate::config::{Config, Overrides};
use crate::descriptors;
use crate::out;
use crate::signal::Signals;

/// What is to be done.
#[derive(clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Options {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    pub overrides: Overrides,
}

#[derive(clap::Subcommand)]
enum Command {
    /// Add this server to the settings of a client.
    Install(install::Options),
}

pub(crate) async fn run(config: &Config, options: &Options) -> anyhow::Result<ExitCode> {
    match &options.command {
        Some(Command::Install(options)) => install::run(config, options),
        None => serve(config).await,
    }
}

async fn serve(config: &Config) -> anyhow::Result<ExitCode> {
    let mut signals = Signals::listen().context("cannot listen for signals")?;
    if let Some(notice) = config.ignored_notice() {
        eprintln!("{}", out::plain(&notice));
    }
    let settings = config.server_settings();
    descriptors::raise();
    let running = config.engine_for_all(&settings.quotas).await?;
    let stopped = async {
        signals.next().await;
    };
    let served = serve_stdio(running.engine.clone(), settings, stopped).await;
    // What runs is finished and recorded; a round goes on in whichever process comes next.
    let drained = signals.drain(&running.engine).await;
    running.shutdown().await;
    served.map_err(|error| anyhow!(error))?;
    Ok(drained.code(ExitCode::SUCCESS))
}
