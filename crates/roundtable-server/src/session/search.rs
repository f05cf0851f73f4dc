//! Search of messages in the caller's sessions, of any kind.

use roundtable::core::event::Seq;
use roundtable::core::id::{AgentId, SessionId};
use roundtable::ports::{FoundMessage, SearchViewer};
use roundtable::search::{Search, SearchMode, SearchPage};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::operation::Call;
use crate::problem::Problem;
use crate::sessions::Action;
use crate::wire::Kind;

/// How messages are compared with the query.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Mode {
    /// By words: a message has all of them, in any of their forms.
    #[default]
    Text,
    /// By meaning.
    Semantic,
    /// By both. Without an embedder, by words.
    Hybrid,
}

impl From<Mode> for SearchMode {
    fn from(mode: Mode) -> Self {
        match mode {
            Mode::Text => Self::Text,
            Mode::Semantic => Self::Semantic,
            Mode::Hybrid => Self::Hybrid,
        }
    }
}

impl From<SearchMode> for Mode {
    fn from(mode: SearchMode) -> Self {
        match mode {
            SearchMode::Text => Self::Text,
            SearchMode::Semantic => Self::Semantic,
            SearchMode::Hybrid => Self::Hybrid,
        }
    }
}

/// What to search for, and where.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct SearchQuery {
    /// The words. Those in double quotes follow each other.
    #[schemars(length(min = 1, max = 500))]
    pub q: String,
    #[serde(default)]
    pub mode: Mode,
    /// Only sessions of this kind.
    #[serde(default)]
    pub kind: Option<Kind>,
    /// Search only this session: its id or its name.
    #[serde(default)]
    #[schemars(length(max = 64))]
    pub conversation_id: Option<String>,
    /// Include archived sessions.
    #[serde(default)]
    pub archived: bool,
    /// Search only messages that this agent received.
    #[serde(default)]
    #[schemars(length(max = 64))]
    pub agent_id: Option<String>,
    /// Page size.
    #[serde(default)]
    #[schemars(range(min = 1, max = 100), extend("default" = 20))]
    pub limit: Option<usize>,
    /// The `next` of the previous page, with the same query.
    #[serde(default)]
    #[schemars(length(max = 64))]
    pub cursor: Option<String>,
}

/// A page of search results.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Found {
    /// Search results, best first.
    pub messages: Vec<Hit>,
    /// How the messages were compared.
    pub mode: Mode,
    /// Notices about the result.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(default)]
    pub notices: Vec<String>,
    /// Cursor of the next page: send it as `cursor`. Absent on the last page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

/// A search result.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Hit {
    #[schemars(with = "String")]
    pub session_id: SessionId,
    pub kind: String,
    /// The title of the session.
    pub title: String,
    /// Sequence number in the log. List the messages `around` it to see the context.
    #[schemars(with = "u64")]
    pub seq: Seq,
    /// Message number in the session.
    pub number: u64,
    pub round_number: u32,
    /// What its sender is called.
    pub sender: String,
    /// Whether an agent says it.
    pub by_agent: bool,
    pub at: String,
    /// A part of the message, as plain text in one line.
    pub snippet: String,
    /// Where the words are in the snippet: start and end, counted in code points.
    pub matches: Vec<(usize, usize)>,
    /// How well it fits, compared with the other messages of the same search.
    pub score: f64,
}

impl From<FoundMessage> for Hit {
    fn from(found: FoundMessage) -> Self {
        Self {
            session_id: found.key.session,
            kind: found.kind.to_string(),
            title: found.title,
            seq: found.seq,
            number: found.key.number,
            round_number: found.round,
            sender: found.sender,
            by_agent: found.by_agent,
            at: found.at.to_string(),
            snippet: found.snippet.text,
            matches: found.snippet.matches,
            score: found.score,
        }
    }
}

pub(super) async fn search(call: Call, asked: SearchQuery) -> Result<Found, Problem> {
    let (sessions, caller) = (&call.app.sessions, &call.principal);
    let viewer = match &asked.agent_id {
        None => SearchViewer::Person(caller.actor.clone()),
        Some(id) => SearchViewer::Agent(agent(id)?),
    };
    let mut search = Search::new(asked.q).mode(asked.mode.into()).viewer(viewer);
    if let Some(kind) = asked.kind {
        search = search.kind(kind.into());
    }
    if let Some(session) = &asked.conversation_id {
        search = search.session(sessions.authorize(caller, Action::Read, session).await?.id());
    }
    if asked.archived {
        search = search.with_archived();
    }
    if let Some(limit) = asked.limit {
        search = search.limit(limit);
    }
    if let Some(cursor) = asked.cursor {
        search = search.after(cursor);
    }
    let SearchPage { messages, mode, notices, next } = sessions.search(caller, search).await?;
    let messages = messages.into_iter().map(Hit::from).collect();
    let notices = notices.iter().map(ToString::to_string).collect();
    Ok(Found { messages, mode: mode.into(), notices, next })
}

/// An agent, by its id or by the part after `agt_`.
fn agent(id: &str) -> Result<AgentId, Problem> {
    let parsed = id.parse().or_else(|_| AgentId::new(id));
    parsed.map_err(|_| {
        Problem::bad_request("invalid", "invalid agentId; the session lists its agents")
    })
}
