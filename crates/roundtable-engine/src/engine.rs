//! The engine: loads sessions on demand, hands them their envelopes, stops in an orderly way.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use roundtable_core::Reject;
use roundtable_core::agent::Agent;
use roundtable_core::event::{Opening, Origin, Seq};
use roundtable_core::id::{CommandId, SessionId};
use roundtable_core::input::Command;
use roundtable_ports::CommandKey;
use tokio::sync::{Semaphore, broadcast, mpsc};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::cut::CutCall;
use crate::error::EngineError;
use crate::handle::SessionHandle;
use crate::inbox;
use crate::parts::Parts;
use crate::scheduler::{self, Wake};
use crate::speech::Speeches;
use crate::subscribe::Subscription;
use crate::task::{Envelope, SessionTask};

struct Inner {
    parts: Parts,
    sessions: Mutex<HashMap<SessionId, mpsc::Sender<Envelope>>>,
    speeches: Speeches,
    /// Sessions that could not be loaded because the store was out of reach.
    missed: Mutex<BTreeSet<SessionId>>,
    /// Sessions whose agents need what is not registered here. Others may go on with them.
    aside: Mutex<BTreeSet<SessionId>>,
    permits: Arc<Semaphore>,
    /// One place, for a session whose last owners died.
    suspects: Arc<Semaphore>,
    /// Sessions that were found parked here.
    parked: Mutex<BTreeSet<SessionId>>,
    parkings: broadcast::Sender<Parking>,
    /// Room for what effects brought while the store takes nothing, in KiB.
    kept: Arc<Semaphore>,
    wakes: mpsc::Sender<Wake>,
    tasks: TaskTracker,
    effects: TaskTracker,
    draining: CancellationToken,
    stopped: CancellationToken,
    /// Everything has ended: nothing will be committed any more.
    ended: CancellationToken,
    /// What was running when the engine was stopped.
    cut: Mutex<Vec<CutCall>>,
}

/// Why a session that is deleted is over.
pub const DELETED: &str = "deleted";

/// A session that was parked: it crashed again and again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parking {
    /// The session.
    pub session: SessionId,
    /// What happened.
    pub reason: String,
}

/// How many of them wait for a slow listener.
const PARKINGS: usize = 64;

/// The engine. Cheap to clone; all clones are one engine.
#[derive(Clone)]
pub struct Engine(Arc<Inner>);

impl Engine {
    /// Starts an engine: sessions that were left with work go on at once.
    ///
    /// # Errors
    /// [`EngineError`] when the store does not take the node.
    pub async fn start(parts: Parts) -> Result<Self, EngineError> {
        parts.store.leases.renew(&parts.node).await?;
        let (wakes, due) = mpsc::channel(1024);
        let engine = Self(Arc::new(Inner {
            permits: Arc::new(Semaphore::new(parts.config.permits)),
            suspects: Arc::new(Semaphore::new(1)),
            parked: Mutex::default(),
            parkings: broadcast::Sender::new(PARKINGS),
            kept: Arc::new(Semaphore::new(parts.config.kept_bytes / 1024)),
            parts,
            sessions: Mutex::default(),
            speeches: Speeches::default(),
            missed: Mutex::default(),
            aside: Mutex::default(),
            wakes,
            tasks: TaskTracker::new(),
            effects: TaskTracker::new(),
            draining: CancellationToken::new(),
            stopped: CancellationToken::new(),
            ended: CancellationToken::new(),
            cut: Mutex::default(),
        }));
        engine.0.tasks.spawn(scheduler::run(engine.clone(), due));
        engine.0.tasks.spawn(inbox::drain(engine.clone()));
        Ok(engine)
    }

    /// Opens a session with a fresh id.
    ///
    /// # Errors
    /// [`EngineError`] when it is refused, or something that its agents need is missing.
    pub async fn open(&self, opening: Opening) -> Result<SessionHandle, EngineError> {
        let id = self.fresh_session()?;
        self.open_as(&id, opening, None).await
    }

    /// Opens a session with an id of the caller's choice.
    ///
    /// # Errors
    /// [`EngineError`] when it is refused, or something that its agents need is missing.
    pub async fn open_as(
        &self,
        id: &SessionId,
        opening: Opening,
        command: Option<CommandId>,
    ) -> Result<SessionHandle, EngineError> {
        self.open_keyed(id, opening, command.map(CommandKey::from)).await
    }

    /// The same, under a key that stands for the request that it was made of.
    ///
    /// # Errors
    /// [`EngineError`] when it is refused, or something that its agents need is missing.
    pub async fn open_keyed(
        &self,
        id: &SessionId,
        mut opening: Opening,
        key: Option<CommandKey>,
    ) -> Result<SessionHandle, EngineError> {
        self.0.parts.check(&opening.agents)?;
        self.0.parts.weigh(&mut opening.agents);
        let handle = self.session(id);
        handle.command_keyed(Command::Open(Box::new(opening)), key).await?;
        Ok(handle)
    }

    /// Opens a session as a copy of another one's past, up to the end of a round.
    ///
    /// # Errors
    /// [`EngineError`] when there is no such session, or no round ends there.
    pub async fn fork(
        &self,
        origin: Origin,
        mut agents: Option<Vec<Agent>>,
    ) -> Result<SessionHandle, EngineError> {
        self.0.parts.check(agents.as_deref().unwrap_or_default())?;
        self.0.parts.weigh(agents.as_deref_mut().unwrap_or_default());
        let handle = self.session(&self.fresh_session()?);
        handle.command(Command::Fork { origin, agents }, None).await?;
        Ok(handle)
    }

    /// Deletes a session for good. Its round is cut off first, wherever it runs, and whoever writes it
    /// is fenced; readers are told that it is gone.
    ///
    /// # Errors
    /// [`EngineError`] when there is no such session, a fork needs its history, or another process
    /// has not let it go yet. A round that ran may have been cut off.
    pub async fn delete(&self, session: &SessionId) -> Result<(), EngineError> {
        let store = &self.0.parts.store;
        if let Some(fork) = store.directory.find_fork(session).await? {
            return Err(EngineError::Forked { fork });
        }
        let complete = Command::Complete { reason: DELETED.to_owned() };
        match self.session(session).command(complete, None).await {
            Err(EngineError::Reject(Reject::NotFound { session })) => {
                return Err(Reject::NotFound { session }.into());
            }
            Err(error) if error.is_transient() => return Err(error),
            // One that is over, or that nobody here can go on with, is deleted all the same.
            Ok(_) | Err(_) => {}
        }
        store.leases.unpark(session).await?;
        let own = store.leases.claim_alone(session, &self.0.parts.node).await?;
        let deleted = store.directory.delete(&own).await;
        if deleted != Ok(true) {
            store.leases.release(&own).await?;
        }
        self.discard(session).await;
        match (deleted?, store.directory.find_fork(session).await?) {
            (true, _) => {
                store.bell.ring(session).await;
                Ok(())
            }
            (false, Some(fork)) => Err(EngineError::Forked { fork }),
            // Whoever runs it could not be told to stop.
            (false, None) => {
                let listed = store.directory.find(session).await?;
                let round = listed.map_or(0, |listed| listed.summary.current_round);
                Err(Reject::Busy { round }.into())
            }
        }
    }

    /// Has a session that is in memory here read afresh when it is next needed.
    async fn discard(&self, session: &SessionId) {
        let mailbox = self.sessions().get(session).cloned();
        if let Some(mailbox) = mailbox {
            // One that is gone already has nothing to forget.
            let _ = mailbox.send(Envelope::Discard).await;
        }
    }

    /// A session of this engine. Whether there is one shows when it is used.
    pub fn session(&self, id: &SessionId) -> SessionHandle {
        SessionHandle::new(self.clone(), id.clone())
    }

    /// Committed events of a session from this position on.
    ///
    /// # Errors
    /// [`EngineError`] when there is no such session, or the position is beyond its end.
    pub async fn subscribe(
        &self,
        session: &SessionId,
        from: Seq,
    ) -> Result<Subscription, EngineError> {
        Subscription::new(self.clone(), session.clone(), from).await
    }

    /// Stops in an orderly way: takes nothing new, starts nothing new, waits for what runs and
    /// commits it. What takes longer than the drain limit is cut off.
    pub async fn shutdown(&self) {
        self.0.draining.cancel();
        self.0.tasks.close();
        let limit = self.0.parts.config.drain_within;
        if tokio::time::timeout(limit, self.0.tasks.wait()).await.is_err() {
            self.stop().await;
        }
        self.0.ended.cancel();
    }

    /// Stops at once. What was committed is kept; what was running is in doubt.
    pub async fn stop(&self) {
        self.0.draining.cancel();
        self.0.stopped.cancel();
        self.0.tasks.close();
        self.0.tasks.wait().await;
        self.0.ended.cancel();
    }

    /// The calls that were cut off by [`Engine::stop`], or by a drain that ran out of time, in the
    /// order of their sessions. Complete once either has returned.
    pub fn cut_calls(&self) -> Vec<CutCall> {
        let mut cut = self.0.cut.lock().unwrap_or_else(PoisonError::into_inner).clone();
        cut.sort();
        cut
    }

    pub(crate) fn note_cut(&self, calls: Vec<CutCall>) {
        self.0.cut.lock().unwrap_or_else(PoisonError::into_inner).extend(calls);
    }

    /// How many sessions are in memory.
    pub fn loaded(&self) -> usize {
        self.sessions().len()
    }

    /// What the engine is made of.
    pub fn parts(&self) -> &Parts {
        &self.0.parts
    }

    /// A fresh id for a session.
    ///
    /// # Errors
    /// [`EngineError`] when the source of ids gives something that is none.
    pub fn fresh_session(&self) -> Result<SessionId, EngineError> {
        Ok(SessionId::new(&self.0.parts.ids.fresh()).map_err(roundtable_core::Reject::from)?)
    }

    pub(crate) async fn send(
        &self,
        session: &SessionId,
        mut envelope: Envelope,
    ) -> Result<(), EngineError> {
        // A session may leave memory between looking it up and writing to it; then it is loaded again.
        loop {
            let mailbox = self.mailbox(session)?;
            match mailbox.send(envelope).await {
                Ok(()) => return Ok(()),
                Err(back) => envelope = back.0,
            }
        }
    }

    /// Makes sure that a session is loaded and looks around.
    pub(crate) fn wake(&self, session: &SessionId) {
        if let Ok(mailbox) = self.mailbox(session) {
            // A full mailbox has the session awake anyway, and then it looks at the time itself.
            let _ = mailbox.try_send(Envelope::Wake);
        }
    }

    fn mailbox(&self, session: &SessionId) -> Result<mpsc::Sender<Envelope>, EngineError> {
        let mut sessions = self.sessions();
        if let Some(mailbox) = sessions.get(session).filter(|mailbox| !mailbox.is_closed()) {
            return Ok(mailbox.clone());
        }
        if self.0.draining.is_cancelled() {
            return Err(EngineError::Stopping);
        }
        let (mailbox, envelopes) = mpsc::channel(self.0.parts.config.mailbox);
        sessions.insert(session.clone(), mailbox.clone());
        // Boxed, because it is large and would be moved several times on its way into a task.
        self.0.tasks.spawn(Box::pin(SessionTask::run(self.clone(), session.clone(), envelopes)));
        Ok(mailbox)
    }

    /// Lets a session go that nobody is writing to. Senders exist only while they are used, so
    /// one left in the map means that there is no envelope on its way.
    pub(crate) fn retire(&self, session: &SessionId, envelopes: &mpsc::Receiver<Envelope>) -> bool {
        let mut sessions = self.sessions();
        let quiet = envelopes.is_empty() && envelopes.sender_strong_count() <= 1;
        if quiet {
            sessions.remove(session);
        }
        quiet
    }

    /// Forgets a session whose task is gone, unless another one has taken its place.
    pub(crate) fn forget(&self, session: &SessionId) {
        let mut sessions = self.sessions();
        if sessions.get(session).is_some_and(mpsc::Sender::is_closed) {
            sessions.remove(session);
        }
    }

    /// Remembers a session that could not be loaded. It may have work, and while the store thinks
    /// that this engine owns it, nobody else looks for it.
    pub(crate) fn miss(&self, session: &SessionId) {
        self.missed().insert(session.clone());
    }

    /// The sessions to try again.
    pub(crate) fn take_missed(&self) -> BTreeSet<SessionId> {
        std::mem::take(&mut self.missed())
    }

    /// Leaves a session to others: from now on the sweep passes it by.
    pub(crate) fn lay_aside(&self, session: &SessionId) {
        self.aside().insert(session.clone());
    }

    /// Whether a session is left to others.
    pub(crate) fn is_aside(&self, session: &SessionId) -> bool {
        self.aside().contains(session)
    }

    fn aside(&self) -> MutexGuard<'_, BTreeSet<SessionId>> {
        self.0.aside.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn missed(&self) -> MutexGuard<'_, BTreeSet<SessionId>> {
        self.0.missed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn sessions(&self) -> MutexGuard<'_, HashMap<SessionId, mpsc::Sender<Envelope>>> {
        self.0.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn speeches(&self) -> &Speeches {
        &self.0.speeches
    }

    pub(crate) fn permits(&self) -> &Arc<Semaphore> {
        &self.0.permits
    }

    pub(crate) fn suspects(&self) -> &Arc<Semaphore> {
        &self.0.suspects
    }

    /// Sessions that this engine finds parked from now on, each once until it is tried again.
    pub fn listen_parkings(&self) -> broadcast::Receiver<Parking> {
        self.0.parkings.subscribe()
    }

    pub(crate) fn note_parked(&self, session: &SessionId, reason: &str) {
        if self.parked().insert(session.clone()) {
            let parking = Parking { session: session.clone(), reason: reason.to_owned() };
            // Nobody has to listen.
            let _ = self.0.parkings.send(parking);
        }
    }

    pub(crate) fn forget_parked(&self, session: &SessionId) {
        self.parked().remove(session);
    }

    fn parked(&self) -> MutexGuard<'_, BTreeSet<SessionId>> {
        self.0.parked.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Why a session's task was gone before it answered.
    pub(crate) fn why_gone(&self) -> EngineError {
        let stops = self.0.stopped.is_cancelled() || self.0.draining.is_cancelled();
        if stops { EngineError::Stopping } else { EngineError::Crashed }
    }

    pub(crate) fn kept(&self) -> &Arc<Semaphore> {
        &self.0.kept
    }

    pub(crate) fn wakes(&self) -> &mpsc::Sender<Wake> {
        &self.0.wakes
    }

    pub(crate) fn effects(&self) -> &TaskTracker {
        &self.0.effects
    }

    pub(crate) fn draining(&self) -> &CancellationToken {
        &self.0.draining
    }

    pub(crate) fn ended(&self) -> &CancellationToken {
        &self.0.ended
    }

    pub(crate) fn stopped(&self) -> &CancellationToken {
        &self.0.stopped
    }
}
