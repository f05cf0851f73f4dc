//! Reading a session as it happens: committed events in order, each exactly once, from any point,
//! and what is being said meanwhile.
//!
//! The bell is lossy; this is where exactness comes from, once: listen, read to the end, read
//! again on each ring, and look now and then in case a ring was lost.

use std::collections::{BTreeMap, VecDeque};
use std::pin::Pin;
use std::sync::Arc;

use futures_util::StreamExt as _;
use futures_util::stream::{self, BoxStream};
use roundtable_core::Reject;
use roundtable_core::event::{Body, Event, IterationEvent, Seq};
use roundtable_core::id::{IterationId, SessionId};
use roundtable_ports::Rings;
use tokio::sync::watch;
use tokio::time::Sleep;
use tokio_util::sync::WaitForCancellationFutureOwned;

use crate::engine::Engine;
use crate::error::EngineError;
use crate::speech::Speech;

/// How many events are read at once.
const PAGE: usize = 256;

/// Some text of a running model call: a hint. The finished event has all of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Delta {
    /// The event that started the call.
    pub since: Seq,
    /// The iteration.
    pub iteration: IterationId,
    /// Which attempt.
    pub attempt: u32,
    /// Where the text begins, in bytes.
    pub offset: usize,
    /// The text.
    pub text: String,
}

/// What a reader gets.
#[derive(Debug, Clone, PartialEq)]
pub enum Update {
    /// Something happened.
    Event(Arc<Event>),
    /// Something is being said.
    Delta(Delta),
}

/// What a reader waits for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Hearing {
    /// Events, and what is being said.
    All,
    /// Events alone: words are no reason to wake up.
    Events,
}

/// A reader of a session.
pub struct Subscription {
    engine: Engine,
    session: SessionId,
    next: Seq,
    /// The bell; none after it has hung up.
    rings: Option<Rings>,
    speech: Option<Arc<Speech>>,
    changes: watch::Receiver<u64>,
    ready: VecDeque<Update>,
    /// Whether there may be events that were not read: words alone are no reason to look.
    behind: bool,
    /// Runs from the last look at the log: it is looked at now and then, also while much is said.
    look: Option<Pin<Box<Sleep>>>,
    /// The engine has ended. One future for all waits: a word should cost little.
    ended: Pin<Box<WaitForCancellationFutureOwned>>,
    /// The model calls that are known to run, and how far each was read.
    following: BTreeMap<IterationId, (u32, usize)>,
    /// Whether that includes the calls that ran before the reader began. Whoever wants events alone
    /// need not look for them.
    picked_up: bool,
}

impl Subscription {
    pub(crate) async fn new(
        engine: Engine,
        session: SessionId,
        from: Seq,
    ) -> Result<Self, EngineError> {
        let store = &engine.parts().store;
        let rings = store.bell.listen(&session).await;
        let Some(listed) = store.directory.find(&session).await? else {
            return Err(Reject::NotFound { session }.into());
        };
        if from > listed.head.next() {
            return Err(EngineError::BeyondEnd { from, head: listed.head });
        }
        let speech = engine.speeches().of(&session);
        let changes = speech.changes();
        Ok(Self {
            next: from.max(Seq(1)),
            rings: Some(rings),
            speech: Some(speech),
            changes,
            ready: VecDeque::new(),
            behind: true,
            look: None,
            ended: Box::pin(engine.ended().clone().cancelled_owned()),
            following: BTreeMap::new(),
            picked_up: false,
            engine,
            session,
        })
    }

    /// Whether the next update is here already: getting it takes no look at the log.
    pub fn has_next(&self) -> bool {
        !self.ready.is_empty()
    }

    /// The next update; it waits until there is one.
    ///
    /// # Errors
    /// [`EngineError::Stopping`] when everything was read and the engine has ended; another
    /// [`EngineError`] when the log cannot be read. Calling again goes on where it was.
    pub async fn next(&mut self) -> Result<Update, EngineError> {
        self.advance(Hearing::All).await
    }

    /// The next event, without what is being said meanwhile.
    ///
    /// # Errors
    /// [`EngineError`] when the log cannot be read. Calling again goes on where it was.
    pub async fn next_event(&mut self) -> Result<Arc<Event>, EngineError> {
        loop {
            if let Update::Event(event) = self.advance(Hearing::Events).await? {
                return Ok(event);
            }
        }
    }

    /// The next event, if there is one already. It does not wait for what happens next.
    ///
    /// # Errors
    /// [`EngineError`] when the log cannot be read. Calling again goes on where it was.
    pub async fn try_next_event(&mut self) -> Result<Option<Arc<Event>>, EngineError> {
        loop {
            match self.ready.pop_front() {
                Some(Update::Event(event)) => return Ok(Some(event)),
                Some(Update::Delta(_)) => {}
                None if self.behind => self.read_events().await?,
                None => return Ok(None),
            }
        }
    }

    async fn advance(&mut self, hearing: Hearing) -> Result<Update, EngineError> {
        if hearing == Hearing::All && !self.picked_up {
            self.pick_up().await?;
            self.picked_up = true;
        }
        loop {
            if let Some(update) = self.ready.pop_front() {
                return Ok(update);
            }
            // Asked first: what was committed before the end is read after it.
            let ended = self.engine.ended().is_cancelled();
            if self.behind || ended {
                self.read_events().await?;
            }
            if self.ready.is_empty() && hearing == Hearing::All {
                self.read_speech();
            }
            if !self.ready.is_empty() {
                continue;
            }
            if ended {
                return Err(EngineError::Stopping);
            }
            self.wait(hearing).await;
        }
    }

    /// Waits for a reason to look again.
    async fn wait(&mut self, hearing: Hearing) {
        let rings = async {
            match &mut self.rings {
                Some(rings) => rings.next().await,
                None => std::future::pending().await,
            }
        };
        let poll_every = self.engine.parts().config.poll_every;
        let look = self.look.get_or_insert_with(|| Box::pin(tokio::time::sleep(poll_every)));
        tokio::select! {
            biased;
            rung = rings => {
                self.behind = true;
                if rung.is_none() {
                    self.rings = None;
                }
            }
            _ = self.changes.changed(), if hearing == Hearing::All => {}
            () = &mut self.ended => {}
            () = look => {
                self.behind = true;
                if self.rings.is_none() {
                    self.rings = Some(self.engine.parts().store.bell.listen(&self.session).await);
                }
            }
        }
    }

    /// The same as a stream.
    pub fn into_stream(self) -> BoxStream<'static, Result<Update, EngineError>> {
        stream::unfold(Some(self), |reading| async {
            let mut subscription = reading?;
            let update = subscription.next().await;
            let over = update == Err(EngineError::Stopping);
            Some((update, (!over).then_some(subscription)))
        })
        .boxed()
    }

    /// Follows the model calls that were running already where the reader begins: it gets what
    /// they have said so far, though their starts lie before it.
    async fn pick_up(&mut self) -> Result<(), EngineError> {
        let since = self.speech.as_ref().and_then(|speech| speech.since());
        let Some(mut from) = since else { return Ok(()) };
        while from < self.next {
            let page = self.engine.parts().store.log.read(&self.session, from, PAGE).await?;
            let next = self.next;
            page.iter().filter(|event| event.seq < next).for_each(|event| self.follow(event));
            let Some(last) = page.last() else { return Ok(()) };
            from = last.seq.next();
        }
        Ok(())
    }

    async fn read_events(&mut self) -> Result<(), EngineError> {
        let page = self.engine.parts().store.log.read(&self.session, self.next, PAGE).await?;
        self.behind = page.len() == PAGE;
        self.look = None;
        if page.is_empty()
            && self.engine.parts().store.directory.find(&self.session).await?.is_none()
        {
            return Err(Reject::NotFound { session: self.session.clone() }.into());
        }
        for event in page {
            self.next = event.seq.next();
            self.follow(&event);
            self.ready.push_back(Update::Event(event));
        }
        Ok(())
    }

    /// A model call is followed from its start to its end, as the reader has seen them.
    fn follow(&mut self, event: &Event) {
        let (Body::Iteration(body), Some(iteration)) = (&event.body, &event.place.iteration) else {
            return;
        };
        match body {
            IterationEvent::ModelCallStarted { attempt, .. } => {
                self.following.insert(iteration.clone(), (*attempt, 0));
            }
            IterationEvent::IterationOpened { .. } | IterationEvent::ModelCallRetried { .. } => {}
            IterationEvent::ModelCallInterrupted { .. }
            | IterationEvent::ModelCallFinished { .. }
            | IterationEvent::ModelCallFailed { .. }
            | IterationEvent::ModelCallCancelled { .. }
            | IterationEvent::IterationClosed { .. } => {
                self.following.remove(iteration);
            }
        }
    }

    fn read_speech(&mut self) {
        self.changes.mark_unchanged();
        let Some(speech) = &self.speech else { return };
        for (iteration, (attempt, offset)) in &mut self.following {
            let delta = speech.read(iteration, |utterance| {
                let more = utterance.text.get(*offset..).filter(|text| !text.is_empty())?;
                (utterance.attempt == *attempt).then(|| Delta {
                    since: utterance.since,
                    iteration: iteration.clone(),
                    attempt: *attempt,
                    offset: *offset,
                    text: more.to_owned(),
                })
            });
            if let Some(delta) = delta.flatten() {
                *offset += delta.text.len();
                self.ready.push_back(Update::Delta(delta));
            }
        }
    }
}

impl Drop for Subscription {
    fn drop(&mut self) {
        if let Some(speech) = self.speech.take() {
            self.engine.speeches().forget(&self.session, speech);
        }
    }
}
