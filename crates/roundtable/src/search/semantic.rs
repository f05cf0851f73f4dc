//! Messages found by their meaning. Each session's vectors are a scope of their own, so what a search
//! may not look into is never compared.

use std::collections::HashMap;
use std::panic::AssertUnwindSafe;

use futures_util::FutureExt as _;
use roundtable_core::id::SessionId;
use roundtable_core::search::WordQuery;
use roundtable_ports::{
    Embedder, FoundMessage, MessageFilter, MessageKey, MessageText, MessageVector, VectorScope,
    VectorSearch,
};

use super::{Search, SearchError, SearchNotice, Searcher};
use crate::error::Result;

/// How many messages are ranked.
pub(super) const DEPTH: usize = 200;
/// How many sessions are looked into: the newest.
const SESSIONS: usize = 1_000;
/// How many messages get a vector in one search.
const BATCH: usize = 64;
/// How many characters of a message count. Embedders cut longer ones off anyway.
const LONGEST: usize = 4_000;

/// What was found, and what to know of it.
pub(super) struct Nearest {
    pub messages: Vec<FoundMessage>,
    pub notice: Option<SearchNotice>,
}

impl Searcher {
    /// The messages that are nearest to a query.
    pub(super) async fn nearest(
        &self,
        embedder: &dyn Embedder,
        search: &Search,
        words: &WordQuery,
        filter: &MessageFilter,
    ) -> Result<Nearest> {
        let sessions = self.sessions(filter).await?;
        let is_complete = self.index(embedder, &sessions).await?;
        let query = embed(embedder, vec![search.text.clone()]).await?;
        let query = query.into_iter().next().unwrap_or_default();
        let mut scopes: HashMap<VectorScope, SessionId> = HashMap::new();
        for session in sessions {
            let scope = MessageKey::scope(&session).map_err(SearchError::from)?;
            scopes.insert(scope, session);
        }
        let messages = self.ranked(embedder, &query, &scopes, words, filter).await?;
        let notice = (!is_complete).then_some(SearchNotice::Unindexed);
        Ok(Nearest { messages, notice })
    }

    /// The sessions that a search looks into.
    async fn sessions(&self, filter: &MessageFilter) -> Result<Vec<SessionId>> {
        let directory = &self.store.directory;
        let listed = match &filter.session {
            Some(session) => {
                let found = directory.find(session).await?;
                found.into_iter().filter(|listed| filter.selection().has(listed)).collect()
            }
            None => directory.select(&filter.selection(), SESSIONS).await?,
        };
        Ok(listed.into_iter().map(|listed| listed.session).collect())
    }

    /// Gives messages that have no vector one, and says whether all have one now.
    async fn index(&self, embedder: &dyn Embedder, sessions: &[SessionId]) -> Result<bool> {
        let (store, space) = (&self.store.messages, embedder.space());
        // Whoever comes meanwhile searches what is there.
        let Ok(_turn) = self.indexing.try_lock() else { return Ok(false) };
        let mut texts = store.list_unindexed(space, sessions, BATCH + 1).await?;
        let is_complete = texts.len() <= BATCH;
        texts.truncate(BATCH);
        if texts.is_empty() {
            return Ok(is_complete);
        }
        let short = |text: &MessageText| text.text.chars().take(LONGEST).collect();
        let vectors = embed(embedder, texts.iter().map(short).collect()).await?;
        let vectors = texts.into_iter().zip(vectors);
        let vectors = vectors.map(|(of, vector)| MessageVector { of, vector }).collect();
        store.index_messages(space, vectors).await.map_err(SearchError::from)?;
        Ok(is_complete)
    }

    /// The nearest messages that the filter lets through. What it does not is replaced by what comes
    /// next.
    async fn ranked(
        &self,
        embedder: &dyn Embedder,
        query: &[f32],
        scopes: &HashMap<VectorScope, SessionId>,
        words: &WordQuery,
        filter: &MessageFilter,
    ) -> Result<Vec<FoundMessage>> {
        let mut limit = DEPTH;
        loop {
            let search = VectorSearch {
                space: embedder.space().clone(),
                scopes: scopes.keys().cloned().collect(),
                query: query.to_vec(),
                limit,
            };
            let found = self.store.vectors.search_vectors(&search).await;
            let found = found.map_err(SearchError::from)?;
            let is_all = found.len() < limit;
            let scores: HashMap<MessageKey, f32> = found
                .iter()
                .filter(|vector| vector.score > 0.0)
                .filter_map(|vector| {
                    let session = scopes.get(&vector.scope)?.clone();
                    let number = vector.key.parse().ok()?;
                    Some((MessageKey { session, number }, vector.score))
                })
                .collect();
            let mut keys: Vec<&MessageKey> = scores.keys().collect();
            let score = |key: &MessageKey| scores.get(key).copied().unwrap_or_default();
            keys.sort_by(|a, b| score(b).total_cmp(&score(a)).then_with(|| a.cmp(b)));
            let keys: Vec<MessageKey> = keys.into_iter().cloned().collect();
            let mut messages = self.store.messages.read_messages(&keys, words, filter).await?;
            if is_all || messages.len() >= DEPTH {
                messages.truncate(DEPTH);
                for message in &mut messages {
                    message.score = f64::from(score(&message.key));
                }
                return Ok(messages);
            }
            limit *= 4;
        }
    }
}

/// The vectors of texts. A panic in an embedder costs no more than an error.
async fn embed(embedder: &dyn Embedder, texts: Vec<String>) -> Result<Vec<Vec<f32>>, SearchError> {
    let count = texts.len();
    let made = AssertUnwindSafe(embedder.embed(&texts)).catch_unwind().await;
    let broken = |what: &str| SearchError::Unavailable(what.to_owned());
    let vectors = made.map_err(|_| broken("the embedder failed"))??;
    match vectors.len() == count {
        true => Ok(vectors),
        false => Err(broken("the embedder returned another number of vectors")),
    }
}
