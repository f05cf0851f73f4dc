//! `roundtable sessions`: which there are.

use std::process::ExitCode;

use roundtable::core::session::Status;
use roundtable::ports::SessionListing;
use serde_json::json;

use crate::config::Config;
use crate::out;

/// How many characters of a topic are shown.
const TOPIC: usize = 60;

/// How many columns of a line precede the topic.
const BEFORE_TOPIC: usize = 86;

/// The fewest characters of a topic that are worth a line.
const SHORTEST_TOPIC: usize = 20;

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
        let terminal = console::Term::stdout();
        let columns = terminal.size_checked().filter(|_| terminal.is_term());
        let columns = columns.map_or(BEFORE_TOPIC + TOPIC, |(_, columns)| usize::from(columns));
        out::plain(&sessions.iter().map(|listed| line(listed, columns)).collect::<String>())
    };
    out::put(&lines)?;
    Ok(ExitCode::SUCCESS)
}

/// A session on one line, or on two where one is too narrow.
fn line(listed: &SessionListing, columns: usize) -> String {
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
    let room = columns.saturating_sub(BEFORE_TOPIC);
    if room >= SHORTEST_TOPIC {
        let topic = out::line(&topic, room.min(TOPIC));
        return format!("{}  {date}  {kind:6}  {status:9}  {rounds:9}  {topic}\n", listed.session);
    }
    let details = format!("  {kind}, {status}, {rounds}: ");
    let topic = out::line(&topic, columns.saturating_sub(details.len()).max(SHORTEST_TOPIC));
    format!("{}  {date}\n{details}{topic}\n", listed.session)
}

fn json_line(listed: &SessionListing) -> String {
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
