//! An answer while it is given: the session's feed, read into pieces. Whoever stops reading before the
//! end stops the round; what was said so far is kept in the log and marked.

use std::collections::VecDeque;

use http::StatusCode;
use roundtable::Session;
use serde_json::Value;

use super::answer::{Answer, Head};
use super::completion::Begun;
use super::reply::{Piece, Reply};
use crate::access::Pass;
use crate::app::App;
use crate::feed::{Feed, Frame, Reason};
use crate::problem::Problem;

/// A running answer.
pub(super) struct Answering {
    feed: Feed,
    reply: Reply,
    ready: VecDeque<Piece>,
    round: OpenRound,
}

impl Answering {
    pub async fn open(app: &App, pass: Pass, begun: Begun) -> Result<Self, Problem> {
        let round = OpenRound { app: app.clone(), session: Some(app.sessions.get(&begun.session)) };
        let feed = Feed::open(app, pass, &begun.session, None).await?;
        let feed = feed.ok_or_else(|| over("the session of this request has no answer"))?;
        Ok(Self { feed, reply: Reply::new(&begun), ready: VecDeque::new(), round })
    }

    /// What comes next, up to an end.
    pub async fn next(&mut self) -> Result<Piece, Problem> {
        loop {
            if let Some(piece) = self.ready.pop_front() {
                if matches!(piece, Piece::End(..) | Piece::Failed(_)) {
                    self.round.leave();
                }
                return Ok(piece);
            }
            match self.read().await? {
                Frame::Event(event) => self.ready.extend(self.reply.event(&event)),
                Frame::Delta(delta, _) => self.ready.extend(self.reply.delta(&delta)),
                Frame::End { reason, .. } => return Err(self.ended(reason)),
            }
        }
    }

    async fn read(&mut self) -> Result<Frame, Problem> {
        let parked = self.round.parked();
        tokio::select! {
            frame = self.feed.next() => frame.ok_or_else(|| over("the session is over")),
            reason = parked => Err(Problem::parked(&reason)),
        }
    }

    fn ended(&mut self, reason: Reason) -> Problem {
        let unavailable = |reason, what: &str| {
            Problem::new(StatusCode::SERVICE_UNAVAILABLE, reason, what.to_owned())
        };
        match reason {
            Reason::Stopping => {
                // The round is finished after the restart, for whoever sends the request again.
                self.round.leave();
                let what =
                    "the server is stopping; send the request again with the same Idempotency-Key";
                unavailable("stopping", what)
            }
            Reason::Unavailable => unavailable("unavailable", "the log is unavailable; try again"),
            Reason::Slow => {
                let what = "the client did not read in time; send the request again";
                Problem::new(StatusCode::REQUEST_TIMEOUT, "slow", what)
            }
            Reason::Revoked => {
                let what = "the token was revoked while the answer was given";
                Problem::new(StatusCode::UNAUTHORIZED, "unauthenticated", what)
            }
            Reason::Completed | Reason::Deleted => over("the session of this request was deleted"),
        }
    }

    /// The whole answer as one object.
    pub async fn collect(mut self, head: &Head) -> Result<Value, Problem> {
        let mut answer = Answer::default();
        loop {
            match self.next().await? {
                Piece::Text(text) => answer.text.push_str(&text),
                Piece::Calls(calls) => answer.calls = calls,
                Piece::End(finish, tokens) => return Ok(head.completion(&answer, finish, tokens)),
                Piece::Failed(why) => return Err(failed(&why)),
            }
        }
    }
}

/// A round in which nobody could answer.
pub(super) fn failed(why: &str) -> Problem {
    let why: String = why.chars().take(1_000).collect();
    Problem::new(StatusCode::BAD_GATEWAY, "model_failed", format!("no agent could answer: {why}"))
}

fn over(what: &str) -> Problem {
    Problem::new(StatusCode::CONFLICT, "session_over", format!("{what}; send the request again"))
}

/// The round of an answer. Dropped before the end, it is stopped.
struct OpenRound {
    app: App,
    session: Option<Session>,
}

impl OpenRound {
    /// Lets the round be: it is over, waits for the caller, or goes on without a reader.
    fn leave(&mut self) {
        self.session = None;
    }

    /// Waits until the session is parked, and says why.
    fn parked(&self) -> impl Future<Output = String> + Send + use<> {
        let session = self.session.clone();
        async move {
            match session {
                Some(session) => session.until_parked().await,
                None => std::future::pending().await,
            }
        }
    }
}

impl Drop for OpenRound {
    fn drop(&mut self) {
        let Some(session) = self.session.take() else { return };
        // The server waits for it when it stops.
        self.app.open_sockets.spawn(async move {
            // A round that is over already needs no stop.
            let _ = session.stop().await;
        });
    }
}
