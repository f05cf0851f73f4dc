//! `roundtable search`: messages of all sessions, by words or by meaning.

use std::process::ExitCode;
use std::sync::Arc;

use roundtable::core::stage::Name;
use roundtable::ports::FoundMessage;
use roundtable::search::{LARGEST_PAGE, Search, SearchError, SearchMode, SearchNotice, SearchPage};
use serde_json::json;

use crate::config::Config;
use crate::session_arg::SessionArg;
use crate::{out, usage};

/// How messages are compared with the words.
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Mode {
    /// By words
    Text,
    /// By meaning; needs the local embedding model
    Semantic,
    /// By both
    Hybrid,
}

/// A kind of session.
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Kind {
    Chat,
    Debate,
    Scene,
}

/// What is searched for, and where.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// The words to find; those in double quotes follow each other
    words: String,
    /// How messages are compared with the words
    #[arg(long, value_name = "MODE", default_value = "text")]
    mode: Mode,
    /// Only sessions of this kind
    #[arg(long, value_name = "KIND")]
    kind: Option<Kind>,
    /// Only this session: its id, or a unique start of it
    #[arg(long, value_name = "SESSION")]
    session: Option<SessionArg>,
    /// Search archived sessions as well
    #[arg(long)]
    archived: bool,
    /// The maximum number of messages to print
    #[arg(long, default_value_t = 20, value_name = "N", value_parser = clap::value_parser!(u8).range(1..=LARGEST_PAGE as i64))]
    limit: u8,
    /// Start after the previous page; use the cursor that it printed
    #[arg(long, value_name = "CURSOR")]
    after: Option<String>,
    /// Print every message as a line of JSON
    #[arg(long)]
    json: bool,
}

pub(crate) async fn run(config: &Config, options: &Options) -> anyhow::Result<ExitCode> {
    let archive = config.archive()?;
    let mut search = Search::new(&options.words).limit(options.limit.into());
    let by_meaning = options.mode != Mode::Text;
    search = search.mode(match options.mode {
        Mode::Text => SearchMode::Text,
        Mode::Semantic => SearchMode::Semantic,
        Mode::Hybrid => SearchMode::Hybrid,
    });
    if let Some(kind) = options.kind {
        search = search.kind(match kind {
            Kind::Chat => Name::constant("chat"),
            Kind::Debate => Name::constant("debate"),
            Kind::Scene => Name::constant("scene"),
        });
    }
    if let Some(session) = &options.session {
        search = search.session(&session.find(&archive).await?.session);
    }
    if options.archived {
        search = search.with_archived();
    }
    if let Some(cursor) = &options.after {
        search = search.after(cursor);
    }
    let embedder = match by_meaning {
        true => Some(Arc::new(config.embedder()?) as _),
        false => None,
    };
    let searcher = archive.searcher(embedder)?;
    let page = loop {
        let page = searcher.search(&search).await.map_err(|error| explain(config, error))?;
        // Each search indexes some messages; what is done is kept if the command is interrupted.
        if !page.notices.contains(&SearchNotice::Unindexed) {
            break page;
        }
    };
    for notice in &page.notices {
        eprintln!("note: {notice}");
    }
    out::put(&shown(&page, options.json))?;
    if let Some(next) = page.next.filter(|_| !options.json) {
        eprintln!("hint: pass `--after {next}` for more");
    }
    Ok(ExitCode::SUCCESS)
}

/// An error of the search, with what to do about it.
fn explain(config: &Config, error: roundtable::Error) -> anyhow::Error {
    match &error {
        roundtable::Error::Search(SearchError::NoEmbedder) => {
            let fetch = config.command("models fetch");
            anyhow::anyhow!(
                "the embedding model is not installed\nhint: run `{fetch}`, or search with `--mode text`"
            )
        }
        roundtable::Error::Search(SearchError::Query(_) | SearchError::Cursor) => {
            usage::error(error.to_string())
        }
        _ => error.into(),
    }
}

fn shown(page: &SearchPage, json: bool) -> String {
    if json {
        return page.messages.iter().map(json_line).collect();
    }
    if page.messages.is_empty() {
        return "No messages found.\n".to_owned();
    }
    out::plain(&page.messages.iter().map(line).collect::<String>())
}

fn line(found: &FoundMessage) -> String {
    let FoundMessage { key, sender, snippet, at, .. } = found;
    let date = at.strftime("%Y-%m-%d %H:%M");
    let sender = out::line(sender, 40);
    format!("{}  {date}  {sender}: {}\n", key.session, snippet.text)
}

fn json_line(found: &FoundMessage) -> String {
    let line = json!({
        "session": found.key.session,
        "kind": found.kind,
        "title": found.title,
        "seq": found.seq,
        "number": found.key.number,
        "round": found.round,
        "sender": found.sender,
        "by_agent": found.by_agent,
        "at": found.at,
        "snippet": found.snippet.text,
        "matches": found.snippet.matches,
        "score": found.score,
    });
    out::json_line(line.to_string())
}
