//! A session's task: receive, decide, commit, evolve, reconcile. The one writer of its log.

mod commit;
mod crash;
mod envelope;
mod hold;
mod load;
mod quiet;
mod reconcile;
mod set_aside;
mod start;

use std::collections::HashMap;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use futures_util::FutureExt as _;
use jiff::Timestamp;
use roundtable_core::Live;
use roundtable_core::Reject;
use roundtable_core::Starts;
use roundtable_core::event::Seq;
use roundtable_core::id::SessionId;
use roundtable_core::input::Report;
use roundtable_ports::{LeaseError, Ownership};
use tokio::sync::{OwnedSemaphorePermit, mpsc};

pub(crate) use commit::digest_of;
pub(crate) use envelope::{Envelope, Reply};
pub use load::SNAPSHOT_VERSION;
pub(crate) use load::{read, read_all};

use crate::adapter::SessionBus;
use crate::engine::Engine;
use crate::error::EngineError;
use crate::speech::Speech;
use envelope::{Asker, Waiter};
use load::LoadedSession;
use quiet::Quiet;
use reconcile::Running;

/// How many envelopes one commit takes in.
const BATCH: usize = 64;

/// How often a draining session looks whether it may leave.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// How long a store may take to let a session go.
const RELEASE_WITHIN: Duration = Duration::from_secs(1);

/// Why a task does not go on.
pub(crate) enum Halt {
    /// Someone else writes the session now, or the log cannot be used: drop everything.
    Lost(EngineError),
}

pub(crate) struct SessionTask<'a> {
    engine: Engine,
    session: SessionId,
    /// Envelopes from outside.
    mailbox: &'a mut mpsc::Receiver<Envelope>,
    /// Envelopes of this session's own effects and handlers.
    reports: mpsc::Receiver<Envelope>,
    reporter: mpsc::Sender<Envelope>,
    own: Ownership,
    /// Held by the one session under way whose last owners died.
    alone: Option<OwnedSemaphorePermit>,
    /// Ahead of the log only between a decision and its commit.
    live: Live,
    running: Running,
    waiters: Vec<Waiter>,
    askers: Vec<Asker>,
    speech: Arc<Speech>,
    bus: Arc<SessionBus>,
    snapshot: Seq,
    /// Whether the store has notes of running replies.
    noted: Arc<AtomicBool>,
    wake_at: Option<Timestamp>,
    quiet: Quiet,
    idle: bool,
}

impl<'a> SessionTask<'a> {
    pub async fn run(engine: Engine, session: SessionId, mut mailbox: mpsc::Receiver<Envelope>) {
        let speech = engine.speeches().of(&session);
        let work = SessionTask::work(engine.clone(), session.clone(), &mut mailbox, speech.clone());
        // A panic ends this session's task and nobody else's; it is loaded afresh soon. The mailbox
        // outlives it, so that nobody loads the session before the panic is noted.
        if let Err(panic) = AssertUnwindSafe(work).catch_unwind().await {
            crash::note(&engine, &session, panic, &mut mailbox).await;
        }
        drop(mailbox);
        engine.forget(&session);
        engine.speeches().forget(&session, speech);
    }

    async fn work(
        engine: Engine,
        session: SessionId,
        mailbox: &'a mut mpsc::Receiver<Envelope>,
        speech: Arc<Speech>,
    ) {
        let loaded = tokio::select! {
            biased;
            () = engine.stopped().cancelled() => return,
            loaded = load::load(&engine, &session) => loaded,
        };
        let LoadedSession { own, alone, live } = match loaded {
            Ok(loaded) => loaded,
            Err(error) => {
                if let EngineError::Lease(LeaseError::Parked { reason }) = &error {
                    engine.note_parked(&session, reason);
                }
                if error.is_transient() {
                    engine.miss(&session);
                }
                return refuse_all(mailbox, &error).await;
            }
        };
        let (reporter, reports) = mpsc::channel(engine.parts().config.mailbox);
        let bus = Arc::new(SessionBus::new(session.clone(), reporter.clone()));
        let snapshot = live.session.head;
        let mut task = Self {
            running: Running::new(HashMap::new()),
            waiters: Vec::new(),
            askers: Vec::new(),
            engine,
            session,
            mailbox,
            reports,
            reporter,
            own,
            alone,
            live,
            speech,
            bus,
            snapshot,
            noted: Arc::default(),
            wake_at: None,
            quiet: Quiet::default(),
            idle: false,
        };
        let stopped = task.engine.stopped().clone();
        let end = tokio::select! {
            biased;
            () = stopped.cancelled() => Ok(()),
            end = task.drive() => end,
        };
        if stopped.is_cancelled() {
            task.engine.note_cut(task.cut_calls());
        }
        // Whatever still runs was started by a writer that is no longer one.
        task.running.abort_all(&task.speech);
        let release = task.engine.parts().store.leases.release(&task.own);
        // A store that does not answer finds out by itself that this node is gone.
        let _ = tokio::time::timeout(RELEASE_WITHIN, release).await;
        if let Err(Halt::Lost(error)) = end {
            refuse_all(task.mailbox, &error).await;
            look_again(&task.engine, &task.session).await;
        }
    }

    async fn drive(&mut self) -> Result<(), Halt> {
        self.recover().await?;
        loop {
            self.reconcile().await?;
            self.settle().await;
            if self.may_leave() && self.retire().await {
                return Ok(());
            }
            let Some(first) = self.next_letter().await else { return Ok(()) };
            let mut envelopes = vec![first];
            while envelopes.len() < BATCH
                && let Ok(envelope) = self.reports.try_recv().or_else(|_| self.mailbox.try_recv())
            {
                envelopes.push(envelope);
            }
            if self.is_due() {
                envelopes.push(Envelope::Wake);
            }
            if envelopes.iter().any(|envelope| matches!(envelope, Envelope::Discard)) {
                return Err(self.discard(envelopes));
            }
            self.idle = false;
            self.process(envelopes).await?;
        }
    }

    /// Another one has claimed the session here, and may have deleted it.
    fn discard(&self, envelopes: Vec<Envelope>) -> Halt {
        let gone = EngineError::from(Reject::NotFound { session: self.session.clone() });
        envelopes.into_iter().for_each(|envelope| envelope.refuse(&gone));
        Halt::Lost(gone)
    }

    /// Whether the time that something has to happen at has come.
    fn is_due(&self) -> bool {
        self.wake_at.is_some_and(|at| at <= self.engine.parts().clock.now())
    }

    /// Settles what an earlier writer left, and goes on with what is due.
    async fn recover(&mut self) -> Result<(), Halt> {
        if !self.live.session.opened {
            return Ok(());
        }
        let envelope = if self.live.session.has_started() {
            let noted = self
                .engine
                .parts()
                .store
                .drafts
                .list_drafts(&self.session)
                .await
                .unwrap_or_default();
            let report = Report::WriterChanged.into();
            Envelope::Report { report, partials: Some(noted) }
        } else {
            Envelope::Wake
        };
        self.noted.store(true, Ordering::Relaxed);
        self.process(vec![envelope]).await
    }

    /// The next envelope; none when nobody can write one any more.
    async fn next_letter(&mut self) -> Option<Envelope> {
        let draining = self.is_draining();
        // A envelope that was on its way may never arrive: its sender can give up.
        let patience = if draining { LOOK_EVERY } else { self.engine.parts().config.idle_after };
        self.quiet.begin(patience);
        // While something runs, its report will come: no timer is needed to notice that it is quiet.
        let may_idle = draining || self.running.is_empty();
        tokio::select! {
            biased;
            Some(envelope) = self.reports.recv() => Some(envelope),
            envelope = self.mailbox.recv() => envelope,
            () = self.engine.draining().cancelled(), if !draining => Some(Envelope::Wake),
            () = self.quiet.over(), if may_idle => Some(Envelope::Idle),
        }
    }

    fn starts(&self) -> Starts {
        if self.is_draining() { Starts::Held } else { Starts::Allowed }
    }

    fn is_draining(&self) -> bool {
        self.engine.draining().is_cancelled()
    }

    /// Whether nothing would be lost by leaving memory: nothing runs here, and either the engine
    /// drains, or it has been quiet for a while, or there is no such session.
    fn may_leave(&self) -> bool {
        self.running.is_empty() && (self.is_draining() || self.idle || !self.live.session.opened)
    }

    /// Makes ready to leave memory, unless a envelope is on its way.
    async fn retire(&mut self) -> bool {
        self.put_snapshot().await;
        self.engine.retire(&self.session, self.mailbox)
    }
}

/// Has a session looked at again soon, after a failure: by whoever owns it then.
async fn look_again(engine: &Engine, session: &SessionId) {
    let later = engine.parts().clock.now().checked_add(jiff::SignedDuration::from_secs(1));
    if let Ok(at) = later {
        // A scheduler that is gone has stopped with the engine.
        let _ = engine.wakes().send((at, session.clone())).await;
    }
}

/// Tells everyone who waits that the session cannot be driven. A envelope that is on its way when
/// the door closes is waited for: dropped, it would tell its sender that the engine stops.
async fn refuse_all(mailbox: &mut mpsc::Receiver<Envelope>, error: &EngineError) {
    mailbox.close();
    while let Some(envelope) = mailbox.recv().await {
        envelope.refuse(error);
    }
}
