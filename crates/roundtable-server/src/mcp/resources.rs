//! Transcripts of debates as resources, page by page.

use std::sync::Arc;

use rmcp::ErrorData;
use rmcp::model::{
    ListResourceTemplatesResult, ListResourcesResult, ReadResourceResult, Resource,
    ResourceContents, ResourceTemplate,
};
use roundtable::debate::DebateFilter;
use serde_json::{Value, json};

use crate::app::App;
use crate::auth::Principal;
use crate::debate::{Caller, Silent};
use crate::operation::{Call, OperationAnswer, SESSION, Transport};
use crate::operations;
use crate::problem::Problem;

const ROOT: &str = "roundtable://sessions/";

/// How many debates a page of the list has.
const LISTED: usize = 50;

/// How many characters a page of a transcript has at most.
const PAGE: usize = 24_000;

/// How much of a topic is a resource's name.
const NAME: usize = 80;

/// How many characters of an unknown URI an error message repeats.
const SHOWN: usize = 200;

/// How many characters of an unknown URI are sent back as data.
const URI: usize = 2048;

/// The debates, newest first.
pub(super) async fn list(
    app: &App,
    caller: &Principal,
    cursor: Option<String>,
) -> Result<ListResourcesResult, ErrorData> {
    let before = match cursor {
        None => None,
        Some(cursor) => {
            let known = app.sessions.find_cursor(caller, &cursor).await;
            let what = "invalid cursor; use one from a previous list, or omit it";
            Some(known.ok_or_else(|| ErrorData::invalid_params(what, None))?)
        }
    };
    let filter = DebateFilter { before, limit: Some(LISTED + 1), ..DebateFilter::default() };
    let mut found = app.sessions.debates(caller, filter).await.map_err(|it| refused(&it))?;
    let more = found.len() > LISTED;
    found.truncate(LISTED);
    let next = found.last().filter(|_| more).map(|entry| entry.session.to_string());
    let resource = |entry: &roundtable::debate::DebateEntry| {
        let name: String = entry.topic.chars().take(NAME).collect();
        let uri = format!("{ROOT}{}/transcript", entry.session);
        let what = format!("{} rounds, {}", entry.rounds_completed, entry.mode);
        Resource::new(uri, name).with_description(what).with_mime_type("text/markdown")
    };
    let mut listed = ListResourcesResult::with_all_items(found.iter().map(resource).collect());
    listed.next_cursor = next;
    Ok(listed)
}

pub(super) fn templates() -> ListResourceTemplatesResult {
    let transcript =
        ResourceTemplate::new(format!("{ROOT}{{sessionId}}/transcript{{?page}}"), "transcript")
            .with_title("Minutes of a debate")
            .with_description("Transcript and result of a debate in pages, from page 1.")
            .with_mime_type("text/markdown");
    let round =
        ResourceTemplate::new(format!("{ROOT}{{sessionId}}/rounds/{{roundNumber}}"), "round")
            .with_title("A round of a debate")
            .with_description("Full responses of all agents in a round.")
            .with_mime_type("application/json");
    ListResourceTemplatesResult::with_all_items(vec![transcript, round])
}

pub(super) async fn read(
    app: &App,
    caller: &Principal,
    uri: &str,
) -> Result<ReadResourceResult, ErrorData> {
    let missing = || {
        let what = format!("resource not found: {}", shown(uri, SHOWN));
        ErrorData::resource_not_found(what, Some(json!({ "uri": shown(uri, URI) })))
    };
    let (session, rest) =
        uri.strip_prefix(ROOT).and_then(|it| it.split_once('/')).ok_or_else(missing)?;
    if let Some(number) = rest.strip_prefix("rounds/") {
        let number: u32 = number.parse().map_err(|_| missing())?;
        let fields = [("roundNumber", number.into())];
        let round = call(app, caller, "getRound", session, fields).await.map_err(|_| missing())?;
        let round = round.into_value().map_err(|_| missing())?;
        return Ok(contents(uri, format!("{round:#}"), "application/json"));
    }
    let page = match rest {
        "transcript" => Some(1),
        other => other.strip_prefix("transcript?page=").and_then(|page| page.parse::<usize>().ok()),
    };
    let Ok(OperationAnswer::Export(export)) = call(app, caller, "exportDebate", session, []).await
    else {
        return Err(missing());
    };
    let pages = pages(&export.text);
    let page = page.filter(|page| *page >= 1 && *page <= pages.len()).ok_or_else(missing)?;
    let mut text = pages[page - 1].to_owned();
    if page < pages.len() {
        let next = format!("{ROOT}{}/transcript?page={}", export.session, page + 1);
        text.push_str(&format!("\n\n(Page {page} of {}; next page: {next})\n", pages.len()));
    }
    Ok(contents(uri, text, "text/markdown"))
}

/// What the operation behind a resource answers.
async fn call<const N: usize>(
    app: &App,
    caller: &Principal,
    operation: &str,
    session: &str,
    fields: [(&str, Value); N],
) -> Result<OperationAnswer, Problem> {
    let operation = operations::find(Transport::Http, operation)?;
    let fields = fields.into_iter().chain([(SESSION, session.into())]);
    let fields = fields.map(|(name, value)| (name.to_owned(), value)).collect();
    let watch = Arc::new(Silent::default());
    let call = Call::new(app.clone(), caller.clone(), Caller::mcp(app), watch);
    operation.call(call, operation.envelope(None, fields)).await
}

fn contents(uri: &str, text: String, kind: &str) -> ReadResourceResult {
    ReadResourceResult::new(vec![ResourceContents::text(text, uri).with_mime_type(kind)])
}

fn shown(uri: &str, limit: usize) -> String {
    uri.chars().filter(|c| !c.is_control()).take(limit).collect()
}

fn refused(problem: &Problem) -> ErrorData {
    ErrorData::internal_error(problem.body.error.clone(), None)
}

/// A text in pages that end with a line, where lines are not too long for that.
fn pages(text: &str) -> Vec<&str> {
    let (mut pages, mut rest) = (Vec::new(), text);
    while rest.len() > PAGE {
        let most = rest.floor_char_boundary(PAGE);
        let end = rest[..most].rfind('\n').map_or(most, |end| end + 1);
        let (page, more) = rest.split_at(end);
        pages.push(page);
        rest = more;
    }
    pages.push(rest);
    pages
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_in_pages_is_the_text() {
        let lines: String = (0..9_000).map(|line| format!("line {line} ä\n")).collect();
        let long = "ä".repeat(60_000);
        for text in ["", "short", lines.as_str(), long.as_str()] {
            let pages = pages(text);
            assert_eq!(pages.concat(), text);
            assert!(pages.iter().all(|page| page.len() <= PAGE));
        }
        assert!(pages(&lines)[0].ends_with('\n'));
    }
}
