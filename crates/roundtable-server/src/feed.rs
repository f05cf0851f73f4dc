//! A session, as someone outside reads it while it happens: from any point, each event once. Every
//! transport encodes this one feed.
//!
//! Nothing is kept for a reader but one page of the log: what it has not read yet stays there. One
//! that takes too long is sent away and told where to go on.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use http::StatusCode;
use jiff::Timestamp;
use roundtable::core::Reject;
use roundtable::core::event::{Body, Event, Seq, SessionEvent, TurnEvent};
use roundtable::core::id::{AgentId, IterationId, SessionId, TurnId};
use roundtable::core::session::Status;
use roundtable::driver::{DELETED, Delta, EngineError, Subscription, Update};
use roundtable::{Session, Since};
use tokio::sync::OwnedSemaphorePermit;

use crate::access::Pass;
use crate::app::App;
use crate::problem::Problem;
use crate::quota::Stream;
use crate::sessions::{Action, Authorized};

/// A place in a session's log, as a reader names it: `ses_…:12`. The session is part of it, so that
/// a place in another one is not taken for a place in this.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Position {
    session: Option<SessionId>,
    seq: Seq,
}

impl Position {
    pub fn parse(text: &str) -> Result<Self, Problem> {
        let (session, seq) = match text.rsplit_once(':') {
            Some((session, seq)) => (session.parse().ok().map(Some), seq),
            None => (Some(None), text),
        };
        let digits = !seq.is_empty() && seq.bytes().all(|byte| byte.is_ascii_digit());
        let seq = seq.parse().ok().filter(|_| digits).map(Seq);
        let (Some(session), Some(seq)) = (session, seq) else {
            let what = "invalid event position; send the id of the last event that you received, unchanged";
            return Err(Problem::bad_request("malformed_position", what));
        };
        Ok(Self { session, seq })
    }

    /// After this event of the session that is read.
    pub fn after(seq: Seq) -> Self {
        Self { session: None, seq }
    }

    /// The place of an event, as its id.
    pub fn name(session: &SessionId, seq: Seq) -> String {
        format!("{session}:{seq}")
    }

    fn within(&self, session: &SessionId) -> Result<Seq, Problem> {
        if self.session.as_ref().is_some_and(|named| named != session) {
            let what = "the event position belongs to another session; read from the start, or from an event of this session";
            return Err(Problem::new(StatusCode::CONFLICT, "other_session", what));
        }
        Ok(self.seq)
    }
}

/// Why a feed ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reason {
    /// The session is over.
    Completed,
    /// The session was deleted.
    Deleted,
    /// The reader took too long.
    Slow,
    /// The reader's token was revoked.
    Revoked,
    /// The server stops.
    Stopping,
    /// The log cannot be read just now.
    Unavailable,
}

impl Reason {
    /// The word for it on every transport.
    pub fn word(self) -> &'static str {
        match self {
            Self::Completed => "completed",
            Self::Deleted => "deleted",
            Self::Slow => "slow",
            Self::Revoked => "revoked",
            Self::Stopping => "stopping",
            Self::Unavailable => "unavailable",
        }
    }
}

/// What a reader gets.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Frame {
    /// Something happened.
    Event(Arc<Event>),
    /// Text of a running model call, and who speaks, if the session still knows.
    Delta(Delta, Option<Speaker>),
    /// There is no more for now; it goes on after this event.
    End { reason: Reason, resume_from: Seq },
}

/// Whose text a delta is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Speaker {
    pub agent: AgentId,
    pub turn: TurnId,
}

/// A session that is being read.
pub(crate) struct Feed {
    app: App,
    /// What the reader was let in with.
    pass: Pass,
    subscription: Subscription,
    session: Session,
    /// The speakers of running model calls, as far as their text was sent.
    speakers: BTreeMap<IterationId, Speaker>,
    /// The last event that the reader was given.
    seen: Seq,
    /// The last event that there was when it came.
    head: Seq,
    /// When it was given something.
    handed: Option<Timestamp>,
    /// Why that was the last event of the session, if it was.
    last: Option<Reason>,
    over: bool,
    /// One of the streams that the caller may read.
    _stream: Stream,
    /// One of the places that readers have.
    _seat: OwnedSemaphorePermit,
}

/// The session that a reader names: the one way to a session besides `Operation::call`, for those
/// whose answer is a stream.
pub(crate) async fn authorize(
    app: &App,
    pass: &Pass,
    session: &str,
) -> Result<Authorized<SessionId>, Problem> {
    app.sessions.authorize(pass.principal(), Action::Read, session).await
}

impl Feed {
    /// Begins after a place. Nothing when the session is over and all of it was read.
    pub async fn open(
        app: &App,
        pass: Pass,
        session: &Authorized<SessionId>,
        after: Option<&Position>,
    ) -> Result<Option<Self>, Problem> {
        let seen = after.map(|after| after.within(session.id())).transpose()?.unwrap_or_default();
        let listed = session.listed();
        if listed.summary.status == Status::Completed && seen == listed.head {
            return Ok(None);
        }
        let stream = app.open_stream(&pass.principal().owner())?;
        let seat = app.seats.clone().try_acquire_owned().map_err(|_| {
            let what = "too many event streams are open; retry in a moment";
            Problem::new(StatusCode::SERVICE_UNAVAILABLE, "too_many_readers", what)
        })?;
        let turn = app.turns.acquire().await;
        let reading = app.sessions.get(session);
        let subscription = reading.updates(Since::After(seen)).await?;
        drop(turn);
        Ok(Some(Self {
            app: app.clone(),
            pass,
            subscription,
            session: reading,
            speakers: BTreeMap::new(),
            seen,
            head: listed.head,
            handed: None,
            last: None,
            over: false,
            _stream: stream,
            _seat: seat,
        }))
    }

    /// What comes next; nothing after the end.
    pub async fn next(&mut self) -> Option<Frame> {
        if self.over {
            return None;
        }
        let frame = match (self.last, self.is_slow()) {
            (Some(reason), _) => self.end(reason),
            (None, true) => self.end(Reason::Slow),
            (None, false) => self.wait().await,
        };
        self.handed = Some(self.app.sessions.clock().now());
        Some(frame)
    }

    async fn wait(&mut self) -> Frame {
        let stopping = self.app.stopping.clone();
        let update = tokio::select! {
            biased;
            () = self.pass.revoked() => return self.end(Reason::Revoked),
            () = stopping.cancelled() => Err(EngineError::Stopping),
            update = read(&self.app, &mut self.subscription, self.seen < self.head) => update,
        };
        match update {
            Ok(Update::Event(event)) => {
                self.seen = event.seq;
                if let (Body::Turn(TurnEvent::TurnEnded { .. }), Some(ended)) =
                    (&event.body, &event.place.turn)
                {
                    self.speakers.retain(|_, speaker| speaker.turn != *ended);
                }
                self.last = match &event.body {
                    Body::Session(SessionEvent::SessionCompleted { reason })
                        if reason == DELETED =>
                    {
                        Some(Reason::Deleted)
                    }
                    Body::Session(SessionEvent::SessionCompleted { .. }) => Some(Reason::Completed),
                    _ => None,
                };
                Frame::Event(event)
            }
            Ok(Update::Delta(delta)) => {
                let speaker = self.speaker(&delta.iteration).await;
                Frame::Delta(delta, speaker)
            }
            Err(EngineError::Reject(Reject::NotFound { .. })) => self.end(Reason::Deleted),
            Err(EngineError::Stopping) => self.end(Reason::Stopping),
            Err(_) => self.end(Reason::Unavailable),
        }
    }

    /// Who speaks in an iteration. The session is asked once per iteration: a reader may come in
    /// the middle of a turn, and then the turn's first event is not part of its feed.
    async fn speaker(&mut self, iteration: &IterationId) -> Option<Speaker> {
        if let Some(known) = self.speakers.get(iteration) {
            return Some(known.clone());
        }
        let state = self.session.state().await.ok()?;
        let (_, turn) = state.turn_of_iteration(iteration)?;
        let speaker = Speaker { agent: turn.agent.clone(), turn: turn.id.clone() };
        self.speakers.insert(iteration.clone(), speaker.clone());
        Some(speaker)
    }

    /// A transport asks for more as soon as it has room; when it comes back late, its reader does
    /// not keep up.
    fn is_slow(&mut self) -> bool {
        let now = self.app.sessions.clock().now();
        // From here on it is the reader who waits, even if it stops waiting and asks again.
        let taken = self.handed.take().map_or(Duration::ZERO, |handed| {
            now.duration_since(handed).try_into().unwrap_or_default()
        });
        taken > self.app.limits.patience
    }

    fn end(&mut self, reason: Reason) -> Frame {
        self.over = true;
        Frame::End { reason, resume_from: self.seen }
    }
}

/// The next update. Those who are behind look at the log one after the other, a page at a time: many
/// who come back at once do not stand in the way of those who write.
async fn read(
    app: &App,
    subscription: &mut Subscription,
    is_behind: bool,
) -> Result<Update, EngineError> {
    let waits = is_behind && !subscription.has_next();
    // Turns are never closed, so that waiting for one cannot fail.
    let _turn = if waits { app.turns.acquire().await.ok() } else { None };
    subscription.next().await
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;
    use roundtable::Engine;
    use roundtable::models::scripted::{Script, ScriptedModel};
    use roundtable_testing::PausedClock;

    use super::*;

    #[test]
    fn f23_a_place_is_one_or_it_is_refused() {
        let session: SessionId = "ses_a".parse().unwrap();
        let within = |text: &str| Position::parse(text).and_then(|place| place.within(&session));
        assert_eq!(within("12"), Ok(Seq(12)));
        assert_eq!(within(&Position::name(&session, Seq(7))), Ok(Seq(7)));
        assert_eq!(within("ses_b:7").unwrap_err().body.reason, "other_session");
        let bad = [
            "",
            ":",
            "x",
            "-1",
            "+1",
            "1.0",
            "ses_a:",
            "ses_a:x",
            "../x:1",
            "99999999999999999999",
        ];
        for bad in bad {
            assert_eq!(within(bad).unwrap_err().body.reason, "malformed_position", "{bad}");
        }
    }

    /// A feed of a session with a few events.
    async fn feed() -> (Feed, roundtable::Session, Engine) {
        let engine = Engine::builder()
            .custom_model("scripted", ScriptedModel::new(Script::default()))
            .clock(PausedClock::starting(0))
            .build();
        let engine = engine.await.unwrap();
        let session = engine.chat("x").agent("Ann").open().await.unwrap();
        session.ask("Go.").await.unwrap();
        let app = App::of(engine.clone());
        let pass = app.access.admit(&http::HeaderMap::new()).unwrap();
        let id = authorize(&app, &pass, session.id().as_str()).await.unwrap();
        (Feed::open(&app, pass, &id, None).await.unwrap().unwrap(), session, engine)
    }

    fn seq(frame: Option<Frame>) -> Seq {
        match frame {
            Some(Frame::Event(event)) => event.seq,
            other => panic!("no event: {other:?}"),
        }
    }

    #[tokio::test(start_paused = true)]
    async fn f21_a_reader_that_takes_too_long_is_sent_away_and_told_where_to_go_on() {
        let (mut feed, _, engine) = feed().await;
        assert_eq!(seq(feed.next().await), Seq(1));
        tokio::time::advance(Duration::from_secs(19)).await;
        assert_eq!(seq(feed.next().await), Seq(2), "one that is only slow is waited for");
        tokio::time::advance(Duration::from_secs(21)).await;
        let end = Frame::End { reason: Reason::Slow, resume_from: Seq(2) };
        assert_eq!(feed.next().await, Some(end));
        assert_eq!(feed.next().await, None);
        engine.shutdown().await;
    }

    #[tokio::test]
    async fn f22_those_who_are_behind_wait_for_their_turn_and_those_who_are_not_do_not() {
        let (mut feed, session, engine) = feed().await;
        let app = feed.app.clone();
        let others = app.turns.acquire().await.unwrap();
        assert!(feed.next().now_or_never().is_none(), "it is not its turn");
        drop(others);
        while feed.seen < feed.head {
            assert!(feed.next().await.is_some());
        }
        let _others = app.turns.acquire().await.unwrap();
        session.say("Again.").await.unwrap();
        assert_eq!(seq(feed.next().await), feed.head.next(), "it has caught up");
        engine.shutdown().await;
    }

    #[tokio::test(start_paused = true)]
    async fn f21_a_reader_that_waits_because_nothing_happens_is_not_slow() {
        let (mut feed, session, engine) = feed().await;
        let head = loop {
            let next = tokio::time::timeout(Duration::from_secs(60), feed.next()).await;
            match next {
                Ok(frame) => drop(frame.unwrap()),
                Err(_) => break feed.seen,
            }
        };
        assert!(head > Seq(5));
        session.say("Again.").await.unwrap();
        assert_eq!(seq(feed.next().await), head.next());
        engine.shutdown().await;
    }
}
