//! The `roundtable` command.

mod approval;
mod ask;
mod chat;
mod completions;
mod config;
mod debate;
mod delete;
mod demo;
mod descriptors;
mod export;
mod mcp;
mod models;
mod out;
mod prompt;
mod replace;
mod search;
mod serve;
mod session_arg;
mod sessions;
mod show;
mod signal;
mod text_arg;
mod tools;
mod trace;
mod usage;
mod verify;
mod voice;
mod wrap;

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
    /// Ask one agent and save the conversation
    Ask(ask::Options),
    /// Chat with a team of agents
    Chat(chat::Options),
    /// Run a debate: a panel argues in rounds and reports consensus
    Debate(debate::Options),
    /// Continue a session
    Continue(ask::ContinueRequest),
    /// List the files of the local models, or download missing ones
    Models(models::Options),
    /// List the tools that agents can use, and approve tools of MCP servers
    Tools(tools::Options),
    /// Show or validate the configuration
    #[command(subcommand)]
    Config(config::Command),
    /// Run a scripted demo: a tool, a nested prompt, a question to you. Needs no API key
    Demo(demo::Options),
    /// Run the MCP server on standard input and output, or install it in an MCP client
    Mcp(mcp::Options),
    /// Run the HTTP and MCP server
    Serve(serve::Options),
    /// Export a debate as Markdown minutes or as JSON
    Export(export::Options),
    /// Import an exported debate (read-only)
    Import(export::Import),
    /// List sessions, newest first
    Sessions(sessions::Options),
    /// Search the messages of all sessions
    Search(search::Options),
    /// Show the events of a session, or the details of a turn
    Show(show::Options),
    /// Delete a session
    Delete(delete::Options),
    /// Verify the integrity of stored data
    Verify(verify::Options),
    /// Print a completion script for a shell
    Completions(completions::Options),
}

#[tokio::main]
async fn main() -> ExitCode {
    let Cli { config, command } = Cli::parse();
    match run(&config, command).await {
        Ok(code) => code,
        Err(error) => {
            eprintln!("error: {}", out::plain(&format!("{error:#}")));
            let is_usage = config::is_mistake(&error) || usage::is_usage(&error);
            if is_usage { ExitCode::from(2) } else { ExitCode::FAILURE }
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
        Command::Search(options) => search::run(&read(&usual)?, &options).await,
        Command::Show(options) => show::run(&read(&usual)?, &options).await,
        Command::Delete(options) => delete::run(&read(&usual)?, &options).await,
        Command::Completions(options) => completions::run::<Cli>(&options),
        Command::Verify(options) => verify::run(&read(&usual)?, &options).await,
    }
}
