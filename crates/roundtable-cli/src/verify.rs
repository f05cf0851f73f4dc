//! `roundtable verify`: whether everything stored is what was written.

use std::process::ExitCode;

use roundtable::{Damage, Verification};
use serde_json::json;

use crate::config::Config;
use crate::out;

/// How the result is printed.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// Print the result as a line of JSON, and nothing else.
    #[arg(long)]
    json: bool,
}

pub(crate) async fn run(config: &Config, options: &Options) -> anyhow::Result<ExitCode> {
    let found = config.archive()?.verify().await;
    let text = if options.json { json_line(&found) } else { out::plain(&lines(&found)) };
    out::put(&text)?;
    Ok(if found.is_sound() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn lines(found: &Verification) -> String {
    let checked =
        format!("{} and {}", many(found.sessions, "session"), many(found.events, "event"));
    if found.is_sound() {
        return format!("Checked {checked}: no errors.\n");
    }
    let damages: String = found.damages.iter().map(line).collect();
    let count = found.damages.len() as u64;
    format!("{damages}Checked {checked}: {} found.\n", many(count, "damage"))
}

fn many(count: u64, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}

fn line(damage: &Damage) -> String {
    let session = damage.session.as_deref().unwrap_or("the file");
    match damage.seq {
        Some(seq) => format!("{session} at event {seq}: {}\n", damage.what),
        None => format!("{session}: {}\n", damage.what),
    }
}

fn json_line(found: &Verification) -> String {
    let damage = |damage: &Damage| json!({ "session": damage.session, "seq": damage.seq, "what": damage.what });
    let damages: Vec<_> = found.damages.iter().map(damage).collect();
    let line = json!({ "sessions": found.sessions, "events": found.events, "damages": damages });
    format!("{line}\n")
}
