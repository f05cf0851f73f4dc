//! The `roundtable` command.

mod demo;
mod signal;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Durable conversations among several LLM agents.
#[derive(Parser)]
#[command(name = "roundtable", version, about, arg_required_else_help = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// A session of two scripted agents: a tool, a nested prompt, a question to you. Needs no key.
    Demo(demo::Options),
}

#[tokio::main]
async fn main() -> ExitCode {
    let Cli { command } = Cli::parse();
    let done = match command {
        Command::Demo(options) => demo::run(options).await,
    };
    match done {
        Ok(code) => code,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}
