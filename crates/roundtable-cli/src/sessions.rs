//! `roundtable sessions`: which there are.

use std::process::ExitCode;

use roundtable::core::session::Status;
use roundtable::ports::Listed;
use serde_json::json;

use crate::config::Config;
use crate::out;

/// How many characters of a topic are shown.
const TOPIC: usize = 60;

/// What is listed, and how.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// The maximum number of sessions to list
    #[arg(long, default_value_t = 50, value_name = "N")]
    limit: usize,
    /// Print every session as a line of JSON
    #[arg(long)]
    json: bool,
}

pub(crate) async fn run(config: &Config, options: &Options) -> anyhow::Result<ExitCode> {
    let sessions = config.archive()?.sessions(options.limit).await?;
    let lines: String = if options.json {
        sessions.iter().map(json_line).collect()
    } else if sessions.is_empty() && options.limit > 0 {
        "No sessions yet. `roundtable demo` creates one.\n".to_owned()
    } else {
        out::plain(&sessions.iter().map(line).collect::<String>())
    };
    out::put(&lines)?;
    Ok(ExitCode::SUCCESS)
}

fn line(listed: &Listed) -> String {
    let summary = &listed.summary;
    let rounds = match summary.rounds_completed {
        1 => "1 round".to_owned(),
        rounds => format!("{rounds} rounds"),
    };
    let (kind, status) = (summary.kind.as_str(), status(summary.status));
    let topic = out::line(&summary.topic, TOPIC);
    let topic = match &listed.parked {
        Some(_) => format!("(parked) {topic}"),
        None => topic,
    };
    let date = listed.created_at.strftime("%Y-%m-%d %H:%M");
    format!("{}  {date}  {kind:6}  {status:9}  {rounds:9}  {topic}\n", listed.session)
}

fn json_line(listed: &Listed) -> String {
    let summary = &listed.summary;
    let mut line = json!({
        "session": listed.session,
        "kind": summary.kind,
        "status": summary.status,
        "rounds_completed": summary.rounds_completed,
        "current_round": summary.rounds_completed,
        "events": listed.head,
        "created_at": listed.created_at,
        "updated_at": listed.updated_at,
        "topic": summary.topic,
    });
    if let Some(reason) = &listed.parked {
        line["parked"] = json!(reason);
    }
    out::json_line(line.to_string())
}

fn status(status: Status) -> &'static str {
    match status {
        Status::Active => "active",
        Status::Paused => "paused",
        Status::Completed => "completed",
    }
}
