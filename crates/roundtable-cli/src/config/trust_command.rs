//! `roundtable config trust` and `untrust`: the user's word about the file in the current directory.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context as _, bail};

use super::origin::Origin;
use super::place::{NAME, Platform};
use super::source::{Source, Standing};
use super::trust::{Trust, line};
use super::{parse, sensitive, variable};
use crate::{out, prompt};

/// What is trusted, and how.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// Trust it without asking.
    #[arg(long)]
    yes: bool,
    /// List the files that are trusted, and change nothing.
    #[arg(long, conflicts_with = "yes")]
    list: bool,
}

/// Shows what the file names in full, asks, and records path and digest of what was shown.
pub(super) fn trust(config: &super::Options, options: &Options) -> anyhow::Result<ExitCode> {
    let trust = records()?;
    if options.list {
        out::put(&out::plain(&listed(&trust)))?;
        return Ok(ExitCode::SUCCESS);
    }
    if config.config.is_some() {
        bail!("`config trust` applies to ./{NAME}; a file passed with --config needs no trust");
    }
    let source = project();
    let content = source.read()?;
    let entries = sensitive::entries(&parse(&source, &content)?);
    if entries.is_empty() {
        out::put(&format!("{NAME} sets nothing that needs trust.\n"))?;
        return Ok(ExitCode::SUCCESS);
    }
    if trust.has(&source, &content) {
        out::put(&format!("{NAME} is already trusted.\n"))?;
        return Ok(ExitCode::SUCCESS);
    }
    let lines = entries.iter().map(|entry| format!("  {}\n", line(&NAME, entry, &entry.value)));
    let lines: String = lines.collect();
    let (path, digest) = (source.absolute.display(), content.digest.as_str());
    let shown = format!("{path} sets:\n{lines}SHA-256 {digest}\n");
    out::put(&out::visible(&shown))?;
    if !options.yes && !prompt::agrees("Trust this file as it is?")? {
        bail!("{NAME} is not trusted; nothing was recorded");
    }
    trust.add(&source, &content)?;
    eprintln!(
        "Trusted. Commands ask again when the file changes; undo with `roundtable config untrust`."
    );
    Ok(ExitCode::SUCCESS)
}

/// Withdraws the trust.
pub(super) fn untrust() -> anyhow::Result<String> {
    Ok(match records()?.remove(&project())? {
        true => format!("{NAME} is no longer trusted.\n"),
        false => format!("{NAME} was not trusted.\n"),
    })
}

fn records() -> anyhow::Result<Trust> {
    Trust::of_user(Platform::here(), &variable).context("no configuration directory; set HOME")
}

fn project() -> Source {
    Source::new(PathBuf::from(NAME), Standing::Project, Origin::usual())
}

fn listed(trust: &Trust) -> String {
    let records = trust.list().into_iter();
    let lines: String =
        records.map(|record| format!("{}  {}\n", record.digest.as_str(), record.path)).collect();
    if lines.is_empty() { "No project file is trusted.\n".to_owned() } else { lines }
}
