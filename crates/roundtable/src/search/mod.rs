//! Search of messages: by their words, by their meaning, or by both.
//!
//! Words are found in the store's own index. Meaning needs an embedder: the messages that have no
//! vector yet get one when someone searches, a bounded number at a time.

mod cursor;
mod fuse;
mod semantic;

use std::sync::Arc;

use roundtable_core::id::SessionId;
use roundtable_core::search::{BadQuery, WordQuery};
use roundtable_core::stage::Name;
use roundtable_ports::{
    Clock, Embedder, EmbedderError, FoundMessage, MessageFilter, SearchViewer, Store, VectorsError,
};

use crate::engine::Engine;
use crate::error::Result;
use cursor::Cursor;

/// How many messages a page may have.
pub const LARGEST_PAGE: usize = 100;
/// How far the pages of a search reach.
const REACH: usize = 1_000;
/// How many messages a page has when nobody says.
const PAGE: usize = 20;

/// How messages are compared with a query.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum SearchMode {
    /// By words: a message has all of them, in any of their forms.
    #[default]
    Text,
    /// By meaning. Needs an embedder.
    Semantic,
    /// By both: what is high in either list comes first. Without an embedder, by words.
    Hybrid,
}

/// Why a search is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SearchError {
    /// There is nothing to look for, or too much.
    #[error(transparent)]
    Query(#[from] BadQuery),
    /// A cursor that is none, or that belongs to another search.
    #[error(
        "unknown cursor; use the one of the previous page with the same query, or leave it out"
    )]
    Cursor,
    /// There is nothing that knows what words mean.
    #[error("semantic search needs an embedder, and none is configured")]
    NoEmbedder,
    /// The embedder does not answer, or its vectors cannot be used.
    #[error("semantic search is unavailable: {0}")]
    Unavailable(String),
}

impl From<EmbedderError> for SearchError {
    fn from(error: EmbedderError) -> Self {
        Self::Unavailable(error.to_string())
    }
}

impl From<VectorsError> for SearchError {
    fn from(error: VectorsError) -> Self {
        Self::Unavailable(error.to_string())
    }
}

/// A search of messages, in sessions of any kind.
///
/// Without [`Search::viewer`], it finds what is said among all who are present and no whispers.
/// Messages of takes that do not count, and archived sessions, are left out.
#[derive(Debug, Clone, PartialEq)]
pub struct Search {
    text: String,
    mode: SearchMode,
    filter: MessageFilter,
    limit: usize,
    cursor: Option<String>,
}

impl Search {
    /// A search for these words. A part in double quotes is a phrase.
    pub fn new(text: impl Into<String>) -> Self {
        let (mode, filter) = (SearchMode::default(), MessageFilter::default());
        Self { text: text.into(), mode, filter, limit: PAGE, cursor: None }
    }

    /// The same, with another way to compare.
    #[must_use]
    pub fn mode(mut self, mode: SearchMode) -> Self {
        self.mode = mode;
        self
    }

    /// The same, in the sessions of one tenant; nothing means those without a tenant.
    #[must_use]
    pub fn tenant(mut self, tenant: Option<String>) -> Self {
        self.filter.tenant = Some(tenant);
        self
    }

    /// The same, in sessions of one kind.
    #[must_use]
    pub fn kind(mut self, kind: Name) -> Self {
        self.filter.kind = Some(kind);
        self
    }

    /// The same, in one session.
    #[must_use]
    pub fn session(mut self, session: &SessionId) -> Self {
        self.filter.session = Some(session.clone());
        self
    }

    /// The same, in archived sessions as well.
    #[must_use]
    pub fn with_archived(mut self) -> Self {
        self.filter.archived = true;
        self
    }

    /// The same, with what this viewer may read.
    #[must_use]
    pub fn viewer(mut self, viewer: SearchViewer) -> Self {
        self.filter.viewer = viewer;
        self
    }

    /// The same, with so many messages on a page: 1 to [`LARGEST_PAGE`].
    #[must_use]
    pub fn limit(mut self, limit: usize) -> Self {
        self.limit = limit.clamp(1, LARGEST_PAGE);
        self
    }

    /// The page after the one that had this cursor.
    #[must_use]
    pub fn after(mut self, cursor: impl Into<String>) -> Self {
        self.cursor = Some(cursor.into());
        self
    }
}

/// What to know of the result of a search.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SearchNotice {
    /// A hybrid search without an embedder.
    #[error("no embedder is configured; messages were found by words")]
    OnlyWords,
    /// Some messages have no vector yet. Each search gives some of them one.
    #[error("not all messages are indexed for semantic search yet; search again to index more")]
    Unindexed,
}

/// A page of what was found.
#[derive(Debug, Clone, PartialEq)]
pub struct SearchPage {
    /// The best first.
    pub messages: Vec<FoundMessage>,
    /// How the messages were compared.
    pub mode: SearchMode,
    /// What to know of the result.
    pub notices: Vec<SearchNotice>,
    /// The cursor of the next page, if there is one.
    pub next: Option<String>,
}

/// Searches the messages of a store. [`Engine::search`] uses one; on its own it needs no engine, so that
/// nothing is driven.
#[derive(Clone)]
pub struct Searcher {
    store: Store,
    embedder: Option<Arc<dyn Embedder>>,
    clock: Arc<dyn Clock>,
    /// Held by whoever gives messages their vectors: doing it twice at once is of no use.
    indexing: Arc<tokio::sync::Mutex<()>>,
}

impl Searcher {
    /// A search of this store. Without an embedder that knows what texts mean, messages are found by
    /// their words alone.
    pub fn new(store: Store, embedder: Option<Arc<dyn Embedder>>, clock: Arc<dyn Clock>) -> Self {
        let embedder = embedder.filter(|embedder| embedder.is_semantic());
        Self { store, embedder, clock, indexing: Arc::default() }
    }

    /// The messages that fit, a page at a time. All pages are about the messages that there were when the
    /// first one was asked for.
    ///
    /// # Errors
    /// [`SearchError`] when the search is refused; other errors when the store cannot be read.
    pub async fn search(&self, search: &Search) -> Result<SearchPage> {
        let words = WordQuery::parse(&search.text).map_err(SearchError::from)?;
        let cursor = match &search.cursor {
            Some(text) => Cursor::parse(text, search).ok_or(SearchError::Cursor)?,
            None => Cursor { skip: 0, until: self.clock.now() },
        };
        let filter = MessageFilter { until: Some(cursor.until), ..search.filter.clone() };
        let mut notices = Vec::new();
        let mode = match (search.mode, &self.embedder) {
            (SearchMode::Semantic, None) => return Err(SearchError::NoEmbedder.into()),
            (SearchMode::Hybrid, None) => {
                notices.push(SearchNotice::OnlyWords);
                SearchMode::Text
            }
            (mode, _) => mode,
        };
        // One more than the page says whether there is another one.
        let (skip, wanted) = (cursor.skip, search.limit + 1);
        let mut found = match (mode, &self.embedder) {
            (SearchMode::Semantic, Some(embedder)) => {
                let near = self.nearest(embedder.as_ref(), search, &words, &filter).await?;
                notices.extend(near.notice);
                near.messages.into_iter().skip(skip).take(wanted).collect()
            }
            (SearchMode::Hybrid, Some(embedder)) => {
                let near = self.nearest(embedder.as_ref(), search, &words, &filter).await?;
                notices.extend(near.notice);
                let (any, depth) = (words.clone().any(), semantic::DEPTH);
                let texts = self.store.messages.find_messages(&any, &filter, 0, depth).await?;
                let fused = fuse::reciprocal_ranks([texts, near.messages]);
                fused.into_iter().skip(skip).take(wanted).collect()
            }
            _ => self.store.messages.find_messages(&words, &filter, skip, wanted).await?,
        };
        let more = found.len() > search.limit;
        found.truncate(search.limit);
        let after = Cursor { skip: skip + found.len(), ..cursor };
        let next = (more && after.skip < REACH).then(|| after.text(search));
        Ok(SearchPage { messages: found, mode, notices, next })
    }
}

impl Engine {
    /// Finds messages, in sessions of any kind.
    ///
    /// # Errors
    /// [`crate::Error::Search`] when the search is refused.
    pub async fn search(&self, search: &Search) -> Result<SearchPage> {
        self.searcher().search(search).await
    }
}
