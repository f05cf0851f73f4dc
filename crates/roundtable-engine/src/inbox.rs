//! Sessions that another process owns: commands go to it through the store, and those that others
//! left for sessions of this engine are drained here.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures_util::{StreamExt as _, stream};
use roundtable_core::Reject;
use roundtable_core::id::{CommandId, SessionId};
use roundtable_ports::{Answered, CommandKey, LeaseError, LogError, PostedCommand, Receipt};
use tokio::time::MissedTickBehavior;

use crate::engine::Engine;
use crate::error::EngineError;
use crate::task::digest_of;

/// Which command of which session.
type Key = (SessionId, CommandId);

/// How far a command is.
enum Progress {
    /// It is being carried out.
    Underway,
    /// It was answered while this list was the latest one. That list may still name it, and it is
    /// not carried out again for that: what was refused would be decided anew.
    Answered { list: u64 },
}

/// The commands that this engine has taken on, and how many lists were begun.
#[derive(Default)]
struct PendingCommands {
    progress: HashMap<Key, Progress>,
    lists: u64,
}

impl PendingCommands {
    /// Those of the latest list that nobody has taken on yet.
    fn take(&mut self, mut listed: Vec<PostedCommand>) -> Vec<PostedCommand> {
        let key = |posted: &PostedCommand| (posted.session.clone(), posted.id.clone());
        let (progress, latest) = (&mut self.progress, self.lists);
        progress.retain(|_, progress| match progress {
            Progress::Underway => true,
            Progress::Answered { list } => *list == latest,
        });
        listed.retain(|posted| !progress.contains_key(&key(posted)));
        progress.extend(listed.iter().map(|posted| (key(posted), Progress::Underway)));
        listed
    }

    fn end(&mut self, key: Key, answered: bool) {
        match answered {
            true => self.progress.insert(key, Progress::Answered { list: self.lists }),
            false => self.progress.remove(&key),
        };
    }
}

type Shared = Arc<Mutex<PendingCommands>>;

fn lock(taken: &Shared) -> MutexGuard<'_, PendingCommands> {
    taken.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Drains what other processes left for sessions of this engine, until it stops.
pub(crate) async fn drain(engine: Engine) {
    let inbox = engine.parts().store.inbox.clone();
    // A bell that hangs up rings no more; then looking now and then has to do.
    let mut rings = inbox.listen_inbox().await.chain(stream::pending());
    let taken = Shared::default();
    loop {
        lock(&taken).lists += 1;
        let listed = inbox.list_posted(&engine.parts().node).await.unwrap_or_default();
        let fresh = lock(&taken).take(listed);
        for posted in fresh {
            engine.effects().spawn(carry_out(engine.clone(), posted, taken.clone()));
        }
        tokio::select! {
            biased;
            () = engine.draining().cancelled() => return,
            _ = rings.next() => {}
            // In case a ring was lost.
            () = tokio::time::sleep(engine.parts().config.sweep_every) => {}
        }
    }
}

async fn carry_out(engine: Engine, posted: PostedCommand, taken: Shared) {
    let PostedCommand { id, session, command, digest } = posted;
    let key = CommandKey { id: id.clone(), digest };
    let done = engine.session(&session).command_here(command, Some(key)).await;
    // What could not be done here is left for whoever owns the session by then.
    let answered = match answer(done) {
        Some(answer) => engine.parts().store.inbox.answer(&session, &id, &answer).await.is_ok(),
        None => false,
    };
    lock(&taken).end((session, id), answered);
}

fn answer(done: Result<Receipt, EngineError>) -> Option<Answered> {
    Some(match done {
        Ok(receipt) => Answered::Done(receipt),
        Err(EngineError::Reject(reject)) => Answered::Rejected(reject),
        Err(EngineError::CommandReused { .. }) => Answered::CommandReused,
        // Whoever owns the session could not read it either.
        Err(refused @ EngineError::Log(LogError::Unstorable { .. })) => {
            Answered::Refused(refused.to_string())
        }
        Err(EngineError::Log(LogError::Damaged { seq, what, .. })) => {
            Answered::Damaged { seq, what }
        }
        Err(EngineError::MissingDependency { what }) => Answered::MissingDependency(what),
        Err(
            EngineError::Lease(_)
            | EngineError::Log(_)
            | EngineError::Crashed
            | EngineError::Stopping,
        ) => return None,
        Err(refused) => Answered::Refused(refused.to_string()),
    })
}

/// Leaves a command for the process that owns its session, and waits for the answer. If that
/// process goes away first, the session can be had here.
pub(crate) async fn send(engine: &Engine, posted: PostedCommand) -> Result<Receipt, EngineError> {
    let store = &engine.parts().store;
    // An answer that a process left behind may be older than what was done since.
    if let Some(done) = store.log.find_command(&posted.session, &posted.id).await? {
        let key = CommandKey { id: posted.id.clone(), digest: posted.digest.clone() };
        let same = done.digest == digest_of(&key, &posted.command);
        return if same {
            Ok(done.receipt)
        } else {
            Err(EngineError::CommandReused { id: posted.id })
        };
    }
    let key = CommandKey { id: posted.id.clone(), digest: posted.digest.clone() };
    let inbox = store.inbox.clone();
    let mut rings = inbox.listen_inbox().await.chain(stream::pending());
    leave(engine, &posted).await?;
    let mut look = tokio::time::interval(engine.parts().config.poll_every);
    look.set_missed_tick_behavior(MissedTickBehavior::Delay);
    look.reset();
    loop {
        if let Some(answer) = inbox.take_answer(&posted.session, &posted.id).await? {
            return received(answer, posted);
        }
        tokio::select! {
            biased;
            () = engine.draining().cancelled() => return Err(EngineError::Stopping),
            // First, or a bell that always rings would have it wait for a process that is gone.
            _ = look.tick() => {}
            _ = rings.next() => continue,
        }
        let handle = engine.session(&posted.session);
        match handle.command_here(posted.command.clone(), Some(key.clone())).await {
            // Another caller with the same command may have taken the answer; it is given again.
            Err(EngineError::Lease(LeaseError::Held { .. })) => leave(engine, &posted).await?,
            done => {
                withdraw(engine, &posted.session, &posted.id).await;
                return done;
            }
        }
    }
}

/// Takes a command back that has its answer: one that a process left behind before it was gone is
/// not carried out later, when its sender has been told that it is refused.
pub(crate) async fn withdraw(engine: &Engine, session: &SessionId, id: &CommandId) {
    let inbox = &engine.parts().store.inbox;
    let gone = Answered::CommandReused;
    let _ = inbox.answer(session, id, &gone).await;
    let _ = inbox.take_answer(session, id).await;
}

async fn leave(engine: &Engine, posted: &PostedCommand) -> Result<(), EngineError> {
    match engine.parts().store.inbox.post(posted).await {
        Err(LogError::Duplicate { id }) => Err(EngineError::CommandReused { id }),
        done => Ok(done?),
    }
}

fn received(answer: Answered, posted: PostedCommand) -> Result<Receipt, EngineError> {
    let PostedCommand { id, session, .. } = posted;
    match answer {
        Answered::Done(receipt) => Ok(receipt),
        Answered::Rejected(reject) => Err(reject.into()),
        Answered::MissingDependency(what) => Err(EngineError::MissingDependency { what }),
        Answered::Damaged { seq, what } => Err(LogError::Damaged { session, seq, what }.into()),
        Answered::ContextRequired(missing) => Err(Reject::ContextRequired { missing }.into()),
        Answered::CommandReused => Err(EngineError::CommandReused { id }),
        Answered::Refused(what) => Err(Reject::Invalid { what }.into()),
    }
}
