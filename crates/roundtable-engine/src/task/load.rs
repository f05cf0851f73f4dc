//! How a session comes into memory: a claim, a snapshot if there is one, and the rest of the log.

use std::sync::Arc;

use roundtable_core::event::{Event, Origin, Seq};
use roundtable_core::id::SessionId;
use roundtable_core::session::Session;
use roundtable_core::{Keep, Live, Reject};
use roundtable_ports::{LeaseError, LogError, Ownership, Snapshot};
use tokio::sync::OwnedSemaphorePermit;

use super::SessionTask;
use crate::engine::Engine;
use crate::error::EngineError;
use crate::parts::Parts;

/// The form of snapshots that this build writes; another one is discarded.
pub const SNAPSHOT_VERSION: u32 = 3;

/// How many events are read at once.
const PAGE: usize = 512;

/// A session in memory, and the right to write it.
pub(super) struct LoadedSession {
    pub own: Ownership,
    pub alone: Option<OwnedSemaphorePermit>,
    pub live: Live,
}

/// Claims a session. Of those whose last owners died, one at a time is under way: if this process dies,
/// the others are not to blame.
async fn claim(
    engine: &Engine,
    session: &SessionId,
) -> Result<(Ownership, Option<OwnedSemaphorePermit>), EngineError> {
    let parts = engine.parts();
    let leases = &parts.store.leases;
    match leases.claim_one(session, &parts.node).await {
        Err(LeaseError::Suspect) => {
            let alone = engine.suspects().clone().acquire_owned().await.ok();
            Ok((leases.claim_alone(session, &parts.node).await?, alone))
        }
        claimed => Ok((claimed?, None)),
    }
}

/// Claims a session and reads it.
pub(super) async fn load(
    engine: &Engine,
    session: &SessionId,
) -> Result<LoadedSession, EngineError> {
    let parts = engine.parts();
    let (own, alone) = claim(engine, session).await?;
    let loaded = match read(parts, session, session, Seq(u64::MAX)).await {
        Ok(live) => check(engine, live),
        Err(error) => Err(error.into()),
    };
    if loaded.is_err() {
        // A session that is owned is not looked for: who cannot go on with it must not keep it.
        let _ = parts.store.leases.release(&own).await;
    }
    Ok(LoadedSession { own, alone, live: loaded? })
}

/// Refuses a session whose program or whose agents need what is not there: with every call it would fail a turn
/// that another process could take.
fn check(engine: &Engine, live: Live) -> Result<Live, EngineError> {
    let missing = engine.parts().programs.missing(&live.session);
    if let Some(name) = missing.filter(|_| live.session.opened) {
        engine.lay_aside(&live.session.id);
        let what = format!("this process has no program \"{name}\"");
        return Err(EngineError::MissingDependency { what });
    }
    match engine.parts().check(&live.session.agents) {
        Ok(()) => Ok(live),
        Err(missing) => {
            engine.lay_aside(&live.session.id);
            Err(EngineError::MissingDependency { what: missing.to_string() })
        }
    }
}

/// The fold of `source`'s log up to `until`, as the state of `session`.
pub(crate) async fn read(
    parts: &Parts,
    source: &SessionId,
    session: &SessionId,
    until: Seq,
) -> Result<Live, LogError> {
    let (log, programs) = (&parts.store.log, &parts.programs);
    let snapshot = log.find_snapshot(source).await?.filter(|snapshot| snapshot.seq <= until);
    let live = match snapshot.as_ref().and_then(thaw) {
        None => Live::new(session.clone(), programs),
        Some(state) => {
            let mut earlier = Vec::new();
            let mut from = state.window_from();
            while from <= state.head {
                let page = log.read(source, from, PAGE).await?;
                let Some(last) = page.last() else { break };
                from = last.seq.next();
                earlier.extend(page.into_iter().filter(|event| event.seq <= state.head));
            }
            let state = Session { id: session.clone(), ..state };
            Live::resume(state, earlier.iter().map(Arc::as_ref), programs)
        }
    };
    catch_up(parts, source, live, until).await
}

/// The fold of a session's whole log, with everything kept.
pub(crate) async fn read_all(parts: &Parts, session: &SessionId) -> Result<Live, LogError> {
    let live = Live::reader(session.clone(), &parts.programs, Keep::All);
    catch_up(parts, session, live, Seq(u64::MAX)).await
}

async fn catch_up(
    parts: &Parts,
    source: &SessionId,
    mut live: Live,
    until: Seq,
) -> Result<Live, LogError> {
    let log = &parts.store.log;
    loop {
        let page = log.read(source, live.session.head.next(), PAGE).await?;
        let wanted: Vec<&Arc<Event>> = page.iter().take_while(|event| event.seq <= until).collect();
        check_order(source, live.session.head, &wanted)?;
        wanted.iter().for_each(|event| live.apply(event));
        if wanted.len() < PAGE {
            return Ok(live);
        }
    }
}

fn check_order(session: &SessionId, head: Seq, page: &[&Arc<Event>]) -> Result<(), LogError> {
    let mut expected = head;
    for event in page {
        expected = expected.next();
        if event.seq != expected {
            let what = format!("event {expected} is missing");
            return Err(LogError::Damaged { session: session.clone(), seq: expected, what });
        }
    }
    Ok(())
}

fn thaw(snapshot: &Snapshot) -> Option<Session> {
    if snapshot.version != SNAPSHOT_VERSION {
        return None;
    }
    serde_json::from_slice(&snapshot.state).ok()
}

impl SessionTask<'_> {
    /// Makes this session, which has no log yet, the fold of another one's past.
    pub(super) async fn inherit(&mut self, origin: &Origin) -> Result<(), EngineError> {
        if self.live.session.opened {
            return Err(Reject::Exists { session: self.session.clone() }.into());
        }
        let past = read(self.engine.parts(), &origin.session, &self.session, origin.seq).await?;
        if !past.session.opened || past.session.head != origin.seq {
            let what = format!("session {} has no event {}", origin.session, origin.seq);
            return Err(Reject::Invalid { what }.into());
        }
        self.live = past;
        Ok(())
    }

    /// Writes a snapshot, if the log has moved on since the last one. It is a speed-up: a failure
    /// costs time on the next load, nothing else.
    pub(super) async fn put_snapshot(&mut self) {
        let head = self.live.session.head;
        if !self.live.session.opened || self.snapshot == head {
            return;
        }
        let Ok(state) = serde_json::to_vec(&self.live.session) else { return };
        let snapshot = Snapshot { version: SNAPSHOT_VERSION, seq: head, state };
        if self.engine.parts().store.log.put_snapshot(&self.own, snapshot).await.is_ok() {
            self.snapshot = head;
        }
    }
}
