//! Sessions that another process owns: commands go to it through the store, and those that others
//! left for sessions of this engine are drained here.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};

use futures_util::StreamExt as _;
use roundtable_core::Reject;
use roundtable_core::id::CommandId;
use roundtable_ports::{Answered, LeaseError, Posted, Receipt};

use crate::engine::Engine;
use crate::error::EngineError;

/// Drains what other processes left for sessions of this engine, until it stops.
pub(crate) async fn drain(engine: Engine) {
    let inbox = engine.parts().store.inbox.clone();
    let mut rings = inbox.listen_inbox().await;
    let taken: Arc<Mutex<HashSet<CommandId>>> = Arc::default();
    loop {
        let posted = inbox.list_posted(&engine.parts().node).await.unwrap_or_default();
        for posted in posted {
            if taken.lock().unwrap_or_else(PoisonError::into_inner).insert(posted.id.clone()) {
                engine.effects().spawn(carry_out(engine.clone(), posted, taken.clone()));
            }
        }
        tokio::select! {
            biased;
            () = engine.draining().cancelled() => return,
            ring = rings.next() => if ring.is_none() { return },
            // In case a ring was lost.
            () = tokio::time::sleep(engine.parts().config.sweep_every) => {}
        }
    }
}

async fn carry_out(engine: Engine, posted: Posted, taken: Arc<Mutex<HashSet<CommandId>>>) {
    let Posted { id, session, command } = posted;
    let done = engine.session(&session).command_here(command, Some(id.clone())).await;
    // What could not be done here is left for whoever owns the session by then.
    if let Some(answer) = answer(done) {
        let _ = engine.parts().store.inbox.answer(&id, &answer).await;
    }
    taken.lock().unwrap_or_else(PoisonError::into_inner).remove(&id);
}

fn answer(done: Result<Receipt, EngineError>) -> Option<Answered> {
    Some(match done {
        Ok(receipt) => Answered::Done(receipt),
        Err(EngineError::Reject(Reject::ContextRequired { missing })) => {
            Answered::ContextRequired(missing)
        }
        Err(EngineError::CommandReused { .. }) => Answered::CommandReused,
        Err(EngineError::Lease(_) | EngineError::Log(_) | EngineError::Stopping) => return None,
        Err(refused) => Answered::Refused(refused.to_string()),
    })
}

/// Leaves a command for the process that owns its session, and waits for the answer. If that
/// process goes away first, the session can be had here.
pub(crate) async fn send(engine: &Engine, posted: Posted) -> Result<Receipt, EngineError> {
    let inbox = engine.parts().store.inbox.clone();
    let mut rings = inbox.listen_inbox().await;
    inbox.post(&posted).await?;
    loop {
        if let Some(answer) = inbox.take_answer(&posted.id).await? {
            return received(answer, posted.id);
        }
        tokio::select! {
            biased;
            () = engine.draining().cancelled() => return Err(EngineError::Stopping),
            _ = rings.next() => continue,
            () = tokio::time::sleep(engine.parts().config.poll_every) => {}
        }
        let handle = engine.session(&posted.session);
        match handle.command_here(posted.command.clone(), Some(posted.id.clone())).await {
            Err(EngineError::Lease(LeaseError::Held { .. })) => {}
            done => {
                // The answer that nobody will give any more is cleared away.
                let _ = inbox.answer(&posted.id, &Answered::CommandReused).await;
                let _ = inbox.take_answer(&posted.id).await;
                return done;
            }
        }
    }
}

fn received(answer: Answered, id: CommandId) -> Result<Receipt, EngineError> {
    match answer {
        Answered::Done(receipt) => Ok(receipt),
        Answered::ContextRequired(missing) => Err(Reject::ContextRequired { missing }.into()),
        Answered::CommandReused => Err(EngineError::CommandReused { id }),
        Answered::Refused(what) => Err(Reject::Invalid { what }.into()),
    }
}
