//! The `roundtable` command.

mod config;
mod demo;
mod out;
mod sessions;
mod show;
mod signal;
mod trace;
mod verify;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use config::Config;

/// Sessions are worked on by whichever thread is free, so memory is often given back by another
/// thread than the one that took it. The system's allocator makes threads wait for each other then.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Durable conversations among several LLM agents.
#[derive(Parser)]
#[command(name = "roundtable", version, arg_required_else_help = true)]
struct Cli {
    #[command(flatten)]
    config: config::Options,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// A session of two scripted agents: a tool, a nested prompt, a question to you. Needs no key.
    Demo(demo::Options),
    /// List the sessions, newest first.
    Sessions(sessions::Options),
    /// Show what happened in a session, or in one of its turns.
    Show(show::Options),
    /// Check that everything stored is what was written.
    Verify(verify::Options),
}

#[tokio::main]
async fn main() -> ExitCode {
    let Cli { config, command } = Cli::parse();
    match run(&config, command).await {
        Ok(code) => code,
        Err(error) => {
            eprintln!("error: {}", out::plain(&format!("{error:#}")));
            ExitCode::FAILURE
        }
    }
}

async fn run(options: &config::Options, command: Command) -> anyhow::Result<ExitCode> {
    let config = Config::read(options)?;
    match command {
        Command::Demo(options) => demo::run(&config, options).await,
        Command::Sessions(options) => sessions::run(&config, &options).await,
        Command::Show(options) => show::run(&config, &options).await,
        Command::Verify(options) => verify::run(&config, &options).await,
    }
}
