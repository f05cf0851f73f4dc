//! What was worked out for earlier prompts, kept for the next one of the same session that begins
//! alike. Bounded in bytes; what was not used for longest goes first.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::llama::Memory;
use crate::tokens::Token;

/// Prompts with their keys and values.
pub(super) struct Cache {
    entries: Mutex<Entries>,
    most_bytes: usize,
}

#[derive(Default)]
struct Entries {
    list: Vec<Entry>,
    /// Counts uses: the order in which entries were used last.
    uses: u64,
}

struct Entry {
    session: String,
    tokens: Vec<Token>,
    memory: Arc<Memory>,
    used: u64,
}

impl Entry {
    fn bytes(&self) -> usize {
        self.memory.bytes() + size_of_val(&self.tokens[..]) + self.session.len()
    }
}

impl Cache {
    pub(super) fn new(most_bytes: usize) -> Self {
        Self { entries: Mutex::default(), most_bytes }
    }

    /// What is known of the beginning of these tokens from the same session, and how much of it;
    /// never all of them, since the last one has to be read to go on.
    pub(super) fn find(&self, session: &str, tokens: &[Token]) -> Option<(Arc<Memory>, usize)> {
        let mut entries = self.entries();
        entries.uses += 1;
        let now = entries.uses;
        let own = entries.list.iter_mut().filter(|entry| entry.session == session);
        let (common, entry) = own
            .map(|entry| (common(&entry.tokens, tokens).min(tokens.len().saturating_sub(1)), entry))
            .max_by_key(|(common, _)| *common)
            .filter(|(common, _)| *common > 0)?;
        entry.used = now;
        Some((entry.memory.clone(), common))
    }

    /// Keeps what was worked out for these tokens, in place of what it contains.
    pub(super) fn keep(&self, session: &str, tokens: Vec<Token>, memory: Memory) {
        let mut entries = self.entries();
        entries.uses += 1;
        let used = entries.uses;
        let entry = Entry { session: session.to_owned(), tokens, memory: Arc::new(memory), used };
        let contained = |other: &Entry| {
            other.session == entry.session && entry.tokens.starts_with(&other.tokens)
        };
        entries.list.retain(|other| !contained(other));
        entries.list.push(entry);
        entries.evict(self.most_bytes);
    }

    /// The bytes that are kept.
    pub(super) fn bytes(&self) -> usize {
        self.entries().bytes()
    }

    fn entries(&self) -> MutexGuard<'_, Entries> {
        // Each change is one step; nothing panics in between.
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Entries {
    fn bytes(&self) -> usize {
        self.list.iter().map(Entry::bytes).sum()
    }

    fn evict(&mut self, most_bytes: usize) {
        self.list.sort_by_key(|entry| entry.used);
        while self.bytes() > most_bytes {
            self.list.remove(0);
        }
    }
}

/// How many tokens are the same at the beginning.
fn common(a: &[Token], b: &[Token]) -> usize {
    a.iter().zip(b).take_while(|(a, b)| a == b).count()
}
