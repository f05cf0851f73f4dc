//! `roundtable export` and `roundtable import`: debates as minutes, and as JSON that can be read again.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context as _, bail};
use roundtable::Engine;
use roundtable::debate::Record;
use serde_json::json;

use crate::config::{Config, built};
use crate::out;
use crate::session_arg::SessionArg;

/// How a debate is written.
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    /// Minutes to read
    Markdown,
    /// All data; can be imported again
    Json,
}

/// What is exported, and where to.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// The session id, or a unique start of it
    session: SessionArg,
    /// The export format
    #[arg(long, value_name = "FORMAT", default_value = "markdown")]
    format: Format,
    /// Export as JSON; the same as --format json
    #[arg(long, conflicts_with = "format")]
    json: bool,
    /// Write to this file instead of standard output
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// What is imported.
#[derive(clap::Args)]
pub(crate) struct Import {
    /// The JSON file of an exported debate
    file: PathBuf,
    /// Print the result as a line of JSON
    #[arg(long)]
    json: bool,
}

pub(crate) async fn run(config: &Config, options: &Options) -> anyhow::Result<ExitCode> {
    let archive = config.archive()?;
    let session = &options.session.find(&archive).await?.session;
    let Some(record) = archive.record(session).await? else {
        let show = config.command(&format!("show {session} --json"));
        bail!("{session} is not a debate\nhint: print its events with `{show}`");
    };
    let text = match options.format {
        Format::Markdown if !options.json => record.minutes(),
        Format::Markdown | Format::Json => record.export(),
    };
    let text = if text.ends_with('\n') { text } else { format!("{text}\n") };
    match &options.output {
        Some(path) => {
            std::fs::write(path, text).with_context(|| format!("writing {}", path.display()))?;
        }
        None => drop(out::put(&out::plain(&text))?),
    }
    Ok(ExitCode::SUCCESS)
}

pub(crate) async fn import(config: &Config, options: &Import) -> anyhow::Result<ExitCode> {
    let path = options.file.display();
    let text = std::fs::read_to_string(&options.file).with_context(|| format!("reading {path}"))?;
    // Before anything is made: a file that is no debate leaves no trace.
    Record::import(&text).with_context(|| path.to_string())?;
    let engine = built(Engine::builder().sqlite(&config.data_dir)).await?;
    let imported = engine.import_debate(&text).await;
    engine.shutdown().await;
    let debate = imported?;
    let id = debate.id();
    let line = if options.json {
        format!("{}\n", json!({ "session": id }))
    } else {
        format!("Imported as {id}. Read it: {}\n", config.command(&format!("export {id}")))
    };
    out::put(&line)?;
    Ok(ExitCode::SUCCESS)
}
