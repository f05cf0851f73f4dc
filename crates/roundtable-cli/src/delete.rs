//! `roundtable delete`: removes a session for good.

use std::process::ExitCode;

use anyhow::bail;
use serde_json::json;

use crate::config::Config;
use crate::session_arg::SessionArg;
use crate::{out, prompt};

/// How much of a topic is shown.
const TOPIC: usize = 60;

/// Which session is deleted.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// The session id, or a unique start of it
    session: SessionArg,
    /// Delete without asking
    #[arg(long, short)]
    yes: bool,
    /// Print the result as a line of JSON
    #[arg(long)]
    json: bool,
}

pub(crate) async fn run(config: &Config, options: &Options) -> anyhow::Result<ExitCode> {
    let archive = config.archive()?;
    let listed = options.session.find(&archive).await?;
    let (id, topic) = (&listed.session, out::line(&listed.summary.topic, TOPIC));
    if !options.yes {
        let question = out::plain(&format!("Delete {id} ({topic})? This cannot be undone."));
        if !prompt::agrees(&question)? {
            bail!("not deleted\nhint: pass --yes to delete without asking");
        }
    }
    archive.delete(id).await?;
    let line = match options.json {
        true => out::json_line(json!({ "deleted": id }).to_string()),
        false => format!("Deleted {id}.\n"),
    };
    out::put(&line)?;
    Ok(ExitCode::SUCCESS)
}
