//! The `roundtable` command.

mod approval;
mod ask;
mod chat;
mod config;
mod debate;
mod demo;
mod descriptors;
mod export;
mod mcp;
mod models;
mod out;
mod prompt;
mod replace;
mod serve;
mod sessions;
mod show;
mod signal;
mod tools;
mod trace;
mod verify;
mod voice;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use config::{Config, Overrides, Scope};

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
    /// Ask an agent, in a session that is kept: the quickest way to try a key.
    Ask(ask::Options),
    /// Chat with a team of agents
    Chat(chat::Options),
    /// Hold a debate: a panel argues a question in rounds, and says how far it agrees.
    Debate(debate::Options),
    /// Go on with a session: say something, answer what is asked, let a debate run on.
    Continue(ask::ContinueRequest),
    /// The weights of the local models: which are there, and getting the others.
    Models(models::Options),
    /// The tools that agents can use, and those that wait for approval.
    Tools(tools::Options),
    /// What the configuration says, and whether it makes sense.
    #[command(subcommand)]
    Config(config::Command),
    /// Scripted agents show what the engine does: a tool, a nested prompt, a question to you. Needs no key.
    Demo(demo::Options),
    /// Serve debates to an editor or assistant that starts this program; `install` adds it to one.
    Mcp(mcp::Options),
    /// Serve sessions over HTTP and MCP, on this machine or to those with a token.
    Serve(serve::Options),
    /// Write a debate as minutes for people, or as JSON that can be imported again.
    Export(export::Options),
    /// Keep a debate that was exported as JSON, to be read.
    Import(export::Import),
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
            if config::is_mistake(&error) { ExitCode::from(2) } else { ExitCode::FAILURE }
        }
    }
}

async fn run(options: &config::Options, command: Command) -> anyhow::Result<ExitCode> {
    let read = |overrides: &Overrides| Config::read(options, overrides, Scope::Project);
    // Editors and supervisors start servers in directories of anybody.
    let read_own = |overrides: &Overrides| Config::read(options, overrides, Scope::Own);
    let usual = Overrides::default();
    match command {
        Command::Ask(options) => ask::ask(&read(&options.overrides)?, &options).await,
        Command::Chat(options) => chat::run(&read(&options.overrides)?, &options).await,
        Command::Debate(options) => debate::run(&read(&options.overrides())?, &options).await,
        Command::Continue(options) => ask::continue_session(&read(&usual)?, &options).await,
        Command::Models(options) => models::run(&read(&usual)?, &options),
        Command::Tools(options) => tools::run(&read(&usual)?, &options).await,
        Command::Config(command) => config::run(options, &command),
        Command::Mcp(options) => mcp::run(&read_own(&options.overrides)?, &options).await,
        Command::Serve(options) => serve::run(&read_own(&options.overrides())?, &options).await,
        Command::Demo(options) => demo::run(&read(&usual)?, &options).await,
        Command::Export(options) => export::run(&read(&usual)?, &options).await,
        Command::Import(options) => export::import(&read(&usual)?, &options).await,
        Command::Sessions(options) => sessions::run(&read(&usual)?, &options).await,
        Command::Show(options) => show::run(&read(&usual)?, &options).await,
        Command::Verify(options) => verify::run(&read(&usual)?, &options).await,
    }
}
