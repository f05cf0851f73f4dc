//! The conversations that a client follows on one connection.

use std::collections::HashMap;

use futures_util::StreamExt as _;
use futures_util::stream::{self, AbortHandle, Abortable, BoxStream, SelectAll};
use http::StatusCode;
use roundtable::core::event::Seq;
use roundtable::core::id::SessionId;
use serde_json::Value;

use super::encode::{Encoder, Wants};
use crate::access::Pass;
use crate::app::App;
use crate::feed::{Feed, Frame, Position};
use crate::problem::Problem;
use crate::sessions::Authorized;

/// What comes from one of the subscriptions.
pub(super) enum Item {
    /// A frame for the client.
    Payload(Value),
    /// A subscription has ended; its last frame was sent.
    Ended { conversation: String, number: u64 },
}

/// A feed that is being read, ready to be followed.
pub(super) struct Reading {
    conversation: String,
    /// None when the session is over and the client has all of it.
    feed: Option<(Feed, Encoder)>,
}

impl Reading {
    /// Opens the feed of a conversation after an event.
    pub async fn open(
        app: &App,
        pass: &Pass,
        conversation: &str,
        session: &Authorized<SessionId>,
        after: Seq,
        wants: Wants,
    ) -> Result<Self, Problem> {
        let position = Position::after(after);
        let feed = Feed::open(app, pass.clone(), session, Some(&position)).await?;
        let encoder = || Encoder::new(conversation, app.sessions.get(session), wants, after);
        let feed = feed.map(|feed| (feed, encoder()));
        Ok(Self { conversation: conversation.to_owned(), feed })
    }

    pub fn is_over(&self) -> bool {
        self.feed.is_none()
    }
}

/// The subscriptions of one connection.
pub(super) struct Subscriptions {
    limit: usize,
    /// Grows with every subscription, so that the end of an old one is not taken for that of a new one.
    count: u64,
    followed: HashMap<String, Subscription>,
    streams: SelectAll<BoxStream<'static, Item>>,
}

struct Subscription {
    number: u64,
    /// None while the feed is being opened.
    reading: Option<AbortHandle>,
}

impl Subscriptions {
    pub fn new(limit: usize) -> Self {
        Self { limit, count: 0, followed: HashMap::new(), streams: SelectAll::new() }
    }

    /// Whether nothing is followed.
    pub fn is_idle(&self) -> bool {
        self.followed.is_empty()
    }

    /// Whether a conversation can be followed.
    pub fn check_room(&self, conversation: Option<&str>) -> Result<(), Problem> {
        let is_followed = conversation.is_some_and(|it| self.followed.contains_key(it));
        if is_followed || self.followed.len() < self.limit {
            return Ok(());
        }
        let what = format!(
            "a connection can follow at most {} conversations; unsubscribe from one first",
            self.limit
        );
        Err(Problem::new(StatusCode::TOO_MANY_REQUESTS, "too_many_subscriptions", what))
    }

    /// Begins to follow a conversation. None when it is followed already.
    pub fn reserve(&mut self, conversation: &str) -> Option<u64> {
        if self.followed.contains_key(conversation) {
            return None;
        }
        self.count += 1;
        let followed = Subscription { number: self.count, reading: None };
        self.followed.insert(conversation.to_owned(), followed);
        Some(self.count)
    }

    /// Gives up a conversation whose feed could not be opened.
    pub fn release(&mut self, conversation: &str, number: u64) {
        if self.followed.get(conversation).is_some_and(|followed| followed.number == number) {
            self.followed.remove(conversation);
        }
    }

    /// Follows a feed that was opened for a reserved place, unless the client has left it meanwhile.
    pub fn fill(&mut self, reading: Reading, number: u64) {
        let Reading { conversation, feed } = reading;
        let Some(followed) = self.followed.get_mut(&conversation) else { return };
        if followed.number != number {
            return;
        }
        let Some((feed, encoder)) = feed else {
            self.followed.remove(&conversation);
            return;
        };
        let (handle, registration) = AbortHandle::new_pair();
        followed.reading = Some(handle);
        let ended = stream::iter([Item::Ended { conversation, number }]);
        let payloads = Abortable::new(payloads(feed, encoder).boxed(), registration);
        self.streams.push(payloads.map(Item::Payload).chain(ended).boxed());
    }

    /// Follows a feed in place of an earlier one of the same conversation.
    pub fn replace(&mut self, reading: Reading) {
        self.remove(&reading.conversation);
        if let Some(number) = self.reserve(&reading.conversation.clone()) {
            self.fill(reading, number);
        }
    }

    /// Stops following a conversation. Says whether it was followed.
    pub fn remove(&mut self, conversation: &str) -> bool {
        let removed = self.followed.remove(conversation);
        if let Some(handle) = removed.as_ref().and_then(|followed| followed.reading.as_ref()) {
            handle.abort();
        }
        removed.is_some()
    }

    /// What happens next in one of them; nothing while nothing is followed.
    pub async fn next(&mut self) -> Option<Item> {
        self.streams.next().await
    }
}

/// A feed as frames.
fn payloads(feed: Feed, encoder: Encoder) -> impl futures_util::Stream<Item = Value> {
    let pages = stream::unfold(Some((feed, encoder)), |reading| async {
        let (mut feed, mut encoder) = reading?;
        let frame = feed.next().await?;
        let is_end = matches!(frame, Frame::End { .. });
        match encoder.encode(&frame).await {
            Ok(payloads) => Some((payloads, (!is_end).then_some((feed, encoder)))),
            Err(problem) => Some((vec![encoder.unavailable(&problem)], None)),
        }
    });
    pages.map(stream::iter).flatten()
}
