//! Messages, found by their words: every message is looked at.

use std::collections::HashMap;

use async_trait::async_trait;
use jiff::Timestamp;
use roundtable_core::event::{
    Body, Event, IterationEvent, RoundEvent, Seq, SessionEvent, TurnEvent,
};
use roundtable_core::id::{AgentId, RoundId, SessionId, TurnId};
use roundtable_core::projection::{Receivers, Row};
use roundtable_core::search::{WordQuery, snippet};
use roundtable_ports::{
    FoundMessage, LogError, MessageFilter, MessageKey, MessageSearch, MessageText, MessageVector,
    NewVector, SessionListing, Space, VectorsError,
};

use super::MemoryStore;
use super::disk::Disk;

/// A message of a session.
struct Entry {
    number: u64,
    round: RoundId,
    turn: Option<TurnId>,
    receivers: Receivers,
    at: Timestamp,
    text: String,
    sender: String,
}

/// A take of a round.
struct Take {
    number: u32,
    take: u32,
    active: bool,
    said: Option<u64>,
}

/// The messages of a session, and the takes that they belong to.
#[derive(Default)]
struct Messages {
    takes: HashMap<RoundId, Take>,
    entries: Vec<Entry>,
    seqs: HashMap<u64, Seq>,
}

impl Messages {
    fn of(disk: &Disk, session: &SessionId) -> Self {
        let events = disk.read(session, Seq(1), usize::MAX);
        let text =
            |seq: Seq| events.iter().find(|event| event.seq == seq).map(|event| words(event));
        let mut messages = Self::default();
        let mut names: HashMap<AgentId, String> = HashMap::new();
        for row in disk.rows(session) {
            match row {
                Row::Agent { agent, name } => drop(names.insert(agent, name)),
                Row::Round { round, number, take, .. } => {
                    let take = Take { number, take, active: true, said: None };
                    messages.takes.insert(round, take);
                }
                Row::Take { number, take, active } => messages.choose(number, take, active),
                Row::Message { number, round, turn, body, receivers, at } => {
                    if let Some(take) = messages.takes.get_mut(&round).filter(|_| turn.is_none()) {
                        take.said = Some(number);
                    }
                    let (text, person) = text(body).unwrap_or_default();
                    let agent = turn.as_ref().and_then(|turn| speaker(&events, turn));
                    let name = agent.and_then(|agent| names.get(agent).cloned());
                    let sender = name.or(person).unwrap_or_default();
                    let entry = Entry { number, round, turn, receivers, at, text, sender };
                    // A round that is run again has the same input.
                    if !messages.entries.iter().any(|known| known.number == number) {
                        messages.entries.push(entry);
                    }
                }
                _ => {}
            }
        }
        messages.note_seqs(&events);
        messages
    }

    fn choose(&mut self, number: u32, take: u32, active: bool) {
        for known in self.takes.values_mut().filter(|known| known.number == number) {
            if known.take == take {
                known.active = active;
            } else if active {
                known.active = false;
            }
        }
    }

    /// Of the takes of a round with the same input, the event of the one that counts is the message's.
    fn note_seqs(&mut self, events: &[std::sync::Arc<Event>]) {
        for event in events {
            let (Body::Round(RoundEvent::RoundOpened { said: Some(said), .. })
            | Body::Turn(TurnEvent::TurnEnded { said: Some(said), .. })) = &event.body
            else {
                continue;
            };
            let take = event.place.round.as_ref().and_then(|round| self.takes.get(round));
            if take.is_some_and(|take| take.active) {
                self.seqs.insert(said.number, event.seq);
            }
        }
    }

    /// The take that counts and has a message, if one does.
    fn take_of(&self, entry: &Entry) -> Option<&Take> {
        let own = self.takes.get(&entry.round)?;
        match entry.turn {
            Some(_) => Some(own).filter(|take| take.active),
            None => self.takes.values().find(|take| {
                take.active && take.number == own.number && take.said == Some(entry.number)
            }),
        }
    }

    fn found(
        &self,
        listed: &SessionListing,
        entry: &Entry,
        words: &WordQuery,
        filter: &MessageFilter,
    ) -> Option<FoundMessage> {
        let by_agent = entry.turn.is_some();
        let person = (!by_agent).then_some(entry.sender.as_str());
        let visible = filter.viewer.sees(&entry.receivers, person)
            && filter.until.is_none_or(|until| entry.at <= until);
        let take = self.take_of(entry).filter(|_| visible)?;
        Some(FoundMessage {
            key: MessageKey { session: listed.session.clone(), number: entry.number },
            kind: listed.summary.kind.clone(),
            title: listed.summary.topic.clone(),
            seq: *self.seqs.get(&entry.number)?,
            round: take.number,
            sender: entry.sender.clone(),
            by_agent,
            at: entry.at,
            snippet: snippet(&entry.text, words),
            score: 0.0,
        })
    }
}

/// The text of an event, and the person who said it.
fn words(event: &Event) -> (String, Option<String>) {
    match &event.body {
        Body::Session(
            SessionEvent::SessionInputAccepted(input) | SessionEvent::SessionInputEdited(input),
        ) => (input.text.clone().unwrap_or_default(), Some(input.sender.clone())),
        Body::Iteration(IterationEvent::ModelCallFinished { text, .. }) => (text.clone(), None),
        Body::Iteration(IterationEvent::ModelCallCancelled { partial, .. }) => {
            (partial.clone(), None)
        }
        _ => (String::new(), None),
    }
}

fn speaker<'a>(events: &'a [std::sync::Arc<Event>], turn: &TurnId) -> Option<&'a AgentId> {
    let own = events.iter().filter(|event| event.place.turn.as_ref() == Some(turn));
    own.filter_map(|event| match &event.body {
        Body::Turn(TurnEvent::TurnStarted { agent, .. }) => Some(agent),
        _ => None,
    })
    .next()
}

impl MemoryStore {
    /// The sessions that a filter lets through.
    fn searched(&self, filter: &MessageFilter) -> Vec<SessionListing> {
        let sessions = self.disk().select(&filter.selection(), usize::MAX).into_iter();
        let is_meant = |listed: &SessionListing| {
            filter.session.as_ref().is_none_or(|id| *id == listed.session)
        };
        sessions.filter(is_meant).collect()
    }
}

#[async_trait]
impl MessageSearch for MemoryStore {
    async fn find_messages(
        &self,
        words: &WordQuery,
        filter: &MessageFilter,
        skip: usize,
        limit: usize,
    ) -> Result<Vec<FoundMessage>, LogError> {
        let mut found = Vec::new();
        for listed in self.searched(filter) {
            let messages = Messages::of(self.disk(), &listed.session);
            for entry in &messages.entries {
                let Some(score) = words.score(&entry.text) else { continue };
                let hit = messages.found(&listed, entry, words, filter);
                found.extend(hit.map(|hit| FoundMessage { score, ..hit }));
            }
        }
        found.sort_by(|a, b| b.score.total_cmp(&a.score).then_with(|| b.at.cmp(&a.at)));
        Ok(found.into_iter().skip(skip).take(limit).collect())
    }

    async fn read_messages(
        &self,
        keys: &[MessageKey],
        words: &WordQuery,
        filter: &MessageFilter,
    ) -> Result<Vec<FoundMessage>, LogError> {
        let sessions = self.searched(filter);
        let read = |key: &MessageKey| {
            let listed = sessions.iter().find(|listed| listed.session == key.session)?;
            let messages = Messages::of(self.disk(), &key.session);
            let entry = messages.entries.iter().find(|entry| entry.number == key.number)?;
            messages.found(listed, entry, words, filter)
        };
        Ok(keys.iter().filter_map(read).collect())
    }

    async fn list_unindexed(
        &self,
        space: &Space,
        sessions: &[SessionId],
        limit: usize,
    ) -> Result<Vec<MessageText>, LogError> {
        let mut texts = Vec::new();
        for session in sessions {
            let scope = MessageKey::scope(session)
                .map_err(|error| LogError::Unavailable(error.to_string()))?;
            let last = self.disk().vectors.last_key(space, &scope);
            let last: u64 = last.and_then(|key| key.parse().ok()).unwrap_or(0);
            let entries = Messages::of(self.disk(), session).entries.into_iter();
            let behind = entries.filter(|entry| entry.number > last).map(|entry| MessageText {
                key: MessageKey { session: session.clone(), number: entry.number },
                text: entry.text,
            });
            texts.extend(behind);
        }
        texts.truncate(limit);
        Ok(texts)
    }

    async fn index_messages(
        &self,
        space: &Space,
        new: Vec<MessageVector>,
    ) -> Result<(), VectorsError> {
        for MessageVector { of: MessageText { key, text }, vector } in new {
            let messages = Messages::of(self.disk(), &key.session);
            let is_same = |entry: &Entry| entry.number == key.number && entry.text == text;
            if !messages.entries.iter().any(is_same) {
                continue;
            }
            let (scope, session) = (MessageKey::scope(&key.session)?, Some(key.session.clone()));
            let payload = key.number.into();
            let new = NewVector { key: key.vector_key(), vector, payload, session };
            self.disk().vectors.put(space, &scope, new)?;
        }
        Ok(())
    }
}
